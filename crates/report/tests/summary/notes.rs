//! Notes, and which stages and repeats they are of.

use fathom_report::{Summary, Width, html_page, summary};

use crate::records::noted;

#[test]
fn a_note_says_which_repeats_and_stages_it_is_of() {
    #[track_caller]
    fn check(planned: &[(&str, u64)], stages: &[(&str, &[&str])], expected: &[&str]) {
        let record = noted(planned, stages);
        let text = summary(&record, Summary::Short, Width::PLAIN);
        let notes = text
            .lines()
            .filter_map(|line| line.strip_prefix("note     "));
        assert_eq!(notes.collect::<Vec<_>>(), expected);
        let page = html_page(&record, None);
        for note in expected {
            assert!(page.contains(note), "`{note}` is not in\n{page}");
        }
    }
    let once: [(&str, u64); 2] = [("mix", 1), ("log", 1)];
    check(&once, &[("mix", &["slow"]), ("log", &["slow"])], &["slow"]);
    check(&once, &[("mix", &[]), ("log", &["slow"])], &["log: slow"]);
    let named = "job `log` is slow";
    check(&once, &[("mix", &[]), ("log", &[named])], &[named]);
    let three = [("mix", 3)];
    check(
        &three,
        &[("mix", &["a"]), ("mix #2", &["a", "b"]), ("mix #3", &["a"])],
        &["a", "repeat 2 of 3: b"],
    );
    check(
        &three,
        &[("mix", &["a"]), ("mix #2", &[]), ("mix #3", &["a"])],
        &["repeats 1 and 3 of 3: a"],
    );
    let both = [("mix", 2), ("log", 1)];
    check(
        &both,
        &[("mix", &[]), ("mix #2", &["a"]), ("log", &["a"])],
        &["mix (repeat 2 of 2) and log: a"],
    );
    check(
        &both,
        &[("mix", &["a"]), ("mix #2", &["a"]), ("log", &[])],
        &["mix: a"],
    );
    let steal = ["14 % were stolen", "24.5 % were stolen", "9 % were stolen"];
    let [a, b, c] = [&steal[..1], &steal[1..2], &steal[2..]];
    check(
        &three,
        &[("mix", a), ("mix #2", b), ("mix #3", c)],
        &["9 to 24.5 % were stolen"],
    );
    check(
        &three,
        &[("mix", a), ("mix #2", b), ("mix #3", &[])],
        &["repeats 1 and 2 of 3: 14 to 24.5 % were stolen"],
    );
    let two = ["5 % of 6 % were stolen", "5 % of 7 % were stolen"];
    check(
        &once,
        &[("mix", &two[..1]), ("log", &two[1..])],
        &["mix: 5 % of 6 % were stolen", "log: 5 % of 7 % were stolen"],
    );
    let four = [("a", 1), ("b", 1), ("c", 1), ("d", 1)];
    let told: [&str; 1] = ["slow"];
    check(
        &four,
        &[("a", &told), ("b", &[]), ("c", &told), ("d", &told)],
        &["3 of 4 stages: slow"],
    );
}
