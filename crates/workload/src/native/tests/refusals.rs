//! What is wrong in a file is told all at once, each with its line and what to do.

use super::*;

/// Each expected entry is `line: message; hint`.
#[track_caller]
fn check_refused(text: &str, expected: &[&str]) {
    let diagnostics = match read(text, "t") {
        Ok((workload, _)) => panic!("taken as {workload:?}"),
        Err(diagnostics) => diagnostics,
    };
    let found: Vec<String> = diagnostics
        .0
        .iter()
        .map(|found| {
            let line = found.location.as_ref().map_or(0, |location| location.line);
            let hint = found.hint.as_deref().unwrap_or("no hint");
            format!("{line}: {}; {hint}", found.message)
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn all_errors_are_told_at_once_with_their_lines() {
    check_refused(
        r#"sede = 4
[target]
path = "/f"
size = 20
[[stage]]
warmup = "30"
[[stage.job]]
access = "randon"
block = 8192
mix = { read = "170%" }
depth = "many"
dept = 1
arrival = { process = "poisson" }
"#,
        &[
            "1: `sede` is no key of a workload; did you mean `seed`?",
            "4: this is a bare number, not a string with a unit; write the value with its unit, such as \"4KiB\"",
            "6: `30` has no unit; expected a time with its unit, such as `30s`, `1.5ms`, `10min` or `1h30m`; write it like \"30s\"",
            "8: `randon` is no value of this key; did you mean `random`?",
            "9: this is a bare number, not a string with a unit; write the value with its unit, such as \"4KiB\"",
            "10: `170%` is more than 100%; write it like \"70%\"",
            "11: `many` is no whole number; write a whole number from 0 to 4294967295, without quotes, such as 4",
            "12: `dept` is no key of a job; did you mean `depth`?",
            "13: the arrival has no rate; add `rate`, such as \"20000/s\", or write \"closed\"",
        ],
    );
}

/// A rate of I/Os that is no whole number, or that has a unit of sizes, was once taken for so many bytes a second.
#[test]
fn a_rate_without_a_b_is_one_of_ios() {
    let one = |rate: &str| {
        format!(
            "target = {{ path = '/f', size = '1MiB' }}\n[[stage]]\nmeasure = '1s'\n[[stage.job]]\narrival = {{ rate = '{rate}' }}"
        )
    };
    let hint = "write it like \"20000/s\"";
    for (rate, told) in [
        ("1.5/s", "is no whole number of I/Os a second"),
        ("1.0005k/s", "is no whole number of I/Os a second"),
        (
            "20K/s",
            "has the unknown unit `K/s`; expected a rate such as `20000/s` or `20k/s`",
        ),
        (
            "4g/s",
            "has the unknown unit `g/s`; expected a rate such as `20000/s` or `20k/s`",
        ),
    ] {
        check_refused(&one(rate), &[&format!("5: `{rate}` {told}; {hint}")]);
    }
    check_refused(
        &one("x MB/s"),
        &[
            "5: `x MB/s` is not a rate of bytes such as `500MB/s` or `64MiB/s`; write it like \"500MB/s\"",
        ],
    );
    let arrival = |rate: &str| {
        let (workload, _) = read(&one(rate), "t").unwrap();
        let job = workload.stages[0].jobs[0].clone();
        match job.arrival {
            Arrival::Open { rate, .. } => rate,
            Arrival::Closed => panic!("{rate}: closed"),
        }
    };
    assert_eq!(arrival("1.5k/s"), Pacing::Iops(Iops::new(1500)));
    assert_eq!(arrival("20 MB/s"), Pacing::Bytes(BytesPerSec::mb(20)));
    assert_eq!(arrival("512B/s"), Pacing::Bytes(BytesPerSec::new(512)));
}

#[test]
fn what_is_no_measure_is_told_with_its_reason() {
    for (measure, told) in [
        ("1h30x", "is neither a time nor a size"),
        ("-1s", "is neither a time nor a size"),
        (
            "999999999h",
            "is too large: the most is `213503d`, which are 584 years",
        ),
        ("99EB", "is too large: the most is a byte less than `16EiB`"),
        ("90", "has no unit"),
        ("1M", "is no time, and a size ends in `B` here"),
    ] {
        let text = format!("[[stage]]\nmeasure = \"{measure}\"");
        check_refused(
            &text,
            &[&format!(
                "2: `{measure}` {told}; write it like \"60s\", \"10GiB\", \"one-pass\" or {{ ios = 1000 }}"
            )],
        );
    }
}

#[test]
fn structures_are_checked() {
    check_refused(
        "seed = 1",
        &["1: the workload has no stages; give at least one stage"],
    );
    let hint = "name a file with a workload in it";
    let empty = format!("0: `t` is empty; {hint}");
    check_refused("", &[&empty]);
    let comments = format!("0: `t` holds nothing but comments; {hint}");
    check_refused("# none\n", &[&comments]);
    check_refused(
        "stage = 3",
        &["1: this is a bare number, not a list of tables; write `[[stage]]` with two brackets"],
    );
    check_refused(
        "target = { path = '/f', size = '1MiB' }\n[[stage]]\nmeasure = 60\n[[stage.job]]\nprocess = { nice = 50 }",
        &[
            "3: this is a bare number, not a time or a size; write it like \"60s\", \"10GiB\", \"one-pass\" or { ios = 1000 }",
            "5: `nice` is no whole number from -20 to 19; write one without quotes, such as 10",
        ],
    );
    check_refused(
        "[[stage]]\nname = \"a\"",
        &["2: stage `a`: it has no jobs; give it at least one job"],
    );
    check_refused(
        "target = { path = \"/f\", directory = \"/d\" }\n[[stage]]\n[[stage.job]]\nname = \"a\"\nmeasure = \"1s\"",
        &[
            "1: the target has both `path` and `directory`; give `path` for what exists, or `directory` for a fresh file in it",
        ],
    );
}

#[test]
fn contradictions_point_at_their_line() {
    check_refused(
        r#"
[[stage]]
name = "a"
repeats = 0
[[stage.job]]
name = "b"
target = { directory = "/d", offset = "1KiB" }
block = "1000B"
workers = 0
mix = { read = "70%" }
measure = "0s"
"#,
        &[
            "4: stage `a`: it has 0 repeats; give at least 1",
            "7: job `b`: the fresh file in `/d` has no size; give a size, such as `1GiB`",
            "8: job `b`: a block of 1000 bytes is no multiple of 512, which direct I/O needs; use a multiple, or buffered I/O",
            "9: job `b`: it has 0 workers; give at least 1",
            "10: job `b`: its mix of reads, writes and trims adds up to 70 %, not 100 %; change a share",
            "11: job `b`: its measured time is 0; give a time such as `60s`",
        ],
    );
}

/// A job may take its target from the file: what is wrong with it is shown there.
#[test]
fn a_target_of_the_file_is_shown_where_it_stands() {
    let rest = "[[stage]]\nmeasure = \"1s\"\n[[stage.job]]\nname = \"j\"\n";
    check_refused(
        &format!("seed = 1\ntarget = \"\"\n{rest}"),
        &[
            "2: job `j`: a target's path is empty or holds a zero byte; name a file, a device or a directory",
        ],
    );
    check_refused(
        &format!("seed = 1\n[target]\npath = \"/f\"\nsize = \"1KiB\"\n{rest}"),
        &[
            "2: job `j`: its blocks of 4 KiB do not fit into the 1 KiB of `/f`; use a smaller block or a larger size",
        ],
    );
}

#[test]
fn a_job_without_target_or_end_is_refused() {
    check_refused(
        "[[stage]]\n[[stage.job]]\nname = \"a\"\n",
        &["2: job `a` has no target; add `target` to it, or `[target]` at the start of the file"],
    );
    check_refused(
        "target = \"/f\"\n[[stage]]\n[[stage.job]]\nname = \"a\"\n",
        &[
            "3: job `a` has no end; add `measure`, such as \"60s\", or \"one-pass\" for all of the target once",
        ],
    );
}

#[test]
fn broken_toml_is_told_with_its_line() {
    check_refused(
        "a = \nb = 3\n[[stage]\n",
        &[
            "1: this is no TOML: string values must be quoted, expected literal string; write words, and values with a unit, between quotes, such as \"4KiB\"",
            "3: this is no TOML: unclosed array table, expected `]`; see toml.io for the format",
        ],
    );
}

#[test]
fn depth_of_a_synchronous_job_is_warned_of() {
    let text = OLTP.replace("workers = 4", "backend = \"sync\"");
    let (_, warnings) = read(&text, "t").unwrap();
    let messages: Vec<&str> = warnings
        .0
        .iter()
        .map(|found| found.message.as_str())
        .collect();
    assert_eq!(
        messages,
        ["`depth` is 32, but the backend `sync` has 1 outstanding"]
    );
}

/// One mistake is told once, with what to do.
#[test]
fn limits_are_kept() {
    let text = |keys: &str| {
        format!("[target]\npath = \"/f\"\nsize = \"1GiB\"\n[[stage]]\n[[stage.job]]\n{keys}")
    };
    check_refused(
        &text("latency_target = { most = \"0ms\", percentile = \"101%\" }"),
        &[
            "6: no more than 100 % of the I/Os can keep to a limit; write it like \"99.9%\"",
            "6: `most` is no time, and no I/O takes none; give a time such as \"2ms\"",
        ],
    );
    check_refused(
        &text("lines = [{ size = \"4KiB\", burst = 0 }]"),
        &["6: this must be at least 1; write 1 or more"],
    );
    check_refused(
        &text("depth = \"four\""),
        &[
            "6: `four` is no whole number; write a whole number from 0 to 4294967295, without quotes, such as 4",
        ],
    );
}

#[test]
fn one_mistake_is_told_once() {
    for (line, told) in [
        (
            "calls = { polled = 101 }",
            "job `stage 1`: 101 % of its I/Os are polled for; give 0 to 100",
        ),
        (
            "trace = ''",
            "the path of the trace is empty; name its file, or leave the key out",
        ),
        (
            "trace = { path = '/a', merge = [''] }",
            "the path of the trace is empty; name its file, or leave the key out",
        ),
        (
            "trace_to = ''",
            "the path of the trace is empty; name its file, or leave the key out",
        ),
        (
            "measure = {}",
            "the measure says nothing; write it like \"60s\", \"10GiB\", \"one-pass\" or { ios = 1000 }",
        ),
    ] {
        let text = format!("target = '/f'\n[[stage]]\nmeasure = '1s'\n[[stage.job]]\n{line}");
        check_refused(&text, &[&format!("5: {told}")]);
    }
}

/// Lines of one job, each with its complaint.
#[test]
fn what_is_meant_is_said_in_the_hint() {
    let number = "write a whole number from 0 to 4294967295, without quotes, such as 4";
    let zipf = "where random I/Os fall is said by `placement`, beside `access`: placement = { distribution = \"zipf:1.1\" }";
    let shares = "write both shares, such as { read = \"70%\", write = \"30%\" }";
    for (line, told, hint) in [
        (
            "name = ''",
            "the name is empty",
            "write one that tells it from others, or leave `name` out",
        ),
        (
            "host = ' '",
            "the name is empty",
            "write one that tells it from others, or leave `name` out",
        ),
        ("mix = '70'", "`70` is no value of this key", shares),
        ("mix = '70%'", "`70%` is no value of this key", shares),
        (
            "mix = 70",
            "this is a bare number, not a mix",
            "write it like \"read\" or { read = \"70%\", write = \"30%\" }",
        ),
        (
            "depth = 4294967296",
            "`4294967296` is more than 4294967295, the most that can be counted here",
            number,
        ),
        ("depth = -1", "`-1` is below 0", number),
        ("depth = '16B'", "`16B` is no whole number", number),
        ("depth = 1.5", "`1.5` is no whole number", number),
        (
            "access = 'zipf:1.2'",
            "`zipf:1.2` is no value of this key",
            zipf,
        ),
        (
            "access = { random = 'zipf' }",
            "the access has no kind",
            zipf,
        ),
        (
            "access = { random = '30%' }",
            "the access has no kind",
            "`random` is a share of I/Os: write { kind = \"mixed\", random = \"30%\" }",
        ),
        (
            "arrival = '100/s'",
            "`100/s` is no value of this key",
            "write { rate = \"100/s\" }",
        ),
        (
            "start_delay = '-1s'",
            "`-1s` is below 0; expected a time with its unit, such as `30s`, `1.5ms`, `10min` or `1h30m`",
            "write it like \"30s\"",
        ),
        (
            "steady = { metric = 'iops', limit = '0.3', window = '1s' }",
            "`0.3` is no percentage above 0",
            "write it with its sign, such as \"99.9%\"",
        ),
        (
            "placement = { distribution = 'zipf' }",
            "`zipf` needs a number behind it",
            "write it like \"zipf:1.1\", \"normal:20\" or \"zoned:60/10:40/90\"",
        ),
    ] {
        let text = format!("target = '/f'\n[[stage]]\nmeasure = '1s'\n[[stage.job]]\n{line}");
        check_refused(&text, &[&format!("5: {told}; {hint}")]);
    }
}

/// What fio takes, a section without a name, comes back from what was written of it.
#[test]
fn an_empty_name_is_read_where_fathom_wrote_it() {
    let text = "target = '/f'\n[[stage]]\nmeasure = '1s'\n[[stage.job]]\nname = ''\n";
    let (workload, _) = read_written(text, "t").unwrap();
    assert_eq!(workload.stages[0].jobs[0].name, "");
}

#[test]
fn what_is_no_toml_is_told_by_what_stands_there() {
    let hint = "leave one of the two out; of a list of tables each is written `[[name]]`";
    check_refused(
        "seed = 1\nseed = 2\n",
        &[&format!(
            "2: `seed` stands here for the second time; {hint}"
        )],
    );
    check_refused(
        "[target]\npath = '/f'\n[target]\nsize = '1MiB'\n",
        &[&format!(
            "3: `target` stands here for the second time; {hint}"
        )],
    );
    check_refused(
        &format!("block = {}", "[".repeat(500)),
        &[
            "1: this is no TOML: cannot recurse further; max recursion depth met; nest fewer lists and tables: a workload needs no more than five in one another",
        ],
    );
    check_refused(
        "s\0e\0e\0d\0",
        &["1: this is no text: it holds zero bytes; name a text file, or save it as UTF-8"],
    );
}
