//! The panel that a terminal shows while a run or a prediction goes.
//!
//! The program runs on a terminal of `script`, whose keys these tests press and whose bytes they put on a screen of their own.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;
mod vt;

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use fathom_rawio::{Clock, sleep_until};
use fathom_units::Nanos;
use rustix::termios::{Winsize, tcsetwinsize};
use support::{fathom, fathom_binary};
use vt::Vt;

/// Much longer than anything here takes.
const LIMIT: Nanos = Nanos::from_secs(60);
/// Goes on until it is told to end.
const ENDLESS: &str = "run --no-record fio --name=endless --ioengine=null --size=1g --rw=randrw --bs=4k --rate_iops=500,500 \
                       --time_based --runtime=3600";
/// What stands above the panel from before.
const BEFORE: &str = "what stood here before";
const INTERRUPT: &str = "\u{3}";
const SUSPEND: &str = "\u{1a}";

/// A terminal, and the program on it.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    bytes: Receiver<Vec<u8>>,
    written: Vec<u8>,
    vt: Vt,
    /// Where the terminal's own name stands.
    name: std::path::PathBuf,
}

impl Terminal {
    /// One of so many columns and rows, on which a shell does `script` after it wrote [`BEFORE`].
    fn new(home: &Path, (columns, rows): (usize, usize), script: &str) -> Self {
        let name = home.join("terminal");
        let mut inside = format!(
            "stty cols {columns} rows {rows}; tty > '{}'; ",
            name.display()
        );
        let _ = write!(inside, "echo '{BEFORE}'; {script}");
        let mut command = Command::new("script");
        command
            .args(["-qec", &inside, "/dev/null"])
            .current_dir(home);
        let own = fathom(home);
        for (name, value) in own.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let mut child = command
            .env("TERM", "xterm")
            .env("SHELL", "/bin/bash")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, bytes) = channel();
        let mut stdout = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(count @ 1..) = stdout.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            keys: child.stdin.take().unwrap(),
            child,
            bytes,
            written: Vec::new(),
            vt: Vt::new(columns, rows),
            name,
        }
    }

    /// The same for `fathom WORDS`.
    fn of_fathom(home: &Path, size: (usize, usize), words: &str) -> Self {
        Self::new(
            home,
            size,
            &format!("exec '{}' {words}", fathom_binary().display()),
        )
    }

    /// Takes what was written next; false at the end.
    fn next(&mut self) -> bool {
        let wait = Duration::from_nanos(LIMIT.get());
        match self.bytes.recv_timeout(wait) {
            Ok(bytes) => {
                self.vt.feed(&bytes);
                self.written.extend(bytes);
                true
            }
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => false,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                panic!("nothing came for long; the screen:\n{}", self.shown())
            }
        }
    }

    /// Waits until the screen shows what `is_there` looks for, between two frames.
    #[track_caller]
    fn wait_for(&mut self, what: &str, is_there: impl Fn(&[String]) -> bool) {
        let until = Clock::now() + LIMIT;
        while !(self.vt.is_whole() && is_there(&self.vt.screen())) {
            let goes_on = self.next();
            assert!(
                goes_on && Clock::now() < until,
                "no {what} on the screen:\n{}",
                self.shown()
            );
        }
    }

    /// Waits for a second of the stage that was not seen yet to be in the panel.
    #[track_caller]
    fn wait_for_new_second(&mut self) {
        let seen = elapsed(&self.vt.screen());
        self.wait_for("new second", |rows| elapsed(rows) > seen);
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Has another size from now on.
    fn resize(&mut self, columns: usize, rows: usize) {
        let name = std::fs::read_to_string(&self.name).unwrap();
        let terminal = std::fs::File::open(name.trim()).unwrap();
        let size = Winsize {
            ws_col: columns.try_into().unwrap(),
            ws_row: rows.try_into().unwrap(),
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        // Both at once, behind all that was written for the old size.
        while let Ok(bytes) = self.bytes.try_recv() {
            self.vt.feed(&bytes);
            self.written.extend(bytes);
        }
        self.vt.resize(columns, rows);
        tcsetwinsize(&terminal, size).unwrap();
    }

    /// Waits for the program to end; its exit code.
    #[track_caller]
    fn end(&mut self) -> i32 {
        let until = Clock::now() + LIMIT;
        while self.next() {
            assert!(Clock::now() < until, "does not end:\n{}", self.shown());
        }
        self.child.wait().unwrap().code().unwrap()
    }

    fn shown(&self) -> String {
        self.vt.all().join("\n")
    }

    #[track_caller]
    fn check_count(&self, rows: &[String], text: &str, expected: usize) {
        let count = rows.iter().filter(|row| row.contains(text)).count();
        assert_eq!(count, expected, "rows with `{text}`:\n{}", self.shown());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Ends what a failed test left; the program ends with its terminal.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Seconds of the stage in the panel; `None` where there is none.
fn elapsed(rows: &[String]) -> Option<u64> {
    let row = rows.iter().find(|row| row.starts_with("stage 1 of 1: "))?;
    let words: Vec<&str> = row.split(' ').collect();
    let at = words.iter().position(|word| *word == "measure")?;
    let (minutes, seconds) = words.get(at + 1)?.split_once(':')?;
    Some(minutes.parse::<u64>().ok()? * 60 + seconds.parse::<u64>().ok()?)
}

/// What stands in each panel once, and nowhere else.
const PARTS: [&str; 3] = ["run: ", "stage 1 of 1: endless ", "failed I/Os 0"];

#[test]
fn a_panel_stands_while_a_run_goes_and_its_report_in_its_place() {
    let folder = support::disk_folder();
    let mut terminal = Terminal::of_fathom(folder.path(), (80, 24), ENDLESS);
    terminal.wait_for("third second", |rows| elapsed(rows) >= Some(3));
    let rows = terminal.vt.screen();
    assert_eq!(rows[0], BEFORE);
    for part in PARTS {
        terminal.check_count(&rows, part, 1);
    }
    assert!(rows[1].starts_with("run: "), "{rows:?}");
    assert!(rows[2].contains("  measure 00:") && rows[2].ends_with(" of 1:00:00"));
    let names = ["read ", "  response ", "write ", "  response ", "all "];
    for (row, name) in rows[5..].iter().zip(names) {
        assert!(row.starts_with(name) && row.ends_with('s'), "{rows:?}");
    }
    // The highest second of both charts is as high as they are.
    terminal.check_count(&rows, "█", 8);
    assert!(rows.iter().all(|row| row.chars().count() < 80), "{rows:?}");
    terminal.press(INTERRUPT);
    assert_eq!(terminal.end(), 130);
    let rows = terminal.vt.all();
    assert_eq!(rows[0], BEFORE, "{}", terminal.shown());
    for part in PARTS {
        terminal.check_count(&rows, part, 0);
    }
    terminal.check_count(&rows[1..2], "endless", 1);
    // No mode of the terminal was changed, and the cursor never hidden.
    assert!(!terminal.written.windows(3).any(|bytes| bytes == b"\x1b[?"));
}

#[test]
fn other_terminals_have_the_line() {
    let folder = support::disk_folder();
    let words =
        "run --no-record fio --name=n --ioengine=null --size=1g --time_based --runtime=1500ms";
    let quiet = words.replace("--no-record", "--no-record -q");
    let peer = words.replace("--no-record", "--no-record --format peer");
    let on = |size: &str, before: &str, words: &str| {
        support::on_a_terminal(folder.path(), (size, before), words)
    };
    let large = "cols 80 rows 24";
    for (size, before, words, has_line) in [
        ("cols 59 rows 24", "env TERM=xterm", words, true),
        ("cols 80 rows 11", "env TERM=xterm", words, true),
        (large, "env TERM=dumb", words, true),
        (large, "env -u TERM", words, true),
        // In the background: a shell may have its prompt there.
        (
            large,
            r#"env TERM=xterm bash -mc '"$0" "$@" & wait'"#,
            words,
            true,
        ),
        (large, "env TERM=xterm", &peer, true),
        (large, "env TERM=xterm", &quiet, false),
    ] {
        let text = on(size, before, words);
        assert!(!text.contains('\u{1b}'), "{size}, {before}: {text}");
        assert_eq!(text.contains("[1/1] n measure 00:0"), has_line, "{text}");
    }
    // The least that has room.
    for size in ["cols 60 rows 24", "cols 80 rows 12"] {
        let text = on(size, "env TERM=xterm", words);
        assert!(
            text.contains("\u{1b}[J") && !text.contains("[1/1]"),
            "{text}"
        );
    }
}

#[test]
fn a_panel_keeps_to_the_characters_of_the_locale() {
    let folder = support::disk_folder();
    let script = format!("LC_ALL=C exec '{}' {ENDLESS}", fathom_binary().display());
    let mut terminal = Terminal::new(folder.path(), (80, 24), &script);
    terminal.wait_for("second second", |rows| elapsed(rows) >= Some(2));
    terminal.check_count(&terminal.vt.screen(), "#", 8);
    terminal.press(INTERRUPT);
    assert_eq!(terminal.end(), 130);
    assert!(terminal.written.is_ascii(), "{}", terminal.shown());
}

#[test]
fn a_window_that_is_made_smaller_or_larger_has_one_panel() {
    let folder = support::disk_folder();
    let mut terminal = Terminal::of_fathom(folder.path(), (100, 60), ENDLESS);
    terminal.wait_for("first second", |rows| elapsed(rows) >= Some(1));
    // Nothing is left of the old one, and nothing is gone that stood above it.
    let check = |terminal: &Terminal, panels: usize| {
        let all = terminal.vt.all();
        assert_eq!(all[0], BEFORE, "{}", terminal.shown());
        for part in PARTS {
            terminal.check_count(&all, part, panels);
        }
        let lines = 1 - panels;
        terminal.check_count(&all, "[1/1]", lines);
    };
    for columns in [70, 60, 100] {
        terminal.resize(columns, 60);
        terminal.wait_for_new_second();
        check(&terminal, 1);
    }
    terminal.resize(50, 60);
    let is_line = |row: &String| row.starts_with("[1/1]");
    terminal.wait_for("line", |rows| rows.iter().any(is_line));
    check(&terminal, 0);
    terminal.resize(80, 60);
    terminal.wait_for("panel", |rows| elapsed(rows).is_some());
    check(&terminal, 1);
    // What leaves a low screen above is out of reach; on the screen there is one panel.
    terminal.resize(80, 13);
    terminal.wait_for_new_second();
    for part in PARTS {
        terminal.check_count(&terminal.vt.screen(), part, 1);
    }
    terminal.press(INTERRUPT);
    assert_eq!(terminal.end(), 130);
    terminal.check_count(&terminal.vt.screen(), "stage 1 of 1", 0);
}

#[test]
fn a_run_that_was_stopped_goes_on_below_what_the_shell_wrote() {
    let folder = support::disk_folder();
    let binary = fathom_binary();
    let script = format!(
        "set -m; '{}' {ENDLESS}; echo 'the shell is here'; fg; echo \"code $?\"",
        binary.display()
    );
    let mut terminal = Terminal::new(folder.path(), (80, 40), &script);
    terminal.wait_for("second second", |rows| elapsed(rows) >= Some(2));
    terminal.press(SUSPEND);
    // The panel that stood is left where it was, and a whole one is drawn below.
    let below = |rows: &[String]| {
        let at = rows
            .iter()
            .position(|row| row.ends_with("the shell is here"));
        at.and_then(|at| elapsed(&rows[at..]))
    };
    terminal.wait_for("panel below the shell's words", |rows| {
        below(rows).is_some()
    });
    let seen = below(&terminal.vt.screen());
    terminal.wait_for("second after it", |rows| below(rows) > seen);
    terminal.check_count(&terminal.vt.all(), "failed I/Os 0", 2);
    terminal.press(INTERRUPT);
    assert_eq!(terminal.end(), 0);
    let all = terminal.vt.all();
    terminal.check_count(&all, "failed I/Os 0", 1);
    terminal.check_count(&all, "code 130", 1);
    assert_eq!(all[0], BEFORE, "{}", terminal.shown());
}

/// What a job does after its I/O keeps the run from ending; the second Ctrl-C does not wait for it.
#[test]
fn a_second_interrupt_ends_at_once_and_leaves_a_whole_panel() {
    let folder = support::disk_folder();
    let home = folder.path();
    // The terminal interrupts the command too.
    let slow = "trap '' INT\necho begun > begun\nexec sleep 600\n";
    std::fs::write(home.join("slow.sh"), slow).unwrap();
    let binary = fathom_binary();
    let script = format!(
        "'{}' {ENDLESS} '--exec_postrun=sh slow.sh'; echo \"code $?\"",
        binary.display()
    );
    let mut terminal = Terminal::new(home, (80, 40), &script);
    terminal.wait_for("second second", |rows| elapsed(rows) >= Some(2));
    terminal.press(INTERRUPT);
    let until = Clock::now() + LIMIT;
    while !home.join("begun").exists() {
        assert!(Clock::now() < until, "no command:\n{}", terminal.shown());
        sleep_until(Clock::now() + Nanos::from_millis(10));
    }
    terminal.press(INTERRUPT);
    terminal.wait_for("exit code", |rows| {
        rows.iter().any(|row| row.ends_with("code 130"))
    });
    let rows = terminal.vt.all();
    assert_eq!(rows[0], BEFORE, "{}", terminal.shown());
    // The panel that stood is whole, and what came since stands below it.
    for part in PARTS {
        terminal.check_count(&rows, part, 1);
    }
    let at = |text: &str| rows.iter().position(|row| row.contains(text)).unwrap();
    assert!(at("last ") < at("code 130"), "{}", terminal.shown());
    terminal.check_count(&rows, "█", 8);
    assert!(!terminal.written.windows(3).any(|bytes| bytes == b"\x1b[?"));
}

#[test]
fn a_replay_has_a_panel() {
    let folder = support::disk_folder();
    let home = folder.path();
    std::fs::write(home.join("data"), vec![1; 1 << 20]).unwrap();
    let log = "fio version 3 iolog\n0 data add\n0 data open\n0 data read 0 4096\n3600000 data read 4096 4096\n\
               3600000 data close\n";
    std::fs::write(home.join("io.log"), log).unwrap();
    let words = "replay --no-record io.log --to data";
    let mut terminal = Terminal::of_fathom(home, (80, 24), words);
    terminal.wait_for("second second", |rows| elapsed(rows) >= Some(2));
    let rows = terminal.vt.screen();
    assert_eq!(rows[0], BEFORE);
    terminal.check_count(&rows, "run: io.log on ", 1);
    terminal.check_count(&rows, "stage 1 of 1: replay ", 1);
    terminal.press(INTERRUPT);
    assert_eq!(terminal.end(), 130);
    let rows = terminal.vt.all();
    terminal.check_count(&rows, "stage 1 of 1: replay ", 0);
    terminal.check_count(&rows, "io.log on ", 1);
}

/// The file of a job is cut while it is read.
#[test]
fn an_error_that_ends_the_run_stands_below_its_report() {
    let folder = support::disk_folder();
    let home = folder.path();
    let data = home.join("data");
    std::fs::write(&data, vec![1; 1 << 20]).unwrap();
    let words = format!(
        "{ENDLESS} --name=cut --ioengine=psync --filename=data --size=1m --rw=randread --bs=4k --rate_iops=50 --time_based \
         --runtime=3600"
    );
    let mut terminal = Terminal::of_fathom(home, (80, 60), &words);
    terminal.wait_for("second second", |rows| elapsed(rows) >= Some(2));
    let file = std::fs::OpenOptions::new().write(true).open(&data).unwrap();
    file.set_len(0).unwrap();
    assert_eq!(terminal.end(), 5);
    let rows = terminal.vt.all();
    assert_eq!(rows[0], BEFORE, "{}", terminal.shown());
    for part in ["run: ", "stage 1 of 1: "] {
        terminal.check_count(&rows, part, 0);
    }
    terminal.check_count(&rows, "error: job `cut`: read of 4096 bytes", 1);
    terminal.check_count(&rows, "verdict  ", 1);
    assert!(!terminal.written.windows(3).any(|bytes| bytes == b"\x1b[?"));
}

/// A job finds data that is not what was written, while the other goes on.
#[test]
fn messages_stand_above_the_panel() {
    let folder = support::disk_folder();
    let home = folder.path();
    let checked =
        "--name=checked --ioengine=psync --filename=data --size=64k --bs=4k --verify=crc32c";
    let write = format!("fio {checked} --rw=write --do_verify=0");
    let mut command = fathom(home);
    let write = command.args(write.split(' ')).output().unwrap();
    assert!(write.status.success(), "{write:?}");
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).open(home.join("data")).unwrap();
    file.write_all_at(b"else", 8200).unwrap();
    let words = format!("{ENDLESS} {checked} --rw=read");
    let mut terminal = Terminal::of_fathom(home, (150, 50), &words);
    let message = "verify: bad header: ";
    let shows = |rows: &[String], text: &str| rows.iter().any(|row| row.contains(text));
    terminal.wait_for("message above a panel", |rows| {
        shows(rows, message) && shows(rows, PARTS[1])
    });
    // It is not drawn over, and no panel is left above it, whatever comes and whatever the width.
    for columns in [150, 130, 140] {
        terminal.resize(columns, 50);
        for _ in 0..2 {
            terminal.wait_for_new_second();
        }
        let rows = terminal.vt.screen();
        assert_eq!(rows[0], BEFORE, "{}", terminal.shown());
        for text in [message, PARTS[0], PARTS[1], "failed I/Os 1"] {
            terminal.check_count(&rows, text, 1);
        }
        let at = |text: &str| rows.iter().position(|row| row.contains(text)).unwrap();
        assert!(at(message) < at(PARTS[0]), "{}", terminal.shown());
    }
    terminal.press(INTERRUPT);
    assert_eq!(terminal.end(), 130);
    let rows = terminal.vt.all();
    // The report has the count that the panel had.
    for (text, count) in [
        (message, 1),
        (PARTS[0], 0),
        (PARTS[1], 0),
        ("io-errors: 1 I/O failed, the first a read", 1),
    ] {
        terminal.check_count(&rows, text, count);
    }
}

#[test]
fn operations_on_file_sets_have_a_row_and_charts() {
    let folder = support::disk_folder();
    let home = folder.path();
    let anchor = home.join("set");
    std::fs::create_dir(&anchor).unwrap();
    let text = format!(
        "fsd=fsd1,anchor={},depth=1,width=2,files=20,size=64k\nfwd=fwd1,fsd=fsd1,operation=create,xfersize=4k,\
         fileio=sequential,threads=1\nfwd=fwd2,fsd=fsd1,operation=delete,threads=1\n\
         rd=rd1,fwd=fwd*,fwdrate=200,format=yes,elapsed=3600,interval=1\n",
        anchor.display()
    );
    std::fs::write(home.join("set.parm"), text).unwrap();
    let words = "run --no-record --dialect vdbench set.parm";
    let mut terminal = Terminal::of_fathom(home, (80, 24), words);
    terminal.wait_for("second of files alone", |rows| {
        let begins = |name: &str| rows.iter().any(|row| row.starts_with(name));
        let drawn = rows.iter().filter(|row| row.contains('█')).count();
        begins("stage 2 of 2: rd1 ") && begins("files ") && !begins("write ") && drawn == 8
    });
    terminal.press(INTERRUPT);
    assert_eq!(terminal.end(), 130);
}

#[test]
fn a_prediction_draws_as_fast_as_a_person_looks() {
    let folder = support::disk_folder();
    let home = folder.path();
    let design =
        "[[device]]\nname = \"disk\"\nmount = \"/mnt/disk\"\nsize = \"10GiB\"\niops = 20\n";
    std::fs::write(home.join("one.design.toml"), design).unwrap();
    let words = "predict --no-record --on one.design.toml fio --name=endless --filename=/mnt/disk/f --size=1g --rw=randread \
                 --bs=4k --time_based --runtime=300000000";
    let began = Clock::now();
    let mut terminal = Terminal::of_fathom(home, (80, 24), words);
    // Far more seconds of virtual time than there can be frames.
    terminal.wait_for("panel", |rows| elapsed_hours(rows) >= Some(5));
    let rows = terminal.vt.screen();
    assert_eq!(rows[0], BEFORE);
    let title = "prediction in virtual time: ";
    terminal.check_count(&rows, title, 1);
    // A prediction does not say as it goes what fails.
    terminal.check_count(&rows, "failed", 0);
    terminal.press(INTERRUPT);
    assert_eq!(terminal.end(), 130);
    let tenths = Clock::now().saturating_sub(began).get() / 100_000_000;
    let frames = terminal.vt.frames() as u64;
    assert!(
        frames > 1 && frames <= tenths + 4,
        "{frames} in {tenths} tenths"
    );
    terminal.check_count(&terminal.vt.all(), title, 0);
}

/// Whole hours of the stage in the panel.
fn elapsed_hours(rows: &[String]) -> Option<u64> {
    let row = rows.iter().find(|row| row.starts_with("stage 1 of 1: "))?;
    let (_, times) = row.split_once("measure ")?;
    let (hours, _) = times.split_once(':')?;
    (times.split(' ').next()?.matches(':').count() == 2)
        .then(|| hours.parse().ok())
        .flatten()
}
