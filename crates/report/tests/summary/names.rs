//! Names of any kind, which keep the table and steer nothing.

use fathom_record::RunKind;
use fathom_report::{Summary, Width, columns_of, summary};

use crate::records::{direction, fits, job, record, stage};

#[test]
fn names_begin_no_lines_and_steer_no_terminal() {
    let name = "a\nverdict  TRUSTWORTHY\u{1b}[2J";
    let writes = direction(500.0, 0.37, &[]);
    let stages = [name, "b"].map(|stage_name| {
        let mut stage = stage(stage_name, vec![job(name, &writes, Some(900.0))], &writes);
        stage.notes.push(name.to_owned());
        stage
    });
    let mut record = record(RunKind::Run, stages.into(), vec![]);
    record.title = name.to_owned();
    for how_much in [Summary::Short, Summary::Full] {
        let text = summary(&record, how_much, Width::PLAIN);
        let steering = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(steering), "{text:?}");
        let verdicts = text.lines().filter(|line| line.starts_with("verdict"));
        assert_eq!(verdicts.count(), 1, "{text}");
    }
}

/// Columns that are wider than their figures give way to a name that is longer than what stands beside them.
#[test]
fn names_have_the_room_that_figures_leave() {
    let writes = direction(500.0, 0.37, &[]);
    let shown = |name: &str| {
        let stages = vec![stage("s", vec![job(name, &writes, None)], &writes)];
        fits(&record(RunKind::Run, stages, vec![]), Summary::Short, 80)
    };
    for name in ["keeper fallocate-keep", "keeper fallocate-keep-size-of-f"] {
        let text = shown(name);
        assert!(text.contains(&format!("\n{name} write ")), "{text}");
    }
    let text = shown("keeper fallocate-keep-size-of-all-files");
    assert!(
        text.contains("\nkeeper fallocate-k…of-all-files write "),
        "{text}"
    );
}

/// Letters of East Asia take two columns, and marks above others none.
#[test]
fn figures_stand_below_each_other_whatever_letters_names_have() {
    let writes = direction(85_000.0, 0.37, &[]);
    for names in [["データベース", "ab"], ["e\u{301}e\u{301}", "log"]] {
        let stages = names.map(|name| stage(name, vec![job(name, &writes, None)], &writes));
        let record = record(RunKind::Run, stages.into(), vec![]);
        let text = summary(&record, Summary::Short, Width::PLAIN);
        let ends = text.lines().filter_map(|line| {
            let end = line.find("85,000").or(line.find("  IOPS"))?;
            Some(columns_of(&line[..end + 6]))
        });
        let ends: Vec<usize> = ends.collect();
        assert!(ends.len() == 3, "{text}");
        assert!(ends.iter().all(|end| *end == ends[0]), "{text}");
    }
}

#[test]
fn names_of_any_length_and_kind_keep_the_table() {
    let writes = direction(85_000.0, 0.37, &[]);
    let name = "a\u{7}_rather_long_job_name_for_a_stage_of_this_workload";
    let one = stage(name, vec![job(name, &writes, None)], &writes);
    let text = summary(
        &record(RunKind::Run, vec![one], vec![]),
        Summary::Short,
        Width::PLAIN,
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(text.contains('…') && !text.contains('\u{7}'), "{text}");
}

/// What stands before a line says whose it is: of a stage with the name of its first job that is all of them.
#[test]
fn lines_begin_with_the_words_of_their_stage() {
    let writes = direction(1000.0, 1.0, &[]);
    let jobs = |names: &[&str]| names.iter().map(|name| job(name, &writes, None)).collect();
    let stages = vec![
        stage("r", jobs(&["r", "w"]), &writes),
        stage("c", jobs(&["c", "c"]), &writes),
        stage("x", jobs(&["x"]), &writes),
        stage("mix", jobs(&["y"]), &writes),
    ];
    let record = record(RunKind::Run, stages, vec![]);
    let text = summary(&record, Summary::Short, Width::PLAIN);
    for line in [
        "r and w: 2 jobs write ",
        "c ×2 write ",
        "x write ",
        "mix: y write ",
    ] {
        let begins = |one: &str| one.starts_with(line);
        assert!(
            text.lines().any(begins),
            "`{line}` begins no line of\n{text}"
        );
    }
}

#[test]
fn a_stage_with_the_name_of_its_first_job_is_told_by_all() {
    let writes = direction(1000.0, 1.0, &[]);
    let jobs = || ["a", "b", "c"].map(|name| job(name, &writes, None)).into();
    for (name, expected) in [("a", "\na … c (30 s)\n"), ("mix", "\nmix (30 s)\n")] {
        let record = record(RunKind::Run, vec![stage(name, jobs(), &writes)], vec![]);
        let text = summary(&record, Summary::Full, Width::PLAIN);
        assert!(text.contains(expected), "{expected}{text}");
    }
}
