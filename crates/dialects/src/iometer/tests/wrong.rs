//! What is wrong in a file, and where that is told.

use super::*;

/// Text that replaces another in the whole file, what is told, and where.
const WRONG: &[(&str, &str, &str, usize)] = &[
    (
        "\t0          1          30",
        "\t0 1",
        "the number of seconds is missing",
        7,
    ),
    (
        "\t0          1          30",
        "\t0 x 30",
        "`x` is no number of minutes",
        7,
    ),
    (
        "\t0          1          30",
        "\t0 0 0",
        "the run time is 0",
        7,
    ),
    ("\t5\n", "\t-5\n", "`-5` is no ramp-up time", 9),
    ("\tALL\n", "\tSOME\n", "`SOME` is no level of results", 15),
    (
        "\t2 8 2 EXPONENTIAL",
        "\t2 8 0 EXPONENTIAL",
        "`0` is no step of a cycle",
        24,
    ),
    (
        "\t2 8 2 EXPONENTIAL",
        "\t2 8 2 UP",
        "`UP` is no kind of steps",
        24,
    ),
    ("\tNORMAL\n", "\tCYCLE\n", "`CYCLE` is no test type", 26),
    ("\tNORMAL\n", "\t9\n", "`9` is no test type", 26),
    (
        "\t4096,60,",
        "\t4096,50,",
        "the shares of `mail` add up to 90 %, not 100 %",
        34,
    ),
    (
        "\t4096,60,80",
        "\t4096,60,180",
        "`180` is no share of reads",
        36,
    ),
    (
        "\t4096,60,80,100,0,1,0,0",
        "\t4096,60,80,100,0,1,0",
        "the size of a reply in bytes is missing",
        36,
    ),
    (
        "\t4096,60,",
        "\t4000,60,",
        "4000 bytes are no whole number of sectors",
        36,
    ),
    (
        "\t32768,40,10,0,5,8,4096,",
        "\t32768,40,10,0,5,8,4097,",
        "4097 bytes are no whole number of sectors",
        37,
    ),
    (
        "\tmail,NONE",
        "\tmail,MAYBE",
        "`MAYBE` is no default assignment",
        34,
    ),
    (
        "\tmail\n",
        "\tmial\n",
        "there is no access specification `mial`",
        59,
    ),
    (
        "\t16,DISABLED",
        "\t0,DISABLED",
        "`0` is no number of outstanding I/Os",
        54,
    ),
    (
        "\t2097152,2048,2\n",
        "\t2097152,2048,3\n",
        "`3` is no data pattern",
        56,
    ),
    ("\t1,BOX", "\tBOX", "a manager's line is its number", 45),
    (
        "'Worker type\n\tDISK\n'Default",
        "'Worker type\n\tTAPE\n'Default",
        "`TAPE` is no type of worker",
        51,
    ),
    (
        "'Target type\n\tDISK",
        "'Target type\n\tNETWORK,TCP",
        "networks are not measured here",
        66,
    ),
];

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (old, new, message, line) in WRONG {
        assert!(whole().contains(old), "{old}");
        let text = whole().replacen(old, new, 1);
        let Err(complaints) = read_text("test.icf", &text, 3) else {
            panic!("{new} is taken")
        };
        assert!(complaints.has_errors());
        let found = complaints
            .0
            .iter()
            .find(|found| found.message.contains(message));
        let found = found.unwrap_or_else(|| panic!("no `{message}` in\n{complaints}"));
        let at = found.location.as_ref().map_or(0, |place| place.line);
        assert_eq!(at, *line, "{complaints}");
        assert!(found.hint.is_some(), "{complaints}");
    }
}

#[test]
fn every_number_of_a_line_is_judged() {
    let text = whole().replace(
        "\t32768,40,10,0,5,8,4096,512",
        "\t32700,40,10,0,5,8,4097,77",
    );
    let complaints = read_text("test.icf", &text, 3).unwrap_err();
    let place = |found: &Diagnostic| {
        let place = found.location.as_ref()?;
        Some((place.line, place.span.start + 1))
    };
    let places: Vec<_> = complaints.0.iter().filter_map(place).collect();
    assert_eq!(places, [(37, 2), (37, 20), (37, 25)], "{complaints}");
}

#[test]
fn a_cycle_without_a_step_is_not_taken_for_idleness() {
    let cycle = |kind: &str| {
        let text = whole().replace("\t2 8 2 EXPONENTIAL", "\t9 8 2 EXPONENTIAL");
        read_text("test.icf", &text.replace("\tNORMAL\n", kind), 3)
    };
    for kind in ["\tCYCLE_OUTSTANDING_IOS\n", "\t7\n"] {
        let complaints = cycle(kind).unwrap_err();
        let message = "the cycle of queue depths has no step: it starts at 9, above its end, 8";
        assert_eq!(complaints.0[0].message, message);
        let line = complaints.0[0].location.as_ref().map(|place| place.line);
        assert_eq!(line, Some(24));
    }
    // What is not gone through is not judged.
    assert!(cycle("\tNORMAL\n").is_ok());
}

#[test]
fn all_complaints_come_at_once() {
    let text = whole()
        .replace("\t5\n", "\tfive\n")
        .replace("4096,60", "4096,61")
        .replace("\t16,", "\tmany,");
    let complaints = read_text("test.icf", &text, 3).unwrap_err();
    assert_eq!(complaints.0.len(), 3, "{complaints}");
    let shown = complaints.to_string();
    assert!(shown.contains("--> test.icf:9:2"), "{shown}");
}

#[test]
fn a_burst_of_no_io_is_told() {
    let line = "\t4096,60,80,100,0,1,0,0";
    let text = whole().replace(line, "\t4096,60,80,100,0,0,0,0");
    let input = read_text("test.icf", &text, 3).unwrap();
    let told = input
        .warnings
        .0
        .iter()
        .find(|told| told.message.contains("burst"));
    let told = told.unwrap_or_else(|| panic!("{}", input.warnings));
    assert_eq!(told.message, "a burst of 0 I/Os is taken as one of 1");
    assert_eq!(told.location.as_ref().map(|place| place.line), Some(36));
    assert!(told.hint.is_some(), "{told}");
}

#[test]
fn a_line_that_is_too_long_is_told_alone() {
    let text = format!("{}{}\n", whole(), "x".repeat(600));
    let complaints = read_text("test.icf", &text, 3).unwrap_err();
    assert_eq!(complaints.0.len(), 1, "{complaints}");
    assert!(
        complaints.0[0].message.contains("over 512 bytes"),
        "{complaints}"
    );
}

#[test]
fn targets_are_known_by_their_lines() {
    let input = read_text("test.icf", &whole(), 3).unwrap();
    let subject = |value: &str| Subject {
        owner: String::new(),
        value: value.to_owned(),
    };
    let line = |value: &str| input.place_of(&subject(value)).map(|place| place.line);
    for job in input.workload.stages.iter().flat_map(|stage| &stage.jobs) {
        let path = job.targets[0].place.path();
        assert!(line(path).is_some_and(|line| line > 60), "{path}");
    }
    assert_eq!(line("/elsewhere"), None);
    // A file that is named where a folder might have been.
    let named = whole().replace("\t/mnt/data\n", "\t/srv/one.dat\n");
    let input = read_text("test.icf", &named, 3).unwrap();
    assert!(input.place_of(&subject("/srv/one.dat")).is_some());
}
