//! The page on the record, `docs/record.md`, beside the records of real runs, predictions and served storage: each key that
//! occurs is described there, and each key described there occurs.
//!
//! `crates/record/tests/schema.rs` holds the shape; here stands what the program really writes, names and files included.

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use support::{disk_folder, expect_code, names_in, root};

/// Writes in order, reads and writes at random with flushes, an open loop, and operations on a file set.
const MEASURED: &str = r#"
target = { path = "file", size = "4MiB" }

[[stage]]
name = "mixed"
measure = "1s"
[[stage.job]]
name = "both"
mix = { read = "50%", write = "50%" }
depth = 2
split_latency = true
sync = { fsync_every = 64 }

[[stage]]
name = "open"
measure = "1s"
[[stage.job]]
name = "on time"
arrival = { rate = "100/s" }

[[stage]]
name = "names"
[[stage.job]]
name = "format"
target = { tree = "set", depth = 1, width = 1, files = 4, sizes = "4KiB" }
file_work = "format"
"#;

/// Every kind of part: a cache of two tiers, a volume of several disks, one with credits, temporary disks with limits of
/// their own and without, an array, and what is over the network.
const DESIGN: &str = r#"
[[vm]]
name = "vm"
size = "Standard_D8ds_v4"
era = "2020"
[vm.host_cache]
memory = "1GiB"
memory_latency = "none"
[[vm.volume]]
name = "data"
mount = "/data"
disks = { type = "P10" }
caching = "read-write"
[[vm.volume]]
name = "striped"
mount = "/striped"
disks = { type = "P10", count = 2 }
caching = "none"
[[vm.temp]]
mount = "/temp"

[[vm]]
name = "credits"
size = "Standard_D8ds_v4"
[[vm.volume]]
name = "small"
mount = "/small"
disks = { type = "P4" }
caching = "none"

[[vm]]
name = "old"
size = "Standard_F1"
[[vm.temp]]
name = "scratch"
mount = "/scratch"

[[device]]
name = "array"
mount = "/array"
size = "1TiB"
type = "15k"
disks = 4
raid = "5"

[[nfs]]
name = "volume"
mount = "/volume"
level = "premium"
quota = "4TiB"
on = ["vm"]

[[smb]]
name = "share"
mount = "/share"
model = "hdd-payg"
size = "1TiB"
on = ["vm"]
"#;

/// Jobs on each of its parts.
const PREDICTED: &str = r#"
[[stage]]
name = "all"
measure = "1s"
[[stage.job]]
name = "data"
target = { path = "/data/file", size = "64MiB" }
mix = { read = "50%", write = "50%" }
depth = 8
[[stage.job]]
name = "striped"
target = { path = "/striped/file", size = "64MiB" }
depth = 8
[[stage.job]]
name = "small"
target = { path = "/small/file", size = "64MiB" }
[[stage.job]]
name = "temporary"
target = { path = "/temp/file", size = "64MiB" }
[[stage.job]]
name = "scratch"
target = { path = "/scratch/file", size = "64MiB" }
[[stage.job]]
name = "array"
target = { path = "/array/file", size = "64MiB" }
[[stage.job]]
name = "volume"
target = { path = "/volume/file", size = "64MiB" }
[[stage.job]]
name = "share"
target = { path = "/share/file", size = "64MiB" }
"#;

const SERVED: &str = "[[device]]\nname = 'ram'\nmount = '/ram'\nsize = '16MiB'\n";

fn page() -> String {
    let path = root().join("docs/record.md");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The records of all kinds, the first two stored in `home`.
fn records(home: &Path) -> Vec<Value> {
    let files = [
        ("measured.workload.toml", MEASURED),
        ("predicted.workload.toml", PREDICTED),
        ("all.design.toml", DESIGN),
        ("ram.design.toml", SERVED),
    ];
    for (name, text) in files {
        std::fs::write(home.join(name), text).expect("the folder takes files");
    }
    std::fs::create_dir(home.join("set")).expect("the folder takes folders");
    let commands = [
        "run --json --outside-calls measured.workload.toml",
        "predict --json --on all.design.toml predicted.workload.toml",
        "predict --json --no-record --on ram.design.toml --sweep depth=1,2,4 fio --name=swept --filename=/ram/file \
         --size=1m --ioengine=libaio --rw=randread",
        "run --json --no-record fio --name=checked --size=64k --rw=write --verify=crc32c --verify_state_save=0",
        "serve ram.design.toml --nbd unix:sockets --for 1s --max-error 1s --json --no-record --quiet",
    ];
    let printed: [Value; 5] = commands.map(|command| {
        let words: Vec<&str> = command.split_whitespace().collect();
        let (printed, _) = expect_code(home, &words, 0);
        serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{command}: {error}"))
    });
    let mut records = Vec::from(printed);
    let mut other = records[0].clone();
    other["environment"]["hostname"] = "another".into();
    for (name, record) in [("one.json", &records[0]), ("other.json", &other)] {
        std::fs::write(home.join(name), record.to_string()).expect("the folder takes files");
    }
    let words = [
        "merge",
        "a=one.json",
        "b=other.json",
        "--json",
        "-o",
        "all.json",
    ];
    let (merged, _) = expect_code(home, &words, 0);
    records.push(serde_json::from_str(&merged).expect("a record"));
    records
}

/// Objects whose keys are names of the run.
const NAMED: [&str; 3] = ["storage", "bound_by", "meta"];
/// What the object is called here whose keys are machines.
const MACHINES: &str = "machines by name";
/// Documents that other pages describe.
const FOREIGN: [&str; 2] = ["workload", "design"];

/// Every key below `value`, and every name in the objects of [`NAMED`], which is `called` itself.
fn walk(called: &str, value: &Value, keys: &mut BTreeSet<String>, names: &mut BTreeSet<String>) {
    match value {
        Value::Array(elements) => {
            for element in elements {
                walk(called, element, keys, names);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                if NAMED.contains(&called) {
                    names.insert(key.clone());
                } else if called != MACHINES {
                    keys.insert(key.clone());
                }
                if !FOREIGN.contains(&key.as_str()) {
                    let called = match (called, key.as_str()) {
                        ("environment", "hosts") => MACHINES,
                        // What has a name of the run is no further object of names.
                        (of_names, _) if NAMED.contains(&of_names) => "",
                        (_, key) => key,
                    };
                    walk(called, field, keys, names);
                }
            }
        }
        _ => {}
    }
}

/// What stands between backticks.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The first cell of each row of the tables between two headings.
fn first_cells<'p>(page: &'p str, from: &str, to: &str) -> Vec<&'p str> {
    let (_, rest) = page.split_once(from).expect("the page has that heading");
    let (part, _) = rest.split_once(to).expect("the page has that heading");
    let rows = part.lines().filter(|line| line.starts_with("| `"));
    rows.filter_map(|row| row.split('|').nth(1)).collect()
}

#[test]
fn the_page_tells_of_what_is_written_and_of_nothing_else() {
    let home = disk_folder();
    let page = page();
    let (mut keys, mut names) = (BTreeSet::new(), BTreeSet::new());
    for record in records(home.path()) {
        walk("", &record, &mut keys, &mut names);
    }
    let told: BTreeSet<&str> = spans(&page).collect();
    let untold: Vec<_> = keys
        .iter()
        .filter(|key| !told.contains(key.as_str()))
        .collect();
    assert!(untold.is_empty(), "the page does not tell of {untold:?}");

    let mut described = first_cells(&page, "## The document", "### A part of the storage");
    described.extend(first_cells(&page, "| `kind` | `vm`", "\nA point covers"));
    described.extend(first_cells(
        &page,
        "\nA point covers",
        "limit that I/Os waited",
    ));
    let described: BTreeSet<&str> = described.into_iter().flat_map(spans).collect();
    let never: Vec<_> = described
        .iter()
        .filter(|key| !keys.contains(**key))
        .collect();
    assert!(
        never.is_empty(),
        "no record has {never:?}, of which the page tells"
    );
    assert!(described.len() > 60, "{described:?}");
    parts_have_the_names_told(&page, &names);
    the_files_are_those_told(&page, home.path());
}

/// Each name of a part stands on the page in its general form, and each such form has a part.
fn parts_have_the_names_told(page: &str, names: &BTreeSet<String>) {
    let forms = first_cells(
        page,
        "### A part of the storage",
        "Figures that do not apply",
    );
    let forms: BTreeSet<&str> = forms.into_iter().flat_map(spans).collect();
    let own = [
        ("vm", "VM"),
        ("credits", "VM"),
        ("old", "VM"),
        ("data", "VOLUME"),
        ("striped", "VOLUME"),
        ("small", "VOLUME"),
        ("scratch", "VOLUME"),
        ("temp", "VOLUME"),
        ("volume", "VOLUME"),
        ("array", "DEVICE"),
        ("share", "SHARE"),
    ];
    let general = |name: &str| -> Option<String> {
        let mut steps = name.split('/');
        let of = |step: &str| own.iter().find(|(own, _)| *own == step);
        let mut general = vec![of(steps.next()?)?.1];
        general.extend(steps.map(|step| match of(step) {
            Some((_, form)) => form,
            None if step.starts_with("disk") => "diskN",
            None if step.starts_with("channel") => "channelN",
            None => step,
        }));
        Some(general.join("/"))
    };
    let found: BTreeSet<String> = names.iter().filter_map(|name| general(name)).collect();
    let untold: Vec<_> = found
        .iter()
        .filter(|form| !forms.contains(form.as_str()))
        .collect();
    assert!(untold.is_empty(), "the page does not tell of {untold:?}");
    let never: Vec<_> = forms
        .iter()
        .filter(|form| !found.contains(**form))
        .collect();
    assert!(never.is_empty(), "no storage has {never:?}: {names:?}");
}

/// Folders of the two stored runs hold the files of the page's table.
fn the_files_are_those_told(page: &str, home: &Path) {
    let told = first_cells(page, "## Run folder", "## The document");
    let mut told: Vec<&str> = told.into_iter().flat_map(spans).collect();
    told.sort_unstable();
    let runs = home.join("data/fathom/runs");
    let mut held = BTreeSet::new();
    for run in names_in(&runs) {
        held.extend(names_in(&runs.join(run)));
    }
    assert_eq!(held.into_iter().collect::<Vec<_>>(), told);
}
