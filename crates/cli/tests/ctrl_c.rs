//! Ctrl-C while verbs think that measure nothing: they end orderly, with the documented code, and leave nothing half-written.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use support::{expect_code, fathom, names_in, system};

/// Most looks at a process, 20 ms each: a minute, far more than any takes to begin.
const LOOKS: u32 = 3000;

/// Whether a process catches SIGINT, by the kernel's account of it.
fn catches_ctrl_c(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = u64::from_str_radix(mask.unwrap_or_default().trim(), 16);
    mask.is_ok_and(|mask| mask & (1 << 1) != 0)
}

/// Gives `fathom WORDS` Ctrl-C while it reads `input`, a pipe of that name, and only then the `text` that it reads there; its
/// code, and what it told.
fn stopped(home: &Path, words: &[&str], (input, text): (&str, &str)) -> (Option<i32>, String) {
    let pipe = home.join(input);
    system("mkfifo", &[pipe.to_str().unwrap()]);
    // Opened for both, a pipe waits for nobody at its other end.
    let mut options = std::fs::OpenOptions::new();
    let mut writer = options.read(true).write(true).open(&pipe).unwrap();
    let mut command = fathom(home);
    command.args(words).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut looks = 0;
    while !catches_ctrl_c(child.id()) {
        let ended = child.try_wait().unwrap();
        if ended.is_some() || looks == LOOKS {
            let _ = child.kill();
            let output = child.wait_with_output().unwrap();
            panic!("it does not catch Ctrl-C while it reads: {output:?}");
        }
        looks += 1;
        std::thread::park_timeout(Duration::from_millis(20));
    }
    system("kill", &["-INT", &child.id().to_string()]);
    writer.write_all(text.as_bytes()).unwrap();
    drop(writer);
    let output = child.wait_with_output().unwrap();
    std::fs::remove_file(pipe).unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{told}");
    (output.status.code(), told)
}

#[test]
fn a_plan_that_is_stopped_offers_and_writes_nothing() {
    let folder = support::disk_folder();
    let home = folder.path();
    // Hundreds of designs, each predicted with a million I/Os a second for seconds: many minutes of work.
    let text = "name = \"all\"\n[[volume]]\nname = \"data\"\n[[volume.period]]\nname = \"peak\"\n\
                iops = 1_000_000\nsize = \"4KiB\"\nreads = \"50%\"\nrandom = \"100%\"\n";
    let plan = "plan all.profile.toml --prove --offers 100 --machines 16 -o all";
    let words: Vec<_> = plan.split(' ').collect();
    let (code, told) = stopped(home, &words, ("all.profile.toml", text));
    assert_eq!(code, Some(130), "{told}");
    assert!(told.contains("no file is written"), "{told}");
    assert!(names_in(home).is_empty(), "{:?}", names_in(home));
}

#[test]
fn a_fit_that_is_stopped_writes_nothing() {
    let folder = support::disk_folder();
    let home = folder.path();
    let design = "[[device]]\nname = \"d\"\nmount = \"/d\"\nsize = \"1TiB\"\nlatency = { median = \"1ms\", p99 = \"3ms\" }\n";
    std::fs::write(home.join("d.design.toml"), design).unwrap();
    let predict = "predict -q --on d.design.toml --sweep depth=1..16x2 fio --name=x --filename=/d/f --size=1g --rw=randread \
                   --bs=4k --direct=1 --ioengine=libaio --time_based --runtime=10";
    expect_code(home, &predict.split(' ').collect::<Vec<_>>(), 0);
    let before = names_in(home);
    let calibrate = "calibrate last --on guess.design.toml -o fitted.design.toml";
    let words: Vec<_> = calibrate.split(' ').collect();
    let guess = design.replace("1ms", "5ms").replace("3ms", "9ms");
    let (code, told) = stopped(home, &words, ("guess.design.toml", &guess));
    assert_eq!(code, Some(130), "{told}");
    assert!(told.contains("nothing is written"), "{told}");
    assert_eq!(names_in(home), before);
}
