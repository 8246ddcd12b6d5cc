//! The page on the native file, `docs/workload.md`: its examples are read, and it names every key that is.
//!
//! What the reader knows is asked of itself: told of a key that is none, it lists those it knows.

use fathom_diagnostics::Diagnostics;
use fathom_workload::native;

const PAGE: &str = include_str!("../../../docs/workload.md");
/// No key, and like none.
const NO_KEY: &str = "qqqqqqqqqqqqqqqqqqqq = 1";

/// The page's examples, each from after its fence.
fn examples() -> impl Iterator<Item = &'static str> {
    PAGE.split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
}

#[test]
fn examples_are_read() {
    for example in examples() {
        let (workload, warnings) = native::read(example, "example.workload.toml")
            .unwrap_or_else(|errors| panic!("{errors}\n{example}"));
        assert!(warnings.0.is_empty(), "{warnings}\n{example}");
        let written = native::write(&workload);
        let (again, _) = native::read(&written, "again").unwrap();
        assert_eq!(again, workload, "{example}");
    }
    assert_eq!(examples().count(), 5);
}

/// The keys that a table knows, given a file in which `NO_KEY` stands in it.
#[track_caller]
fn known(file: &str) -> Vec<String> {
    let errors: Diagnostics = native::read(file, "f").expect_err("a key that is none is an error");
    let hints = errors.0.iter().filter_map(|found| found.hint.as_deref());
    let mut lists = hints.filter_map(|hint| hint.strip_prefix("known are "));
    let list = lists.next().unwrap_or_else(|| panic!("{errors}\n{file}"));
    list.split(", ").map(str::to_owned).collect()
}

/// Each key stands in the page between backticks, or within them.
#[track_caller]
fn check(file: &str) {
    let spans: Vec<&str> = PAGE.split('`').skip(1).step_by(2).collect();
    let is_word_in = |span: &str, key: &str| {
        span.split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .any(|word| word == key)
    };
    let missing: Vec<String> = known(file)
        .into_iter()
        .filter(|key| !spans.iter().any(|span| is_word_in(span, key)))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/workload.md does not name {missing:?}, keys of a table in {file}"
    );
}

#[test]
fn every_key_is_named() {
    let job = |keys: &str| format!("[[stage]]\n[[stage.job]]\n{keys}");
    check(NO_KEY);
    check(&format!("[[stage]]\n{NO_KEY}"));
    check(&job(NO_KEY));
    check(&format!("target = {{ {NO_KEY} }}"));
    check(&format!("target = {{ tree = '/t', {NO_KEY} }}"));
    for table in [
        "group",
        "access",
        "block",
        "arrival",
        "sync",
        "measure",
        "on_error",
        "batches",
        "calls",
        "process",
        "priorities",
        "files",
        "rates",
        "rate_steps",
        "rates_min",
        "think",
        "flow",
        "latency_target",
        "steady",
        "placement",
        "filling",
        "verify",
        "trace",
        "log",
        "file_work",
        "processor_work",
        "mix",
    ] {
        check(&job(&format!("{table} = {{ {NO_KEY} }}")));
    }
    check(&job(&format!(
        "rate_steps = {{ steps = [{{ {NO_KEY} }}] }}"
    )));
    check(&job(&format!("lines = [{{ {NO_KEY} }}]")));
    check(&job(&format!("files = {{ sync_range = {{ {NO_KEY} }} }}")));
    check(&job(&format!("placement = {{ zones = {{ {NO_KEY} }} }}")));
    check(&job(&format!("filling = {{ dedupe = {{ {NO_KEY} }} }}")));
    check(&job(&format!("verify = {{ trims = {{ {NO_KEY} }} }}")));
    check(&job(&format!("process = {{ memory = {{ {NO_KEY} }} }}")));
    check(&format!("[[stage]]\nrate_from = {{ {NO_KEY} }}"));
}

/// What a file set and its work have by themselves is what the page says.
#[test]
fn defaults_of_file_sets_are_those_told() {
    let file = "target = { tree = '/t', sizes = '4KiB' }\n[[stage]]\nmeasure = '1s'\n[[stage.job]]\nfile_work = 'read'";
    let (workload, _) = native::read(file, "f").unwrap_or_else(|errors| panic!("{errors}"));
    let written = native::write(&workload);
    let told = [
        "| `depth`, `width`, `files` | as above | 1, 1, 10 |",
        "with `file_work` `\"sync\"`, which",
    ];
    for words in told {
        assert!(PAGE.contains(words), "the page does not say: {words}");
    }
    for words in ["depth = 1, width = 1, files = 10", "backend = \"sync\""] {
        assert!(written.contains(words), "{words}: {written}");
    }
}
