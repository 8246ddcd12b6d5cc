//! What a user meets in odd places: stores that cannot be written, output nobody takes, signals, half a run.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Child, Command, Stdio};

use support::{example, expect_code, fathom, names_in};

const NULL_JOB: [&str; 4] = ["fio", "--name=n", "--ioengine=null", "--size=4m"];

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args([name, &id])
            .status()
            .unwrap()
            .success()
    );
}

/// A run of a minute in `home`, one second of which has been told of.
fn a_second_into_a_run(home: &std::path::Path) -> Child {
    let job = ["run", "fio", "--name=n", "--ioengine=null", "--size=1g"];
    let long = ["--rate_iops=2000", "--time_based", "--runtime=60"];
    let mut command = fathom(home);
    command.args(job).args(long).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let second = lines.find(|line| {
        line.as_ref()
            .is_ok_and(|line| line.contains("measure 00:02"))
    });
    assert!(second.is_some(), "no progress was shown");
    child
}

/// A served run has what its clients did, and no workload.
#[test]
fn a_served_run_is_nothing_to_calibrate_by() {
    let folder = support::disk_folder();
    let home = folder.path();
    let design = "[[device]]\nname = 'd'\nmount = '/d'\nsize = '1MiB'\n";
    std::fs::write(home.join("d.design.toml"), design).unwrap();
    let serve = [
        "serve",
        "d.design.toml",
        "--nbd",
        "unix:s",
        "--for",
        "100ms",
    ];
    expect_code(home, &serve, 0);
    let words = [
        "calibrate",
        "last",
        "--on",
        "d.design.toml",
        "-o",
        "new.toml",
    ];
    let (_, stderr) = expect_code(home, &words, 3);
    assert!(stderr.contains("no workload to predict"), "{stderr}");
    assert!(stderr.contains("hint: name a run"), "{stderr}");
}

#[test]
fn a_store_that_cannot_be_written_stops_no_run() {
    let folder = support::disk_folder();
    let file = folder.path().join("file");
    File::create(&file).unwrap();
    let mut command = fathom(folder.path());
    command.args(["run", "-q"]).args(NULL_JOB);
    let output = command.env("XDG_DATA_HOME", &file).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("not stored"), "{stderr}");
    assert!(
        stdout.contains("IOPS") && !stdout.contains("fathom report"),
        "{stdout}"
    );
    assert!(stderr.contains("hint: set XDG_DATA_HOME"), "{stderr}");
    for words in [&["runs"][..], &["report", "last"]] {
        let mut command = fathom(folder.path());
        let output = command.args(words).env("XDG_DATA_HOME", &file).output();
        let output = output.unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(5), "{words:?}: {stderr}");
        assert!(stderr.contains("hint: set XDG_DATA_HOME"), "{stderr}");
    }
}

/// Records that are named by a path are read where no folder for runs is known.
#[test]
fn a_record_at_a_path_needs_no_store() {
    let folder = support::disk_folder();
    let (record, _) = expect_code(
        folder.path(),
        &[&["run", "-q", "--json"][..], &NULL_JOB].concat(),
        0,
    );
    let path = folder.path().join("record.json");
    std::fs::write(&path, record).unwrap();
    let path = path.to_str().unwrap();
    for (words, code, says) in [
        (&["report", path][..], 0, ""),
        (&["compare", path, path], 0, ""),
        (
            &["report", "last"],
            5,
            "neither XDG_DATA_HOME nor HOME names one by its whole path",
        ),
    ] {
        let mut command = fathom(folder.path());
        command.env_remove("HOME").env_remove("XDG_DATA_HOME");
        let output = command.args(words).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {stderr}");
        assert!(stderr.contains(says), "{words:?}: {stderr}");
    }
}

#[test]
fn a_result_that_stdout_cannot_take_is_an_error() {
    let folder = support::disk_folder();
    let mut command = fathom(folder.path());
    command
        .args(["run", "-q", "--no-record", "--json"])
        .args(NULL_JOB);
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = command.stdout(full).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{stderr}");
    assert!(stderr.contains("stdout cannot be written"), "{stderr}");
}

#[test]
fn a_closed_stdout_is_an_error() {
    let folder = support::disk_folder();
    for words in ["--help", "catalog list", "explain quick", "fio --version"] {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec \"$0\" {words} >&-")]);
        let program = fathom(folder.path());
        let output = shell.arg(program.get_program()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(5), "{words}: {stderr}");
        let told = "stdout cannot be written: it is closed";
        assert!(stderr.contains(told), "{words}: {stderr}");
    }
}

#[test]
fn a_pipe_that_nobody_writes_to_is_told() {
    let folder = support::disk_folder();
    let pipe = folder.path().join("jobs.fio");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let fio = "[a]\nioengine=null\nsize=1m\n";
    let vdbench =
        "sd=a,lun=x,size=1m\nwd=b,sd=a\nrd=c,wd=b,iorate=max,elapsed=2,interval=1,threads=1\n";
    // The others are told why this is none of theirs.
    for (words, text) in [
        ("fio --parse-only PIPE", fio),
        ("explain PIPE", fio),
        ("explain vdbench -f PIPE", vdbench),
        ("vdbench -s -f PIPE", vdbench),
        ("explain diskspd -XPIPE", ""),
        ("diskspd -XPIPE", ""),
        ("explain iometer PIPE", ""),
        ("iometer PIPE", ""),
        ("explain sqlio -FPIPE", ""),
        ("sqlio -FPIPE", ""),
    ] {
        let mut command = fathom(folder.path());
        let words = words.split(' ');
        let words = words.map(|word| word.replace("PIPE", "jobs.fio"));
        command.args(words).stdout(Stdio::null());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut told = String::new();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        stderr.read_line(&mut told).unwrap();
        assert!(told.contains("jobs.fio` is a pipe"), "{told}");
        std::fs::write(&pipe, text).unwrap();
        let ended = child.wait().unwrap();
        assert_eq!(ended.success(), !text.is_empty(), "{command:?}");
    }
}

#[test]
fn a_killed_run_shows_its_seconds() {
    let folder = support::disk_folder();
    let mut child = a_second_into_a_run(folder.path());
    signal(&child, "-KILL");
    child.wait().unwrap();
    let (stdout, _) = expect_code(folder.path(), &["report", "last"], 0);
    assert!(stdout.contains("cut off after"), "{stdout}");
    let line = stdout.lines().find_map(|line| line.strip_prefix("  read "));
    let rate = line.and_then(|line| line.split(' ').next()).unwrap_or("0");
    let rate: u64 = rate.replace(',', "").parse().unwrap();
    assert!((1_500..=2_500).contains(&rate), "{stdout}");
    let (stdout, _) = expect_code(folder.path(), &["runs"], 0);
    assert!(stdout.contains("cut short"), "{stdout}");
}

#[test]
fn an_interrupted_run_is_summarised() {
    let folder = support::disk_folder();
    let child = a_second_into_a_run(folder.path());
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{stdout}");
    assert!(stdout.contains("stopped before its end"), "{stdout}");
}

#[test]
fn a_signal_ends_fio_as_it_ends_the_real_one() {
    let folder = support::disk_folder();
    let arguments = [
        "--name=n",
        "--ioengine=null",
        "--size=1g",
        "--time_based",
        "--runtime=60",
    ];
    let ours = support::fathom_binary();
    for words in [vec![ours.to_str().unwrap(), "fio"], vec!["fio"]] {
        // `--foreground`: the signal goes to the program alone, once.
        let interrupted_after = |seconds: &str| {
            let mut command = Command::new("timeout");
            command.args(["--foreground", "--preserve-status", "-s", "INT", seconds]);
            command.args(&words).args(arguments);
            command.current_dir(folder.path()).output().unwrap()
        };
        // The genuine one may not have begun after two seconds of a busy machine, and then ends without figures.
        let mut output = interrupted_after("2");
        if output.status.code() != Some(128) {
            output = interrupted_after("15");
        }
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(128), "{stdout}");
        for part in ["\nfio: terminating on signal 2\n", "IOPS="] {
            assert!(stdout.contains(part), "`{part}` is not in\n{stdout}");
        }
    }
}

#[test]
fn a_file_in_place_of_stdout_holds_all_that_fio_writes() {
    let folder = support::disk_folder();
    let (stdout, _) = expect_code(
        folder.path(),
        &[NULL_JOB.as_slice(), &["--output=out"]].concat(),
        0,
    );
    let text = std::fs::read_to_string(folder.path().join("out")).unwrap();
    assert!(stdout.is_empty(), "{stdout}");
    assert!(
        text.contains("ioengine=null") && text.contains("IOPS="),
        "{text}"
    );
}

#[test]
fn what_cannot_be_written_whole_is_not_left_behind() {
    let folder = support::disk_folder();
    let profile = example("plan/shop.profile.toml");
    let size_less = |words: &str| {
        let program = support::fathom_binary();
        let mut command = Command::new("sh");
        // Files of more than nothing fail, as on a full disk; pipes do not.
        let line = format!(
            "trap '' XFSZ; ulimit -f 0; exec {} {words}",
            program.display()
        );
        command.args(["-c", &line]).current_dir(folder.path());
        let output = command.env("XDG_DATA_HOME", folder.path().join("data"));
        output.output().unwrap()
    };
    for words in [
        "profile new --app sql-server --tps 9 -o new.toml",
        "convert --to native -o new.toml fio --name=n --size=4m",
        &format!("plan {profile} --era 2016 --series DS --prove=never -o new"),
        &format!("plan {profile} --era 2016 --series DS --prove=never --emit az --emit-to new.sh"),
    ] {
        let output = size_less(words);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(5), "{words}: {stderr}");
        assert!(stderr.contains("cannot be written"), "{words}: {stderr}");
        assert!(stderr.contains("hint: "), "{words}: {stderr}");
        assert!(names_in(folder.path()).is_empty(), "{words}");
    }
    let output = size_less(&format!("run -q {}", NULL_JOB.join(" ")));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("not stored"), "{stderr}");
    let runs = names_in(&folder.path().join("data/fathom/runs"));
    assert!(runs.is_empty(), "{runs:?}");
}

#[test]
fn a_name_that_is_no_text_is_refused_and_no_other_is_taken() {
    let folder = support::disk_folder();
    let odd = |name: &[u8]| OsStr::from_bytes(name).to_owned();
    let job = folder.path().join(odd(b"job\xff.fio"));
    std::fs::write(&job, "[a]\nioengine=null\nsize=4m\n").unwrap();
    let new = odd(b"new\xff.toml");
    let words: [&[&OsStr]; 3] = [
        &["run".as_ref(), "-q".as_ref(), job.as_os_str()],
        &["fio".as_ref(), job.as_os_str()],
        &["profile", "new", "--app", "sql-server", "--tps", "9", "-o"].map(OsStr::new),
    ];
    for words in words {
        let mut command = fathom(folder.path());
        let output = command.args(words).arg(&new).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("is not UTF-8\n  hint: "), "{stderr}");
    }
    assert_eq!(names_in(folder.path()).len(), 1, "nothing is made");
    let within = folder.path().join(odd(b"within\xff"));
    std::fs::create_dir(&within).unwrap();
    let mut command = fathom(folder.path());
    let output = command
        .args(["run", "quick", "--dry-run"])
        .current_dir(within)
        .output();
    let stderr = String::from_utf8_lossy(&output.unwrap().stderr).into_owned();
    assert!(
        stderr.contains("is not UTF-8\n  hint: name another folder"),
        "{stderr}"
    );
}

#[test]
fn what_is_misspelt_is_named_with_what_is_meant() {
    let folder = support::disk_folder();
    std::fs::write(folder.path().join("job.fio"), "[a]\nsize=4m\n").unwrap();
    for (words, code, says) in [
        (
            "run jbo.fio",
            3,
            &["`jbo.fio` cannot be read", "did you mean `job.fio`?"][..],
        ),
        (
            "run fi --rw=read",
            2,
            &["`fi` is no preset and no dialect", "`fio`"],
        ),
        (
            "run --jsn job.fio",
            2,
            &["unexpected argument '--jsn'", "'--json'"],
        ),
        (
            "run job.fio --jsn",
            2,
            &["unexpected argument '--jsn'", "'--json'"],
        ),
        (
            "run diskspd.exe -d1 x.dat",
            2,
            &["one workload at a time", "write `diskspd` in place"],
        ),
        (
            "run --swep depth=1,2 job.fio",
            2,
            &["'--swep'", "'--sweep'"],
        ),
        (
            "catalog show ds14",
            3,
            &["`ds14`", "did you mean `Standard_DS14`?"],
        ),
        (
            "report last",
            3,
            &["no runs are stored", "`fathom run quick`"],
        ),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let (_, stderr) = expect_code(folder.path(), &words, code);
        for part in says {
            assert!(stderr.contains(part), "`{part}` is not in {stderr}");
        }
    }
}

#[test]
fn what_is_wrong_is_said_once_and_with_the_right_code() {
    let folder = support::disk_folder();
    let file = folder.path().join("file");
    File::create(&file).unwrap();
    let quick = ["run", "quick", "--target", "file"];
    let (_, stderr) = expect_code(folder.path(), &quick, 3);
    assert_eq!(stderr.matches("error:").count(), 1, "{stderr}");
    let (_, stderr) = expect_code(folder.path(), &["run", "vdbench", "-f", "x"], 3);
    assert!(stderr.contains("`x` cannot be read"), "{stderr}");
    expect_code(folder.path(), &["run", "--json", "--full", "quick"], 2);
    std::fs::write(folder.path().join("odd.fio"), "bs=4k\n[a]\n").unwrap();
    let (_, stderr) = expect_code(folder.path(), &["run", "odd.fio"], 3);
    assert!(stderr.contains("outside of a [section]"), "{stderr}");
    assert_eq!(names_in(folder.path()), ["file", "odd.fio"]);
}

#[test]
fn repeats_of_a_prediction_share_a_line() {
    let folder = support::disk_folder();
    let design = example("guide-2016/ds14.design.toml");
    let predict = [
        "predict",
        "-q",
        "--on",
        &design,
        "quick",
        "--target",
        "/mnt/nocache",
    ];
    let (stdout, _) = expect_code(folder.path(), &predict, 0);
    let lines = stdout
        .lines()
        .filter(|line| line.starts_with("random read 4k qd32"));
    assert_eq!(lines.count(), 1, "{stdout}");
    assert!(
        stdout.lines().all(|line| line.chars().count() <= 80),
        "{stdout}"
    );
}

/// Virtual seconds pass by the hundred: a pipe gets what a reader should know, not a line for each.
#[test]
fn a_prediction_in_a_pipe_tells_notes_alone() {
    let folder = support::disk_folder();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/guide-2016/");
    let mut command = fathom(folder.path());
    command.args(["predict", "--no-record", "--on"]);
    command.arg(format!("{examples}ds14.design.toml"));
    let output = command.arg(format!("{examples}fiowrite.ini")).output();
    let stderr = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(!stderr.is_empty(), "nothing was told");
    assert!(
        stderr.lines().all(|line| line.starts_with("note: ")),
        "{stderr}"
    );
}

#[test]
fn a_page_stands_by_itself_and_replaces_nothing_but_a_page() {
    let folder = support::disk_folder();
    let home = folder.path();
    let design = example("guide-2016/ds14.design.toml");
    let job = example("guide-2016/fioread.ini");
    let predict = |page: &str, code: i32| {
        let words = [
            "predict",
            "-q",
            "--on",
            design.as_str(),
            "--html",
            page,
            "fio",
            "--runtime",
            "5",
            job.as_str(),
        ];
        expect_code(home, &words, code)
    };
    predict("page.html", 0);
    let page = std::fs::read_to_string(home.join("page.html")).unwrap();
    for expected in [
        "62,50",
        "Distribution of latency",
        "Over time",
        "<svg",
        "vm-cached",
    ] {
        assert!(page.contains(expected), "no {expected}");
    }
    for outside in ["http:", "https:", "<script", "url(", "NaN"] {
        assert!(!page.contains(outside), "{outside} in the page");
    }
    predict("page.html", 0);
    std::fs::write(home.join("mine.html"), "mine").unwrap();
    let (_, complaint) = predict("mine.html", 4);
    assert!(complaint.contains("no report of Fathom"), "{complaint}");
    assert_eq!(
        std::fs::read_to_string(home.join("mine.html")).unwrap(),
        "mine"
    );
    // A pipe would be waited for, and what is beside the page is the user's.
    support::system("mkfifo", &[home.join("pipe").to_str().unwrap()]);
    let (_, complaint) = predict("pipe", 4);
    assert!(complaint.contains("is no file"), "{complaint}");
    std::fs::write(home.join("again.html.part"), "mine").unwrap();
    expect_code(home, &["report", "last", "--html", "again.html"], 0);
    assert!(home.join("again.html").exists());
    let part = std::fs::read_to_string(home.join("again.html.part"));
    assert_eq!(part.unwrap(), "mine");
}

#[test]
fn an_option_of_ours_behind_a_dialects_name_is_told_its_place() {
    let folder = support::disk_folder();
    let complaint = |words: &[&str]| {
        let output = fathom(folder.path()).arg("run").args(words).output();
        String::from_utf8(output.unwrap().stderr).unwrap()
    };
    for (words, name) in [
        (["fio", "--name=n", "--ioengine=null", "--html=a"], "--html"),
        (["diskspd", "--strict", "-c1M", "x"], "--strict"),
        (["vdbench", "-f", "x", "--json"], "--json"),
        (["sqlio", "-kR", "--no-record", "x"], "--no-record"),
        (["iometer", "--size=1M", "--full", "x"], "--full"),
    ] {
        let (stderr, dialect) = (complaint(&words), words[0]);
        let told = format!("hint: `{name}` belongs before `{dialect}`, as in `fathom run {name}");
        assert!(stderr.contains(&told), "{words:?}: {stderr}");
        assert_eq!(names_in(folder.path()), Vec::<String>::new());
    }
    // And fio's own in place of ours, before a job file or behind it.
    for words in [["--iodepth=4", "j.fio"], ["j.fio", "--iodepth=4"]] {
        let stderr = complaint(&words);
        let told = "behind its name: `fathom run … fio --iodepth …`";
        assert!(stderr.contains(told), "{words:?}: {stderr}");
    }
    // What is the tool's own is no concern of ours.
    let stderr = complaint(&["fio", "--name=n", "--ioengine=null", "--size=x"]);
    assert!(!stderr.contains("belongs before"), "{stderr}");
    // A dialect's name as an option's value is not where that dialect begins.
    let stderr = complaint(&["--dialect", "fio", "diskspd", "-c1M", "x", "--json"]);
    assert!(!stderr.contains("before `fio`"), "{stderr}");
}

/// What a terminal of so many columns gets of `fathom` with these words.
fn on_a_terminal(home: &std::path::Path, columns: usize, words: &str) -> String {
    support::on_a_terminal(home, (&format!("cols {columns} rows 24"), ""), words)
}

#[test]
fn what_is_listed_fits_narrow_terminals() {
    let folder = support::disk_folder();
    let home = folder.path();
    let mut words = vec!["run", "-q"];
    words.extend(NULL_JOB);
    expect_code(home, &words, 0);
    let samples = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../observe/tests/import/samples"
    );
    for words in [
        "runs",
        "catalog list",
        "catalog show P30",
        "explain counters",
        "explain factors",
        &format!("observe --from {samples}/iostat.txt"),
    ] {
        for columns in [40, 60, 79] {
            let text = on_a_terminal(home, columns, words);
            // A word may be longer than the screen.
            let too_wide =
                |line: &&str| line.chars().count() > columns && line.trim().contains(' ');
            assert_eq!(text.lines().find(too_wide), None, "{words}, {columns}");
            assert!(text.lines().count() > 2, "{words}: {text}");
        }
    }
    let wide = on_a_terminal(home, 200, "catalog list");
    assert_eq!(wide, expect_code(home, &["catalog", "list"], 0).0);
}

/// Paragraphs are broken where the terminal ends, not where one of 80 columns would.
#[test]
fn help_fits_narrow_terminals() {
    let folder = support::disk_folder();
    let home = folder.path();
    let (listed, _) = expect_code(home, &["--help"], 0);
    let verbs = listed.lines().skip_while(|line| *line != "Commands:");
    let verbs = verbs.skip(1).take_while(|line| !line.is_empty());
    let verbs: Vec<&str> = verbs
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|verb| !["", "fio", "help"].contains(verb))
        .collect();
    assert!(verbs.len() > 15, "{verbs:?}");
    let help = |columns: usize, verb: &str| on_a_terminal(home, columns, &format!("{verb} --help"));
    for verb in verbs {
        let text = help(60, verb);
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let line = plain(line);
            let next = plain(lines.peek().unwrap_or(&""));
            assert!(
                line.chars().count() <= 60 || line.starts_with("Usage:"),
                "{verb}: {line}"
            );
            // What goes on in the next line would not have found room in this one.
            let goes_on = line.ends_with(|end: char| end.is_alphabetic() || end == ',')
                && !line.starts_with(' ')
                && next.starts_with(|begin: char| begin.is_lowercase());
            let word = next.split(' ').next().unwrap_or_default();
            let room = 60usize.saturating_sub(line.chars().count() + 1);
            assert!(
                !goes_on || word.chars().count() > room,
                "{verb}: {line}\n{next}"
            );
        }
    }
    // What is laid out by hand, too.
    for verb in ["diskspd", "iometer", "vdbench", "sqlio", "diskperformance"] {
        let text = help(40, verb);
        let too_wide = |line: &&str| line.chars().count() > 40 && line.trim().contains(' ');
        assert_eq!(text.lines().find(too_wide), None, "{verb}");
    }
}

/// Without what makes letters bold.
fn plain(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + part.split_once('m').map_or("", |(_, rest)| rest)
    })
}

#[test]
fn rows_of_csv_and_what_was_decided_have_their_own_streams() {
    let folder = support::disk_folder();
    let home = folder.path();
    let mut words = vec!["run", "-q", "-v", "--csv"];
    words.extend(NULL_JOB);
    let (stdout, stderr) = expect_code(home, &words, 0);
    let (stored, _) = expect_code(home, &["report", "last", "--csv"], 0);
    assert_eq!(stdout, stored);
    let rows: Vec<&str> = stdout.lines().collect();
    assert!(rows[1].starts_with("n,n,read,1024,4194304,0,"), "{stdout}");
    assert_eq!(rows.len(), 2, "{stdout}");
    assert!(stderr.contains("options in force"), "{stderr}");
    assert!(stderr.contains("fio's default"), "{stderr}");
    assert!(stderr.contains("[[stage.job]]"), "{stderr}");
    let stored = home.join("data/fathom/runs");
    let stored = format!("the run is stored in `{}", stored.display());
    assert!(stderr.contains(&stored), "{stderr}");
    for other in ["--json", "--full"] {
        expect_code(home, &["run", "--csv", other, "quick"], 2);
    }
}

/// Without UTF-8 in the locale, text for people is ASCII; a locale that says nothing has it.
#[test]
fn text_is_in_the_characters_of_the_locale() {
    let folder = support::disk_folder();
    let printed = |locale: &[(&str, &str)]| {
        let mut command = fathom(folder.path());
        for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
            command.env_remove(name);
        }
        command.envs(locale.iter().copied());
        command.arg("run").args(NULL_JOB);
        let done = command.output().unwrap();
        let told = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.success(), "{told}");
        String::from_utf8(done.stdout).unwrap() + &told
    };
    let ascii = printed(&[("LC_ALL", "C"), ("LANG", "C.UTF-8")]);
    assert!(ascii.is_ascii() && ascii.contains("us"), "{ascii}");
    for locale in [&[][..], &[("LANG", "C.UTF-8")], &[("LANG", "")]] {
        let text = printed(locale);
        assert!(text.contains('µ'), "{locale:?}: {text}");
    }
}

/// What is told beside a result is broken at a terminal's width, between words.
#[test]
fn messages_keep_to_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    std::fs::write(
        home.join("a.fio"),
        "[a]\nfilename=/d/f\nsize=1m\nrw=randread\n",
    )
    .unwrap();
    let told = |columns| on_a_terminal(home, columns, "convert --to diskspd a.fio >stdout");
    let (narrow, wide) = (told(60), told(400));
    assert!(wide.lines().any(|line| line.chars().count() > 90), "{wide}");
    let fits = |line: &str| line.chars().count() <= 60;
    assert!(narrow.lines().all(fits), "{narrow}");
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(words(&narrow), words(&wide));
    assert!(narrow.contains("\n      "), "{narrow}");
}
