//! Inputs that are large, damaged, or any text at all.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

/// A mebibyte of each: what repeats most, and what multiplies.
#[test]
fn large_inputs_are_answered() {
    let repeated = |piece: &str| piece.repeat((1 << 20) / piece.len());
    let mut texts = vec![
        repeated("'"),
        repeated("'\n"),
        repeated("a\n"),
        repeated("\n"),
        format!(
            "Version 1.1.0\n'ACCESS SPECIFICATIONS\n{}",
            repeated("'Access specification name,\n\ta,NONE\n'size\n\t512,1,1,1,1,1,1,1\n")
        ),
        format!(
            "Version 1.1.0\n'ACCESS SPECIFICATIONS\n'Access specification name,\n\ta,NONE\n{}",
            repeated("\t512,1,1,1,1,1,1,1\n")
        ),
        format!(
            "{SPECS}'MANAGER LIST\n'Manager ID\n\t1,a\n{}",
            repeated(
                "'Worker\n\tw\n'Target assignments\n'Target\n\tC:\n'Assigned access specs\n\tmail\n'End worker\n"
            )
        ),
        format!(
            "Version 1.1.0\n{SETUP}{SPECS}'MANAGER LIST\n'Manager ID\n\t1,a\n'Worker\n\tw\n'Target assignments\n'Target\n\tC:\n'End target assignments\n'Assigned access specs\n{}",
            repeated("\tnail\n")
        ),
        format!(
            "Version 1.1.0\n{SETUP}{SPECS}'MANAGER LIST\n'Manager ID\n\t1,a\n'Worker\n\tw\n'Target assignments\n'Target\n\tC:\n'End target assignments\n'Assigned access specs\n{}",
            repeated("\tmail\n")
        ),
        whole()
            .replace("2 8 2 EXPONENTIAL", "1 1048576 1 LINEAR")
            .replace("\tNORMAL", "\t7"),
    ];
    let mut many = "Version 1.1.0\n'ACCESS SPECIFICATIONS\n".to_owned();
    for number in 0..9_000 {
        let _ = write!(
            many,
            "'Access specification name,\n\t{number},ALL\n'\n512,100,1,1,1,1,512,0\n"
        );
    }
    many.push_str("'MANAGER LIST\n'Manager ID\n\t1,a\n");
    for number in 0..8_000 {
        let _ = write!(
            many,
            "'Worker\n\t{number}\n'Target assignments\n'Target\n\tC:\n'End worker\n"
        );
    }
    texts.push(many);
    for text in texts {
        if let Err(complaints) = read_text("large.icf", &text, 2) {
            assert!(complaints.0.len() <= 101 && complaints.to_string().len() < 200_000);
        }
    }
}

proptest! {
    #[test]
    fn damaged_files_are_answered(at in 0usize..3000, cut in 0usize..80, with in "[ -~\n\t]{0,20}") {
        let mut text = whole();
        let at = at.min(text.len());
        let end = (at + cut).min(text.len());
        text.replace_range(at..end, &with);
        match read_text("damaged.icf", &text, 2) {
            Ok(input) => prop_assert_eq!(input.tests.len(), input.workload.stages.len()),
            Err(complaints) => prop_assert!(complaints.has_errors()),
        }
    }

    #[test]
    fn any_text_and_line_are_answered(text in any::<String>(), words in prop::collection::vec("[-/a-z= 0-9]{0,9}", 0..5)) {
        let machine = Machine1(text.clone());
        let _ = read(&words, &machine, 1);
        let _ = (read_text("x", &text, 1), looks_like_icf(&text));
    }
}
