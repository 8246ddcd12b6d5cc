//! `fathom convert`: exit codes, what is told where, and that what was written runs.

use std::process::{Command, Output};

fn fathom(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.env("LC_ALL", "C.UTF-8");
    command.args(words).output().expect("fathom starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_job_file_becomes_a_native_file_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (job, native, again) = (path("a.fio"), path("a.workload.toml"), path("b.fio"));
    let data = path("data");
    let text_of_job = format!(
        "[global]\nioengine=psync\nsize=1m\nbs=4k\nfilename={data}\n[w]\nrw=write\n[r]\nstonewall\nrw=randread\nnumjobs=2\n"
    );
    std::fs::write(&job, text_of_job).unwrap();
    let output = fathom(&["convert", "--to", "native", "-o", &native, &job]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let output = fathom(&["convert", "--to", "fio", "--strict", "-o", &again, &native]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "", "nothing is lost");
    let written = std::fs::read_to_string(&again).unwrap();
    assert!(
        written.contains("numjobs=2") && written.contains("stonewall=1"),
        "{written}"
    );
    let explained = |path: &str| {
        let output = fathom(&["explain", "--json", path]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    assert_eq!(explained(&again), explained(&job));
    let output = fathom(&["run", "--no-record", "--quiet", "--json", &again]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    // A file that exists is never written over.
    let output = fathom(&["convert", "--to", "fio", "-o", &again, &native]);
    assert_eq!(output.status.code(), Some(4));
    assert!(text(&output.stderr).contains("nothing is written over"));
}

/// fio takes a section without a name; a workload file takes none, and what is printed is one.
#[test]
fn what_is_explained_of_a_nameless_section_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (job, native) = (path("a.fio"), path("a.workload.toml"));
    let data = path("data");
    let section = format!("[]\nioengine=psync\nsize=1m\nrw=read\nfilename={data}\n");
    std::fs::write(&job, section).unwrap();
    for words in [&["explain"][..], &["run", "--dry-run"]] {
        let output = fathom(&[words, &[&job]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        std::fs::write(&native, output.stdout).unwrap();
        let output = fathom(&["run", "--no-record", "--quiet", &native]);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}

/// Who asks for JSON gets nothing else, also of what is not run.
#[test]
fn a_dry_run_prints_its_workload_as_json_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (job, design) = (path("a.fio"), path("a.design.toml"));
    let data = path("data");
    std::fs::write(&job, format!("[a]\nsize=1m\nrw=read\nfilename={data}\n")).unwrap();
    let device =
        format!("[[device]]\nname = \"d\"\nmount = \"{data}\"\nsize = \"1GiB\"\niops = 100\n");
    std::fs::write(&design, device).unwrap();
    let printed = |words: &[&str]| {
        let output = fathom(&[words, &["--json", &job]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let explained = printed(&["explain"]);
    assert_eq!(explained["stage"][0]["job"][0]["name"], "a");
    assert_eq!(printed(&["run", "--dry-run"]), explained);
    assert_eq!(
        printed(&["predict", "--on", &design, "--dry-run"]),
        explained
    );
}

#[test]
fn a_folder_is_no_file_name() {
    let folder = tempfile::tempdir().unwrap();
    let native = folder.path().join("a.workload.toml");
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let missing = folder.path().join("missing/");
    for there in [&data, &missing] {
        let there = there.display();
        let words = format!(
            "target = {{ path = \"{there}\", size = \"1MiB\" }}\n[[stage]]\nname = \"s\"\nmeasure = \"1s\"\n\
             [[stage.job]]\nmix = \"write\"\n"
        );
        std::fs::write(&native, words).unwrap();
        let there = there.to_string();
        let there = there.trim_end_matches('/');
        for (dialect, name) in [
            ("fio", format!("filename={there}/fathom-1-0-0.dat\n")),
            ("diskspd", format!("{there}/fathom-0-0.dat\n")),
            ("vdbench", format!("lun={there}/")),
        ] {
            let output = fathom(&["convert", "--to", dialect, native.to_str().unwrap()]);
            let written = text(&output.stdout);
            assert!(
                output.status.success() && written.contains(&name),
                "{dialect}: {written}"
            );
            let told = text(&output.stderr);
            assert!(told.contains("a fresh file in"), "{told}");
        }
    }
    // A run makes no file of a folder's name either.
    let output = fathom(&["run", "--no-record", native.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("no such directory"));
    assert!(!missing.exists());
}

/// An Iometer configuration with these names of its specification, its manager and its worker.
fn configuration(name: &str) -> String {
    format!(
        "Version 1.1.0\n'TEST SETUP ====\n'Run Time\n'\thours      minutes    seconds\n\t0          0          5\n'END test setup\n\
         'ACCESS SPECIFICATIONS ====\n'Access specification name,default assignment\n\t{name},NONE\n\
         'size,% of size,% reads,% random,delay,burst,align,reply\n\t4096,100,67,100,0,1,0,0\n'END access specifications\n\
         'MANAGER LIST ====\n'Manager ID, manager name\n\t1,{name}\n'Manager network address\n\t\n'Worker\n\t{name}\n\
         'Worker type\n\tDISK\n'Assigned access specs\n\t{name}\n'End assigned access specs\n'Target assignments\n\
         'Target\n\t/d/x\n'Target type\n\tDISK\n'End target\n'End target assignments\n'End worker\n'End manager\n\
         'END manager list\nVersion 1.1.0\n"
    )
}

/// Names stand in the native file as they are, and come back from it.
#[test]
fn odd_names_of_iometer_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (icf, native, again) = (path("a.icf"), path("a.workload.toml"), path("b.icf"));
    let body = |text: &str| {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.collect::<Vec<_>>().join("\n")
    };
    let converted = |from: &str, to: &str| {
        let output = fathom(&["convert", "--to", to, from]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    for name in [
        "q\"uo\"te",
        "a'b",
        "hash # x",
        "[brackets]",
        "{brace}",
        "back\\slash",
        "\\n",
        "ümläut 漢字",
        "🚀",
        "a=b",
        "a;b",
        "100%",
        "*",
        "(x)",
        "\"\"\"",
        "x'''",
        "$x `y`",
    ] {
        std::fs::write(&icf, configuration(name)).unwrap();
        let first = converted(&icf, "native");
        let read: toml::Table = first.parse().unwrap();
        let stage = &read["stage"][0];
        for found in [
            &stage["name"],
            &stage["job"][0]["name"],
            &stage["job"][0]["host"],
        ] {
            assert_eq!(found.as_str(), Some(name), "{first}");
        }
        std::fs::write(&native, &first).unwrap();
        std::fs::write(&again, converted(&native, "iometer")).unwrap();
        assert_eq!(body(&converted(&again, "native")), body(&first), "{name}");
    }
}

/// What Windows writes is not always UTF-8.
#[test]
fn files_of_windows_are_read_as_it_writes_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let wide = |text: &str| {
        let units = text.encode_utf16().flat_map(u16::to_le_bytes);
        [0xff, 0xfe].into_iter().chain(units).collect::<Vec<u8>>()
    };
    let page = configuration("größer · 5 µs");
    let page = page.chars().map(|letter| u8::try_from(letter).unwrap());
    let profile = "<Profile><TimeSpans><TimeSpan><Duration>5</Duration><Targets><Target><Path>größe</Path>\
                   <FileSize>1048576</FileSize></Target></Targets></TimeSpan></TimeSpans></Profile>";
    let guessed = "is not in UTF-8: it is read as";
    for (name, bytes, expected, told) in [
        ("a.icf", page.collect(), "größer · 5 µs", guessed),
        ("b.icf", wide(&configuration("größer")), "größer", guessed),
        ("c.xml", wide(profile), "größe", ""),
    ] {
        std::fs::write(path(name), bytes).unwrap();
        let output = fathom(&["convert", "--to", "native", &path(name)]);
        let (found, errors) = (text(&output.stdout), text(&output.stderr));
        let is_read = output.status.success() && found.contains(expected);
        assert!(is_read && errors.contains(told), "{name}: {found}{errors}");
    }
    let output = fathom(&["explain", "iometer", "/c", &path("a.icf")]);
    let found = text(&output.stdout);
    assert!(found.contains("größer · 5 µs"), "{output:?}");
    std::fs::write(path("d.fio"), b"[\xff]\nsize=1m\n").unwrap();
    let output = fathom(&["explain", &path("d.fio")]);
    assert!(text(&output.stderr).contains("is no text"), "{output:?}");
}

#[test]
fn what_is_lost_is_told_and_strict_heeds_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.workload.toml").display().to_string();
    let workload = "target = { path = \"/d/f\", size = \"1GiB\" }\n[[stage]]\nname = \"a\"\nmeasure = \"10s\"\ncooldown = \"5s\"\n\
        [[stage.job]]\nname = \"j\"\nhost = \"vm1\"\n";
    std::fs::write(&path, workload).unwrap();
    let output = fathom(&["convert", "--to", "fio", &path]);
    assert_eq!(output.status.code(), Some(0));
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    for line in [
        "lost: stage `a`: cooldown: ",
        "lost: job `j`: host: `vm1` becomes nothing",
    ] {
        assert!(
            err.contains(line) && out.contains(&format!("# {line}")),
            "{out}\n{err}"
        );
    }
    assert_eq!(
        fathom(&["convert", "--to", "fio", "--strict", &path])
            .status
            .code(),
        Some(6)
    );
    assert_eq!(
        fathom(&["convert", "--to", "native", "--strict", &path])
            .status
            .code(),
        Some(0)
    );
    assert_eq!(
        fathom(&["convert", "--to", "toml", &path]).status.code(),
        Some(2)
    );
    let output = fathom(&[
        "convert", "--to", "diskspd", "diskspd", "-c1M", "-d1", "-W0", "-r", "-o8", "x.dat",
    ]);
    assert!(
        text(&output.stdout).contains("\ndiskspd -c1M -b64K -d1 -W0 -t1 -o8 -r64K -w0 -L x.dat\n")
    );
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn the_examples_of_the_help_can_be_typed() {
    let folder = tempfile::tempdir().unwrap();
    let help = text(&fathom(&["convert", "--help"]).stdout);
    let lines = help.lines().map(str::trim);
    let examples: Vec<&str> = lines
        .filter_map(|line| line.strip_prefix("fathom "))
        .collect();
    assert!(examples.len() >= 4, "{help}");
    std::fs::write(folder.path().join("job.fio"), "[a]\nsize=4m\n").unwrap();
    let native = "target = \"/mnt/file\"\n[[stage]]\nmeasure = \"1s\"\n[[stage.job]]\n";
    std::fs::write(folder.path().join("oltp.workload.toml"), native).unwrap();
    for example in examples {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        command.env("LC_ALL", "C.UTF-8");
        let output = command
            .args(example.split(' '))
            .current_dir(folder.path())
            .output();
        let output = output.unwrap();
        let code = output.status.code();
        let may_lose = example.contains("--strict") && code == Some(6);
        assert!(
            code == Some(0) || may_lose,
            "{example}: {}",
            text(&output.stderr)
        );
    }
}

/// How a parameter file reaches its hosts is told as lost, or noted where no dialect would say it.
#[test]
fn what_stands_with_hosts_beyond_their_names_is_told() {
    #[track_caller]
    fn check(parm: &std::path::Path, to: &str, told: &str) {
        let output = fathom(&["convert", "--to", to, parm.to_str().unwrap()]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        for lines in [text(&output.stderr), text(&output.stdout)] {
            let about = |line: &&str| line.contains("hd=v") && !line.starts_with("hd=");
            let found: Vec<&str> = lines.lines().filter(about).collect();
            match told {
                "" => assert_eq!(found, [""; 0]),
                told => assert!(found.len() == 1 && found[0].ends_with(told), "{found:?}"),
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let parm = folder.path().join("x.parm");
    let rest = "sd=sd1,host=vm*,lun=/d/f,size=1m\nwd=w,sd=sd1\nrd=r,wd=w,iorate=max,elapsed=2\n";
    let hosts = "hd=default,user=root,shell=ssh\nhd=vm1,system=10.0.0.4\nhd=vm2\n";
    std::fs::write(&parm, format!("{hosts}{rest}")).unwrap();
    let told = "workload: host: `shell=`, `system=`, `user=` of `hd=vm1` and 1 more become nothing: \
                a workload knows hosts by their names alone";
    check(&parm, "native", &format!("note: {told}"));
    check(&parm, "fio", &format!("note: {told}"));
    check(&parm, "vdbench", &format!("lost: {told}"));
    std::fs::write(&parm, format!("hd=vm1\nhd=vm2,system=vm2\n{rest}")).unwrap();
    check(&parm, "vdbench", "");
}
