//! Keys that users of other tools try first, and how the native file says the same.

/// A table of the file, the words of others, and what to do.
type Said = (&'static str, &'static [&'static str], &'static str);

/// fio's options, the words of DISKSPD's and Vdbench's files, and keys of one table written in another.
const SAID: &[Said] = &[
    (
        "a workload",
        &["job", "jobs", "global"],
        "jobs stand in a stage: write `[[stage.job]]` below `[[stage]]`",
    ),
    (
        "a workload",
        &["runtime", "duration", "measure", "warmup", "repeats"],
        "that is said of a stage: write `measure`, `warmup` and `repeats` below `[[stage]]`",
    ),
    (
        "a stage",
        &["jobs"],
        "jobs of a stage are written `[[stage.job]]`, each below such a line",
    ),
    (
        "a stage",
        &["runtime", "time", "duration", "elapsed", "timeout"],
        "how long is measured is `measure`, such as \"60s\"",
    ),
    (
        "a stage",
        &["ramp_time", "warm_up", "ramp"],
        "here it is `warmup`, such as \"10s\"",
    ),
    (
        "a stage",
        &["loops", "iterations", "repeat"],
        "here it is `repeats`",
    ),
    (
        "a stage",
        &[
            "depth", "workers", "block", "mix", "access", "arrival", "backend", "caching", "target",
        ],
        "that is said of a job: write it below `[[stage.job]]`",
    ),
    (
        "a job",
        &["numjobs", "threads", "thread", "thread_count", "jobs"],
        "here it is `workers`: threads, each with I/O of its own",
    ),
    (
        "a job",
        &["iodepth", "qd", "queue_depth", "outstanding"],
        "here it is `depth`: I/Os outstanding of each worker",
    ),
    (
        "a job",
        &["bs", "blocksize", "block_size", "xfersize"],
        "here it is `block`, such as \"8KiB\"",
    ),
    (
        "a job",
        &[
            "rw",
            "readwrite",
            "rwmixread",
            "rwmixwrite",
            "rdpct",
            "read",
            "write",
        ],
        "reads and writes are `mix`, such as { read = \"70%\", write = \"30%\" }; random or sequential is `access`",
    ),
    (
        "a job",
        &["pattern", "random", "sequential", "seekpct"],
        "here it is `access`: \"random\", \"independent\" or \"sequential\"",
    ),
    (
        "a job",
        &["runtime", "time", "duration", "time_based", "elapsed"],
        "here it is `measure`, such as \"60s\"",
    ),
    (
        "a job",
        &["loops", "number_ios", "io_size"],
        "here it is in `measure`, such as { passes = 2 }, { ios = 1000 } or { bytes = \"1GiB\" }",
    ),
    (
        "a job",
        &["ramp_time", "warm_up", "ramp"],
        "here it is `warmup`, such as \"10s\"",
    ),
    (
        "a job",
        &["ioengine", "engine"],
        "here it is `backend`: \"io_uring\", \"libaio\", \"sync\", \"mmap\", \"nbd\" or \"null\"",
    ),
    (
        "a job",
        &["direct", "buffered", "cache"],
        "here it is `caching`: \"direct\" or \"buffered\"",
    ),
    (
        "a job",
        &[
            "filename",
            "file",
            "path",
            "directory",
            "lun",
            "size",
            "filesize",
            "offset",
        ],
        "that is said of a target: target = { path = \"/mnt/data\", size = \"20GiB\" }",
    ),
    (
        "a job",
        &["rate", "rate_iops", "iorate", "iops"],
        "here it is `arrival`, such as { rate = \"5000/s\" }, of each worker",
    ),
    (
        "a job",
        &["thinktime", "think_time"],
        "here it is `think`, such as { pause = \"10ms\", every = 1 }",
    ),
    (
        "a job",
        &["fsync", "fdatasync"],
        "here it is `sync`, such as { fsync_every = 1 }",
    ),
    (
        "a job",
        &["stonewall", "wait_for_previous", "wait_for"],
        "what runs later stands in a `[[stage]]` of its own, or has `after`",
    ),
    (
        "a job",
        &["random_distribution", "distribution", "zipf"],
        "here it is `placement`, such as { distribution = \"zipf:1.1\" }",
    ),
    (
        "a job",
        &["seed", "randseed"],
        "`seed` is said once, at the head of the file; `salt` makes jobs differ or agree",
    ),
    (
        "a target",
        &["filename", "file", "device", "lun"],
        "here it is `path`",
    ),
    ("a target", &["filesize", "length"], "here it is `size`"),
];

/// What to write in place of `name`, a key of `table` in the words of other tools.
pub(super) fn said_here(table: &str, name: &str) -> Option<&'static str> {
    let said = SAID
        .iter()
        .find(|(of, names, _)| *of == table && names.contains(&name));
    said.map(|(_, _, hint)| *hint)
}

/// Tables that people write as something else: the table, its key, and what may be written.
const EXAMPLES: &[(&str, &str, &str)] = &[
    (
        "a mix",
        "mix",
        "\"read\" or { read = \"70%\", write = \"30%\" }",
    ),
    (
        "an access",
        "access",
        "\"random\" or { kind = \"mixed\", random = \"30%\" }",
    ),
    (
        "an arrival",
        "arrival",
        "\"closed\" or { rate = \"5000/s\" }",
    ),
    (
        "a target",
        "target",
        "\"/dev/nvme0n1\" or { path = \"/mnt/data\", size = \"20GiB\" }; several stand in `targets = [ … ]`",
    ),
    (
        "a sync policy",
        "sync",
        "{ open = \"dsync\" } or { fsync_every = 1 }",
    ),
    ("a group", "group", "{ id = 1, together = true }"),
    (
        "a placement",
        "placement",
        "{ distribution = \"zipf:1.1\" }",
    ),
    ("a filling", "filling", "{ pattern = '0xdeadbeef' }"),
    ("a think time", "think", "{ pause = \"10ms\", every = 1 }"),
    ("a flow", "flow", "{ id = 1, weight = 8 }"),
    (
        "a latency target",
        "latency_target",
        "{ most = \"2ms\", percentile = \"99%\" }",
    ),
    (
        "a steady state",
        "steady",
        "{ metric = \"iops\", judged = \"slope\", limit = \"0.3%\", window = \"60s\" }",
    ),
    ("a validation", "validate", "{ name = \"sd1\" }"),
    (
        "a check",
        "verify",
        "\"crc32c\" or { checksum = \"crc32c\" }",
    ),
    ("batches", "batches", "{ submit = 16 }"),
    (
        "rates by direction",
        "rates",
        "{ read = \"1000/s\", write = \"5MB/s\" }",
    ),
    (
        "rates to keep up",
        "rates_min",
        "{ read = \"500/s\", cycle = \"1s\" }",
    ),
    (
        "rates that follow one another",
        "rate_steps",
        "{ steps = [{ rate = \"1000/s\", length = \"10s\" }, { length = \"5s\" }] }",
    ),
    (
        "a treatment of errors",
        "on_error",
        "{ go_on = [\"read\"] }",
    ),
    (
        "a placement of threads",
        "process",
        "{ processors = [0, 1] }",
    ),
    (
        "a trace",
        "trace",
        "\"io.log\" or { path = \"io.log\", pace = \"100%\" }",
    ),
    ("a treatment of files", "files", "{ must_exist = true }"),
    (
        "what the kernel is told",
        "calls",
        "{ advice = \"random\" }",
    ),
];

/// How `table` may be written.
pub(super) fn example_of(table: &str) -> Option<&'static str> {
    let found = EXAMPLES.iter().find(|(of, _, _)| *of == table);
    found.map(|(_, _, example)| *example)
}

#[cfg(test)]
mod tests {
    use super::{EXAMPLES, SAID};
    use crate::native::read;
    use fathom_diagnostics::Diagnostic;

    #[test]
    fn every_foreign_word_is_answered() {
        for (table, names, hint) in SAID {
            for name in *names {
                let [mut head, mut target, mut stage, mut job] = [const { String::new() }; 4];
                let line = format!("{name} = 1\n");
                match *table {
                    "a workload" => head = line,
                    "a target" => target = line,
                    "a stage" => stage = line,
                    _ => job = line,
                }
                let text = format!(
                    "{head}[target]\npath = \"/f\"\nsize = \"1MiB\"\n{target}[[stage]]\n{stage}[[stage.job]]\n{job}"
                );
                let refused = read(&text, "t").expect_err(&text);
                let hints = refused.0.iter().map(|found| found.hint.as_deref());
                assert_eq!(hints.collect::<Vec<_>>(), [Some(*hint)], "{text}");
            }
        }
    }

    /// A value that is no table is answered with ones that are read.
    #[test]
    fn what_is_no_table_is_answered_with_one() {
        for (_, key, examples) in EXAMPLES {
            let text = |value: &str| {
                let head = ["target = '/f'\n", ""][usize::from(*key == "target")];
                format!("{head}[[stage]]\nmeasure = '1s'\n[[stage.job]]\n{key} = {value}\n")
            };
            let refused = read(&text("2020-01-01"), "t").expect_err(key);
            let hint = format!("write it like {examples}");
            assert_eq!(refused.0[0].hint.as_deref(), Some(&*hint), "{key}");
            let examples = examples.split(';').next().unwrap_or_default();
            for example in examples.split(" or ") {
                // What else such a job needs may be missing; what stands in the table is right.
                let wrong = read(&text(example), "t").err().unwrap_or_default();
                let is_of_job = |found: &Diagnostic| found.message.starts_with("job `");
                assert!(wrong.0.iter().all(is_of_job), "{wrong}");
            }
        }
    }

    #[test]
    fn what_the_answers_name_is_read() {
        let jobs = [
            "workers = 2\ndepth = 4\nblock = \"8KiB\"\nmix = { read = \"70%\", write = \"30%\" }",
            "access = \"independent\"\nmeasure = { passes = 2 }\nwarmup = \"10s\"",
            "access = \"sequential\"\nmeasure = { ios = 1000 }\nbackend = \"mmap\"\ncaching = \"buffered\"",
            "measure = { bytes = \"1GiB\" }\narrival = { rate = \"5000/s\" }\nsync = { fsync_every = 1 }",
            "target = { path = \"/mnt/data\", size = \"20GiB\" }\nthink = { pause = \"10ms\", every = 1 }",
            "placement = { distribution = \"zipf:1.1\" }\nsalt = 3\nname = \"last\"\nmeasure = \"60s\"",
            "after = \"last\"",
        ];
        let mut text = String::from(
            "seed = 2\n[target]\npath = \"/f\"\nsize = \"1MiB\"\n[[stage]]\nmeasure = \"60s\"\nwarmup = \"10s\"\nrepeats = 2\n",
        );
        for job in jobs {
            text += "[[stage.job]]\n";
            text += job;
            text += "\n";
        }
        read(&text, "t").unwrap();
    }
}
