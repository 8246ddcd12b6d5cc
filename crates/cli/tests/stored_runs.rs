//! What is kept of the runs before, and how stored runs are shown.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use support::{expect_code, fathom, names_in};

const NULL_JOB: [&str; 4] = ["fio", "--name=n", "--ioengine=null", "--size=4m"];

/// The folder of the newest run in `home`.
fn newest(home: &Path) -> PathBuf {
    let store = home.join("data/fathom/runs");
    store.join(names_in(&store).last().unwrap())
}

/// A short run in `home` that keeps as many runs as `keep` says: exit code, stdout and stderr.
fn run_keeping(home: &Path, keep: (&str, &str)) -> (Option<i32>, String, String) {
    let mut command = fathom(home);
    command.args(["run", "-q"]).args(NULL_JOB);
    let output = command.env(keep.0, keep.1).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn a_run_under_way_is_kept_and_what_goes_is_told() {
    let folder = support::disk_folder();
    let home = folder.path();
    let one = ("FATHOM_RUNS_KEEP", "1");
    let job = ["run", "fio", "--name=n", "--ioengine=null", "--size=1g"];
    let long = ["--rate_iops=2000", "--time_based", "--runtime=120"];
    let mut command = fathom(home);
    command.args(job).args(long).stdout(Stdio::null());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.is_ok_and(|line| line.contains("measure 00:01"))));
    let long_run = newest(home);
    let (runs, _) = expect_code(home, &["runs"], 0);
    assert!(runs.contains("under way"), "{runs}");

    let (code, _, stderr) = run_keeping(home, one);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let (code, stdout, stderr) = run_keeping(home, one);
    assert_eq!(code, Some(0), "{stderr}");
    let told = stderr.lines().filter(|line| line.contains("removed"));
    assert_eq!(told.count(), 1, "{stderr}");
    assert!(!stdout.contains("removed"), "{stdout}");
    assert!(long_run.join("events.jsonl").exists());

    // A writer that was killed holds nothing.
    child.kill().unwrap();
    child.wait().unwrap();
    let (runs, _) = expect_code(home, &["runs"], 0);
    assert!(runs.contains("cut short"), "{runs}");
    let (code, _, stderr) = run_keeping(home, one);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(!long_run.exists());
    assert_eq!(names_in(&home.join("data/fathom/runs")).len(), 1);
}

#[test]
fn a_limit_that_is_none_is_told_before_anything_runs() {
    let folder = support::disk_folder();
    for setting in [
        ("FATHOM_RUNS_KEEP", "many"),
        ("FATHOM_RUNS_KEEP", "0"),
        ("FATHOM_RUNS_SIZE", "-2GiB"),
    ] {
        let (code, stdout, stderr) = run_keeping(folder.path(), setting);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
        assert!(stderr.contains(setting.0), "{stderr}");
        assert!(stderr.contains("hint:"), "{stderr}");
    }
    assert!(names_in(folder.path()).is_empty());
    let (code, _, stderr) = run_keeping(folder.path(), ("FATHOM_RUNS_SIZE", "all"));
    assert_eq!(code, Some(0), "{stderr}");
}

#[test]
fn a_torn_record_is_shown_from_its_events() {
    let folder = support::disk_folder();
    let home = folder.path();
    run_keeping(home, ("FATHOM_RUNS_KEEP", "9"));
    let (whole, _) = expect_code(home, &["report", "last"], 0);
    let path = newest(home).join("record.json");
    let record = std::fs::read(&path).unwrap();
    std::fs::write(&path, &record[..record.len() / 2]).unwrap();
    let (runs, _) = expect_code(home, &["runs"], 0);
    assert!(
        runs.contains("unreadable") && !runs.contains("cut short"),
        "{runs}"
    );
    let (torn, _) = expect_code(home, &["report", "last"], 0);
    assert!(torn.contains("`record.json` cannot be read"), "{torn}");
    assert!(torn.contains("NOT CHECKED"), "{torn}");
    let line = |text: &str| text.lines().nth(2).unwrap().to_owned();
    assert_eq!(line(&torn), line(&whole));
    std::fs::write(newest(home).join("events.jsonl"), "").unwrap();
    let by_path = newest(home).display().to_string();
    expect_code(home, &["report", &by_path], 3);
}

#[test]
fn names_steer_no_terminal() {
    let folder = support::disk_folder();
    let home = folder.path();
    let name = "a\u{1b}[2J\nb.fio";
    std::fs::write(home.join(name), "[n]\nioengine=null\nsize=4m\n").unwrap();
    let steering = |text: &str| text.contains(|c: char| c.is_control() && c != '\n');
    let (stdout, stderr) = expect_code(home, &["run", name], 0);
    assert!(
        !steering(&stdout) && !steering(&stderr),
        "{stdout:?}{stderr:?}"
    );
    let (runs, _) = expect_code(home, &["runs"], 0);
    assert_eq!(runs.lines().count(), 2, "{runs:?}");
    assert!(!steering(&runs), "{runs:?}");
    let (_, stderr) = expect_code(home, &["report", "no\u{1b}[2J"], 3);
    assert!(!steering(&stderr), "{stderr:?}");
    std::fs::write(home.join(name), "[n\u{1b}[2J]\nnonsense=\u{9b}1\n").unwrap();
    let (_, stderr) = expect_code(home, &["run", name], 3);
    assert!(!steering(&stderr), "{stderr:?}");
    let counter = |what: &str| format!(r#""\\M\PhysicalDisk(0 {}[2JC:)\{what}""#, '\u{1b}');
    let (reads, writes) = (counter("Disk Reads/sec"), counter("Disk Writes/sec"));
    let row = |second| format!("\"01/01/2026 00:00:0{second}.000\",\"10\",\"10\"\n");
    let rows = [0, 1, 2].map(row).concat();
    let log = format!("\"(PDH-CSV 4.0) (UTC)(0)\",{reads},{writes}\n{rows}");
    std::fs::write(home.join("log.csv"), log).unwrap();
    let (page, stderr) = expect_code(home, &["observe", "--from", "log.csv"], 0);
    assert!(page.contains("[2JC:"), "{page}");
    assert!(!steering(&page) && !steering(&stderr), "{page:?}{stderr:?}");
}

#[test]
fn stages_called_like_repeats_are_not_added_up() {
    let folder = support::disk_folder();
    let home = folder.path();
    let stage = |name: &str, rate: u32| {
        format!(
            "[[stage]]\nname = \"{name}\"\nmeasure = \"1s\"\n[[stage.job]]\nname = \"n\"\n\
             target = {{ path = \"file\", size = \"1MiB\" }}\nblock = \"4KiB\"\nbackend = \"null\"\n\
             arrival = {{ rate = \"{rate}/s\" }}\n"
        )
    };
    let text = stage("x #1", 500) + &stage("x #2", 2_000);
    std::fs::write(home.join("x.workload.toml"), text).unwrap();
    let (stdout, _) = expect_code(home, &["run", "-q", "x.workload.toml"], 0);
    assert!(
        stdout.contains("x #1: n") && stdout.contains("x #2: n"),
        "{stdout}"
    );
    assert!(!stdout.contains('±'), "{stdout}");
}

#[test]
fn a_server_tells_what_goes_when_it_goes() {
    let folder = support::disk_folder();
    let home = folder.path();
    let one = ("FATHOM_RUNS_KEEP", "1");
    let (code, _, stderr) = run_keeping(home, one);
    assert_eq!(code, Some(0), "{stderr}");
    let design = "[[device]]\nname = 'd'\nmount = '/d'\nsize = '1GiB'\n";
    std::fs::write(home.join("d.design.toml"), design).unwrap();
    let mut command = fathom(home);
    command.args(["serve", "d.design.toml", "-q", "--nbd", "unix:s"]);
    command.env(one.0, one.1).stdout(Stdio::null());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    // While it serves: it is ended afterwards.
    let first = lines.next().unwrap().unwrap();
    assert!(
        first.contains("the oldest stored run was removed"),
        "{first}"
    );
    support::system("kill", &["-INT", &child.id().to_string()]);
    assert!(child.wait().unwrap().success());
    assert_eq!(lines.count(), 0);
}

#[test]
fn runs_are_named_from_the_last_and_by_their_folder() {
    let folder = support::disk_folder();
    let home = folder.path();
    for _ in 0..2 {
        run_keeping(home, ("FATHOM_RUNS_KEEP", "9"));
    }
    let ids = names_in(&home.join("data/fathom/runs"));
    let (text, _) = expect_code(home, &["compare", "last~1", "last"], 0);
    let sides: Vec<&str> = text.lines().take(2).collect();
    for (side, id) in sides.iter().zip(&ids) {
        assert!(side.contains(&format!("  {id}: ")), "{id}: {text}");
    }
    let (before, _) = expect_code(home, &["report", "last~1", "--json"], 0);
    let (first, _) = expect_code(home, &["report", &ids[0], "--json"], 0);
    assert_eq!(before, first);
    let runs = newest(home);
    for words in [&["report", "."][..], &["compare", ".", "last"]] {
        let output = fathom(home)
            .args(words)
            .current_dir(&runs)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {stderr}");
    }
    let (_, twice) = expect_code(home, &["compare", "-", "-"], 2);
    assert!(twice.contains("named once only"), "{twice}");
    for (name, told) in [
        (
            "last~2",
            [
                "there is no `last~2`: 2 runs are stored",
                "`last~1` is the oldest",
            ],
        ),
        (
            "last~x",
            ["`last~x` is no run", "`last~1` is the run before the last"],
        ),
        (".", ["the folder `.` holds no run", "name a run's folder"]),
        ("data", ["no run is called `data`", "write `./data`"]),
        (
            "./none.json",
            [
                "the record `./none.json` cannot be read",
                "name a file that is there",
            ],
        ),
    ] {
        for words in [&["report", name][..], &["compare", name, "last"]] {
            let (_, stderr) = expect_code(home, words, 3);
            for part in told {
                assert!(stderr.contains(part), "{words:?}: {stderr}");
            }
        }
    }
}

#[test]
fn results_fit_a_narrow_terminal_and_stay_as_they_are_elsewhere() {
    let folder = support::disk_folder();
    let home = folder.path();
    run_keeping(home, ("FATHOM_RUNS_KEEP", "9"));
    for words in ["report last", "report last --full", "compare last last"] {
        let piped: Vec<&str> = words.split(' ').collect();
        let (piped, _) = expect_code(home, &piped, 0);
        let on_columns = |columns: usize| {
            let size = format!("cols {columns} rows 40");
            support::on_a_terminal(home, (&size, ""), words)
        };
        assert_eq!(on_columns(80), piped);
        assert_eq!(on_columns(200), piped);
        for columns in [40, 60] {
            let text = on_columns(columns);
            let too_wide =
                |line: &&str| line.chars().count() > columns && line.trim().contains(' ');
            assert_eq!(text.lines().find(too_wide), None, "{columns}: {text}");
        }
        let narrow = on_columns(40);
        assert_ne!(narrow, piped);
        // What tells no size of its own may have one in the environment.
        let unsized_terminal =
            |before| support::on_a_terminal(home, ("cols 0 rows 0", before), words);
        assert_eq!(unsized_terminal("env COLUMNS=40"), narrow);
        assert_eq!(unsized_terminal("env -u COLUMNS"), piped);
    }
}

/// Of every verb that lists something, `--json` prints one document and nothing else, with the exit code of the text.
#[test]
fn what_is_listed_is_one_document_too() {
    let folder = support::disk_folder();
    let home = folder.path();
    let document = |words: &[&str]| {
        let (stdout, stderr) = expect_code(home, words, 0);
        assert_eq!(stderr, "", "{words:?}");
        assert_eq!(stdout.lines().count(), 1, "{words:?}");
        serde_json::from_str::<serde_json::Value>(&stdout).unwrap()
    };
    let none = document(&["runs", "--json"]);
    assert_eq!(none["schema"], "fathom.runs/1");
    assert_eq!(none["runs"], serde_json::json!([]));
    expect_code(home, &[&["run", "-q"][..], &NULL_JOB].concat(), 0);
    let one = document(&["runs", "--json"]);
    let id = newest(home).file_name().unwrap().to_owned();
    assert_eq!(one["runs"][0]["id"].as_str(), id.to_str());
    let (table, _) = expect_code(home, &["runs"], 0);
    let state = one["runs"][0]["state"].as_str().unwrap();
    assert!(table.contains(state), "{table}\n{state}");

    let all = document(&["catalog", "list", "--json"]);
    let shown = document(&["catalog", "show", "p30", "--json"]);
    assert_eq!(all["schema"], "fathom.catalog/1");
    let shown = shown["rows"].as_array().unwrap();
    assert!(!shown.is_empty());
    let all = all["rows"].as_array().unwrap();
    assert!(shown.iter().all(|row| all.contains(row)));
    let (stdout, stderr) = expect_code(home, &["catalog", "show", "P31", "--json"], 3);
    assert_eq!(stdout, "");
    assert!(stderr.contains("P3"), "{stderr}");

    let log = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../observe/tests/import/samples/iostat.txt"
    );
    let seen = document(&["observe", "--json", "--from", log]);
    assert_eq!(seen["schema"], "fathom.observe/1");
    assert!(!seen["volumes"].as_array().unwrap().is_empty());
    // A file that cannot be written is told before anything is read, and the document is not printed then.
    std::fs::write(home.join("is.profile.toml"), "").unwrap();
    let words = ["observe", "--json", "--from", log, "-o", "is.profile.toml"];
    let (stdout, _) = expect_code(home, &words, 4);
    assert_eq!(stdout, "");
}
