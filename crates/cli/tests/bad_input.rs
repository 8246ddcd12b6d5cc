//! Bad input never panics, never writes, never half-runs.

mod support;

use support::{example, expect_code, fathom, names_in};

#[test]
fn every_error_of_a_job_file_is_told_at_once() {
    let folder = support::disk_folder();
    let job = folder.path().join("job.fio");
    let text = "[a]\nrw=randreed\nfrobnicate=1\niodepth=many\nsize=1m\n";
    std::fs::write(&job, text).unwrap();
    let before = names_in(folder.path());
    for verb in [vec!["run", "fio"], vec!["explain", "fio"]] {
        let arguments: Vec<&str> = verb.into_iter().chain([job.to_str().unwrap()]).collect();
        let (stdout, stderr) = expect_code(folder.path(), &arguments, 3);
        for part in [
            "randreed",
            "randread",
            "frobnicate",
            "many",
            "job.fio:2:4",
            "job.fio:3:1",
            "job.fio:4:9",
        ] {
            assert!(stderr.contains(part), "`{part}` is not in\n{stderr}");
        }
        assert!(stdout.is_empty(), "{stdout}");
    }
    expect_code(folder.path(), &["fio", job.to_str().unwrap()], 1);
    assert_eq!(before, names_in(folder.path()), "something was written");
}

#[track_caller]
fn refused(arguments: &[&str], code: i32, told: &str) {
    let folder = support::disk_folder();
    let (stdout, stderr) = expect_code(folder.path(), arguments, code);
    assert!(stderr.contains(told), "`{told}` is not in\n{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert!(stdout.is_empty(), "{stdout}");
    let left = names_in(folder.path());
    assert!(left.is_empty(), "left behind: {left:?}");
}

#[test]
fn what_cannot_be_done_is_said_before_anything_is_written() {
    refused(&["run", "no-such-file.fio"], 3, "no-such-file.fio");
    refused(&["run", "nonsense"], 2, "quick");
    refused(
        &["run", "fio", "--name=x", "--rw=write", "--size=900t"],
        5,
        "free",
    );
    refused(
        &[
            "run",
            "fio",
            "--name=x",
            "--rw=read",
            "--size=1m",
            "--directory=/no/such/folder",
        ],
        3,
        "/no/such/folder",
    );
    refused(
        &["run", "quick", "--target", "/no/such/folder"],
        3,
        "/no/such/folder",
    );
    refused(&["run", "fio", "--name=x", "--rw=read"], 3, "size");
    refused(
        &[
            "run",
            "fio",
            "--name=x",
            "--rw=read",
            "--size=1k",
            "--bs=4k",
        ],
        3,
        "block",
    );
    refused(
        &["predict", "--on", "none.design.toml", "quick"],
        3,
        "none.design.toml",
    );
    refused(&["report", "last"], 3, "no runs are stored yet");
    refused(&["catalog", "show", "Standard_DS15"], 3, "Standard_DS1");
}

#[test]
fn words_about_a_peers_output_are_refused_where_it_is_not_asked_for() {
    let folder = support::disk_folder();
    let parm = folder.path().join("parm");
    let text = "sd=sd1,lun=/data/f,size=1m\nwd=w,sd=sd1\nrd=r,wd=w,iorate=10,elapsed=2\n";
    std::fs::write(&parm, text).expect("it can be written");
    let design = "[[device]]\nname = 'd'\nmount = '/data'\nsize = '1GiB'\niops = 100\n";
    std::fs::write(folder.path().join("d.design.toml"), design).expect("it can be written");
    let predict = ["predict", "--no-record", "--on", "d.design.toml"];
    let vdbench = ["vdbench", "-f", "parm", "-o", "out"];
    let diskspd = ["diskspd", "-c1M", "-d2", "-W0", "-Rxml", "/data/f"];
    for (words, named) in [(&vdbench[..], "(`-o`)"), (&diskspd[..], "(`-R`)")] {
        let plain = [&predict[..], words].concat();
        let (stdout, stderr) = expect_code(folder.path(), &plain, 2);
        assert!(stdout.is_empty(), "{stdout}");
        let hint = format!("use `fathom {} …`", words[0]);
        assert!(stderr.contains(named) && stderr.contains(&hint), "{stderr}");
        let peer = [&predict[..], &["--format", "peer"], words].concat();
        expect_code(folder.path(), &peer, 0);
    }
    let out = names_in(folder.path());
    assert!(out.iter().any(|name| name == "out"), "{out:?}");
}

#[test]
fn network_storage_without_a_mount_is_not_supported() {
    for (url, what) in [
        ("smb://host/share/f", "share"),
        ("nfs://host/volume", "volume"),
    ] {
        let folder = support::disk_folder();
        let text = format!("[[stage]]\nmeasure = '1s'\n[[stage.job]]\ntarget = '{url}'\n");
        std::fs::write(folder.path().join("a.workload.toml"), text).expect("it can be written");
        let (_, stderr) = expect_code(folder.path(), &["run", "a.workload.toml"], 8);
        let told = format!("mount the {what}");
        assert!(stderr.contains(url) && stderr.contains(&told), "{stderr}");
    }
}

#[test]
fn an_unreadable_file_is_named() {
    let folder = support::disk_folder();
    let job = folder.path().join("binary.fio");
    std::fs::write(&job, [0xff, 0xfe, 0x00, 0x01]).unwrap();
    let (_, stderr) = expect_code(folder.path(), &["run", job.to_str().unwrap()], 3);
    assert!(stderr.contains("binary.fio"), "{stderr}");
}

#[test]
fn files_that_cannot_be_read_are_told_alike() {
    let folder = support::disk_folder();
    let home = folder.path();
    let design = example("guide-2016/ds14.design.toml");
    let profile = example("plan/shop.profile.toml");
    let null = ["--name=n", "--ioengine=null", "--size=4m"];
    let null = [&["run", "-q", "fio"][..], &null].concat();
    expect_code(home, &null, 0);
    std::fs::create_dir(home.join("folder.d")).unwrap();
    std::fs::write(home.join("bytes.d"), [0xff, 0xfe, 0x00, 0x01, 0x80]).unwrap();
    let unix = ["--nbd", "unix:socket"];
    for (name, told) in [
        ("none.d", "`none.d` cannot be read: No such file"),
        ("folder.d", "`folder.d`"),
        ("bytes.d", "`bytes.d`"),
    ] {
        let verbs: [&[&str]; 10] = [
            &["predict", "--on", name, "quick"],
            &["predict", "--on", &design, "--replay", name],
            &["calibrate", "last", "--on", name, "-o", "new.toml"],
            &["observe", "--from", name],
            &["plan", name],
            &["plan", &profile, "--prices", name],
            &["report", "last", "--need", name],
            &["serve", name, unix[0], unix[1]],
            &["serve", &design, "--faults", name, unix[0], unix[1]],
            &["run", &format!("./{name}")],
        ];
        for words in verbs {
            let (_, stderr) = expect_code(home, words, 3);
            let stderr = stderr.replace("`./", "`");
            assert!(stderr.contains(told), "{words:?}: {stderr}");
            assert!(stderr.contains("\n  hint: "), "{words:?}: {stderr}");
        }
    }
}

#[test]
fn an_unmapped_path_gets_a_ready_map_line() {
    let folder = support::disk_folder();
    let design = example("guide-2016/ds14.design.toml");
    let arguments = [
        "predict",
        "--on",
        &design,
        "fio",
        "--name=x",
        "--rw=read",
        "--size=1g",
        "--filename=/data/x",
        "--runtime=1",
    ];
    let (_, stderr) = expect_code(folder.path(), &arguments, 3);
    assert!(
        stderr.contains("--map") && stderr.contains("/mnt/nocache"),
        "{stderr}"
    );
    let (runs, _) = expect_code(folder.path(), &["runs"], 0);
    assert!(
        runs.contains("no runs"),
        "a refused prediction left a run: {runs}"
    );
}

#[test]
fn a_warm_up_of_bytes_is_not_predicted() {
    let folder = support::disk_folder();
    let design = example("guide-2016/ds14.design.toml");
    let native = folder.path().join("native.toml");
    std::fs::write(
        &native,
        "[[stage]]\n[[stage.job]]\ntarget = { path = \"/mnt/nocache/x\", size = \"1GiB\" }\nmeasure = \"1s\"\n\
         warmup_bytes = \"64KiB\"\n",
    )
    .unwrap();
    let fio = [
        "fio",
        "--name=x",
        "--rw=randread",
        "--size=1g",
        "--filename=/mnt/nocache/x",
        "--runtime=1",
        "--ramp_size=64k",
    ];
    for workload in [&fio[..], &[native.to_str().unwrap()]] {
        let arguments = [&["predict", "--on", &design], workload].concat();
        let (_, stderr) = expect_code(folder.path(), &arguments, 3);
        for part in [
            "`warmup_bytes`",
            "`ramp_size`",
            "ends by time",
            "`ramp_time`",
        ] {
            assert!(stderr.contains(part), "{arguments:?}: {stderr}");
        }
    }
}

/// A file of another kind than is wanted ends with what to do; none is read that could not be it.
#[test]
fn files_of_another_kind_are_told() {
    let folder = support::disk_folder();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("empty"), "").unwrap();
    let zeroes = std::fs::File::create(at("zeroes")).unwrap();
    zeroes.set_len(64 << 30).unwrap();
    for verb in ["run", "explain"] {
        told_of(folder.path(), &[verb, "empty"], 2, "write `./empty` for");
        told_of(folder.path(), &[verb, "./empty"], 3, "`./empty` is empty");
        let large = "`./zeroes` is larger than 256 MiB\n  hint: name another file";
        told_of(folder.path(), &[verb, "./zeroes"], 3, large);
    }
    for (arguments, told) in [
        (["plan", "zeroes"], "`zeroes` is larger than 256 MiB"),
        (["report", "./zeroes"], "it holds no JSON document"),
        (["report", "./empty"], "it is empty"),
        (["plan", "empty"], "error: `empty` is empty\n"),
        (["serve", "empty"], "error: `empty` is empty\n"),
        (["serve", "zeroes"], "the design `zeroes` is larger than"),
    ] {
        told_of(folder.path(), &arguments, 3, told);
    }
    let large = "[[fault]]\n".repeat(1 << 17);
    std::fs::write(at("large.toml"), large.repeat(4)).unwrap();
    let hint = "which no profile needs\n  hint: name another file";
    told_of(folder.path(), &["plan", "large.toml"], 3, hint);
    let table = ["explain", "counters", "quick"];
    told_of(folder.path(), &table, 2, "unexpected argument `quick`");
    let table = ["explain", "counters", "--json"];
    let told = "`--json` is for workloads, and `counters` is a table";
    told_of(folder.path(), &table, 2, told);
    let misspelt = "did you mean the table `fathom explain counters`?";
    told_of(folder.path(), &["explain", "conters"], 2, misspelt);
    let family = ["plan", "p.toml", "--family", "smbb"];
    std::fs::write(at("p.toml"), PROFILE).unwrap();
    told_of(folder.path(), &family, 2, "did you mean `smb`?");
    let template = ["profile", "new", "--app", "exchnge-2010"];
    told_of(folder.path(), &template, 2, "did you mean `exchange-2010`?");
    // One that nobody writes to would be waited for.
    let pipe = at("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    std::fs::write(at("d.toml"), DEVICE).unwrap();
    let replay = ["predict", "--on", "d.toml", "--replay", "pipe"];
    told_of(folder.path(), &replay, 3, "it is no regular file");
}

const PROFILE: &str =
    "name = 'a'\n[[volume]]\nname = 'd'\n[[volume.period]]\nname = 'peak'\niops = 9\n";
const DEVICE: &str = "[[device]]\nname = \"a\"\nmount = \"/a\"\nsize = \"1GiB\"\n";

#[track_caller]
fn told_of(home: &std::path::Path, arguments: &[&str], code: i32, told: &str) {
    let (stdout, stderr) = expect_code(home, arguments, code);
    assert!(stderr.contains(told), "`{told}` is not in\n{stderr}");
    assert!(stderr.contains("\n  hint: "), "{stderr}");
    assert!(stdout.is_empty(), "{stdout}");
}

/// Runs `fathom WORDS` in a shell, `before` on its standard input.
#[track_caller]
fn piped(home: &std::path::Path, before: &str, words: &str, code: i32) -> String {
    let program = fathom(home);
    let binary = program.get_program().display();
    let mut shell = std::process::Command::new("bash");
    shell.current_dir(home).envs(
        program
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let output = shell
        .args(["-c", &format!("{before} | '{binary}' {words}")])
        .output()
        .expect("bash is there");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{words}\n{told}");
    String::from_utf8_lossy(if code == 0 {
        &output.stdout
    } else {
        &output.stderr
    })
    .into_owned()
}

#[test]
fn a_dash_is_the_standard_input_and_a_pipe_is_a_file() {
    let folder = support::disk_folder();
    let home = folder.path();
    let job = example("guide-2016/fioread.ini");
    let design = example("guide-2016/ds14.design.toml");
    let profile = example("plan/shop.profile.toml");
    let from_file = expect_code(home, &["explain", "--json", &job], 0).0;
    assert_eq!(
        piped(home, &format!("cat '{job}'"), "explain --json -", 0),
        from_file
    );
    let by_pipe = format!("explain --json <(cat '{job}')");
    assert_eq!(piped(home, "true", &by_pipe, 0), from_file);
    let native = format!("'{}' explain '{job}'", support::fathom_binary().display());
    assert_eq!(
        piped(home, &native, "explain --json --dialect native -", 0),
        from_file
    );
    // Neither has a name that tells what it is.
    assert_eq!(piped(home, &native, "explain --json -", 0), from_file);
    let predicted = piped(
        home,
        &format!("cat '{design}'"),
        &format!("predict --json --no-record --on - fio --runtime 1 '{job}'"),
        0,
    );
    assert!(predicted.contains("vm-cached-bytes"), "{predicted}");
    std::fs::write(home.join("record.json"), &predicted).unwrap();
    let shown = piped(home, "cat record.json", "report -", 0);
    assert!(shown.contains("fioread.ini on"), "{shown}");
    piped(home, "cat record.json", "compare ./record.json -", 0);
    let plan = piped(home, &format!("cat '{profile}'"), "plan --prove=never -", 0);
    assert!(plan.contains("Standard_"), "{plan}");
    let twice = format!("predict --on - --need - fio '{job}'");
    let told = piped(home, &format!("cat '{design}'"), &twice, 3);
    assert!(
        told.contains("the standard input was read already\n  hint: "),
        "{told}"
    );
}

/// A script that calls a tool is no file of that tool, whoever names the dialect.
#[test]
fn scripts_are_not_read() {
    let folder = support::disk_folder();
    let text = "# Thursday's run\n\n/opt/fio/bin/fio --name=a --size=1m\n";
    std::fs::write(folder.path().join("script"), text).unwrap();
    for dialect in [&[][..], &["--dialect", "fio"]] {
        let words = [&["explain"], dialect, &["./script"]].concat();
        let (stdout, stderr) = expect_code(folder.path(), &words, 3);
        for part in [
            "error: `./script` holds command lines of `fio`, and no script is read",
            "hint: give one line's own words: `fathom run fio …`",
        ] {
            assert!(stderr.contains(part), "`{part}` is not in\n{stderr}");
        }
        assert!(stdout.is_empty(), "{stdout}");
    }
}
