//! Features with a table of their own: what is read, survives its file, and is refused.

use super::*;

/// Jobs with placements and fillings: as read, and as written and read again.
#[track_caller]
fn check_kept(keys: &str) -> Job {
    let job = job(keys);
    let stage = Stage {
        name: "kept".to_owned(),
        jobs: vec![job.clone()],
        cooldown: Nanos::ZERO,
        repeats: 1,
        discard: false,
        rate_from: None,
    };
    let workload = Workload {
        stages: vec![stage],
        seed: 1,
    };
    let text = write(&workload);
    let again = parse(&text);
    assert_eq!(again, workload, "{text}");
    job
}

#[test]
fn placements_survive_their_file() {
    let placed = |keys: &str| {
        let job = check_kept(&format!("placement = {{ {keys} }}"));
        *job.features.placement.unwrap()
    };
    assert_eq!(placed(""), Placement::default());
    let zipf = Distribution::Zipf {
        theta: 1.2,
        center: Some(0.25),
    };
    let rules = placed(
        "distribution = \"zipf:1.2:0.25\", random = \"80%\", ios_per_target = 3, targets_at_once = 2",
    );
    assert_eq!(rules.distribution, [zipf.clone(), zipf.clone(), zipf]);
    assert_eq!(rules.random, [Percent::whole(80).unwrap(); 3]);
    assert_eq!((rules.ios_per_target, rules.targets_at_once), (3, Some(2)));
    let rules = placed(
        "distribution = { write = \"zoned:60/10:40/90\" }, target_distribution = \"normal:20\"",
    );
    assert_eq!(rules.distribution[0], Distribution::Uniform);
    assert_eq!(rules.distribution[1].to_string(), "zoned:60/10:40/90");
    let rules = placed("skip = \"-8KiB\", between = \"identical\", past_end = true");
    assert_eq!((rules.skip, rules.between), (-8192, Between::Identical));
    let rules = placed("zones = { size = \"64KiB\", skip = \"1MiB\" }");
    let zones = rules.zones.unwrap();
    assert_eq!((zones.range, zones.skip), (Bytes::kib(64), Bytes::mib(1)));
    let rules =
        placed("ranges = { read = \"1KiB-4KiB\" }, unaligned = false, alignment = \"512B\"");
    assert_eq!(rules.ranges[0].unwrap().least, Bytes::kib(1));
    assert_eq!((rules.ranges[1], rules.unaligned), (None, false));
    let rules = placed("sequential_sizes = \"4KiB\", random_sizes = \"1KiB-4KiB\"");
    assert!(rules.by_order.is_some());
    let flash = check_kept(
        "mix = \"write\"\naccess = \"independent\"\nplacement = { conditioning = { over_provisioning = \"28.5%\", regions = 8, \
         cache = \"1MiB\" } }",
    );
    let flash = flash.features.placement.unwrap().conditioning.unwrap();
    assert_eq!(flash.over_provisioning.basis_points(), 2850);
    assert_eq!((flash.regions, flash.cache), (8, Bytes::mib(1)));
    let odd = check_kept("caching = \"buffered\"\nplacement = { unaligned = true }");
    assert!(odd.features.placement.unwrap().unaligned);
    let pairs = check_kept(
        "mix = { write = \"50%\", trim = \"50%\" }\nplacement = { trim_then_write = true }",
    );
    assert!(pairs.features.placement.unwrap().trim_then_write);
}

#[test]
fn numa_nodes_survive_their_file() {
    let process = |keys: &str| {
        let job = check_kept(&format!("process = {{ {keys} }}"));
        (job.features.process.nodes, job.features.process.memory)
    };
    let only = |numbers: &[u32]| NodeSet::Only(numbers.iter().copied().collect());
    let but = |numbers: &[u32]| NodeSet::AllBut(numbers.iter().copied().collect());
    for (keys, nodes, memory) in [
        (
            "nodes = [2, 0, 2]",
            Some(only(&[0, 2])),
            MemoryPolicy::Default,
        ),
        ("nodes = \"all\"", Some(NodeSet::ALL), MemoryPolicy::Default),
        (
            "nodes = { all_but = [1] }",
            Some(but(&[1])),
            MemoryPolicy::Default,
        ),
        ("memory = \"local\"", None, MemoryPolicy::Local),
        ("memory = { prefer = 3 }", None, MemoryPolicy::Prefer(3)),
        (
            "memory = { bind = [0] }",
            None,
            MemoryPolicy::Bind(only(&[0])),
        ),
        (
            "memory = { interleave = \"all\" }",
            None,
            MemoryPolicy::Interleave(NodeSet::ALL),
        ),
    ] {
        assert_eq!(process(keys), (nodes, memory), "{keys}");
    }
}

#[test]
fn wrong_numa_nodes_are_told() {
    for (keys, message) in [
        ("nodes = []", "the list names no NUMA node"),
        ("nodes = [1024]", "NUMA nodes have numbers up to 1023"),
        ("nodes = \"some\"", "`some` names no NUMA nodes"),
        (
            "nodes = { but = [0] }",
            "`but` is no key of a set of NUMA nodes",
        ),
        ("memory = \"near\"", "`near` is no placement of memory"),
        (
            "memory = {}",
            "a placement of memory has one key of its three",
        ),
        (
            "memory = { prefer = 0, bind = [0] }",
            "a placement of memory has one key of its three",
        ),
        ("memory = { bind = [] }", "the list names no NUMA node"),
        (
            "memory = { prefer = [0] }",
            "this is a list, not a whole number",
        ),
    ] {
        let text = format!(
            "target = \"/f\"\n[[stage]]\nmeasure = \"1s\"\n[[stage.job]]\nname = \"j\"\nprocess = {{ {keys} }}\n"
        );
        let errors = read(&text, "f").unwrap_err().to_string();
        assert!(errors.contains(message), "{keys}: {errors}");
    }
}

#[test]
fn lines_survive_their_file() {
    let job = check_kept(
        "lines = [{ size = \"4KiB\", weight = 60, read = \"80%\" }, { size = \"64KiB\", weight = 40, random = \"0%\", delay = \"5ms\", burst = 8, alignment = \"4KiB\", reply = \"512B\" }]",
    );
    let [small, large] = job.features.lines.as_slice() else {
        panic!("{:?}", job.features.lines)
    };
    assert_eq!((small.weight, small.burst, small.reply), (60, 1, None));
    assert_eq!((large.burst, large.delay), (8, Nanos::from_millis(5)));
    assert_eq!(large.alignment, Some(Bytes::kib(4)));
    // What the job does not say, the lines do.
    assert_eq!(job.block.largest(job.mix), Bytes::kib(64));
    assert!(job.mix.write > Percent::ZERO);
    assert!(matches!(job.access, Access::Mixed { .. }));
}

#[test]
fn wrong_lines_are_told() {
    let check = |keys: &str, message: &str| {
        let text = format!(
            "target = {{ path = \"/f\", size = \"1GiB\" }}\n[[stage]]\nmeasure = \"1s\"\n[[stage.job]]\n{keys}\n"
        );
        let errors = read(&text, "f").unwrap_err().to_string();
        assert!(errors.contains(message), "{keys}: {errors}");
    };
    check("lines = []", "there are no lines");
    check("lines = [{ read = \"1%\" }]", "the line has no size");
    check(
        "lines = [{ size = \"4KiB\", weight = 0 }]",
        "no line has a weight",
    );
    check("lines = [{ size = \"5000B\" }]", "no multiple of 512");
    check(
        "mix = \"write\"\nlines = [{ size = \"4KiB\" }]",
        "do not agree on reads",
    );
    check(
        "block = \"4KiB\"\nlines = [{ size = \"8KiB\" }]",
        "lines of up to 8 KiB",
    );
    check(
        "placement = {}\nlines = [{ size = \"4KiB\" }]",
        "`placement` does not go with lines",
    );
    let open = "arrival = { rate = \"9/s\" }\nlines = [{ size = \"4KiB\", delay = \"1s\" }]";
    check(open, "`arrival` does not go with lines");
}

#[test]
fn fillings_survive_their_file() {
    let filled = |keys: &str| {
        let job = check_kept(&format!("mix = \"write\"\nfilling = {{ {keys} }}"));
        *job.features.filling.unwrap()
    };
    let rules = filled("pattern = '\"ab\"%o0xff', compress = \"30%\", chunk = \"512B\"");
    let pattern = rules.pattern.unwrap();
    assert_eq!((pattern.bytes().len(), pattern.offsets().len()), (11, 1));
    assert_eq!((rules.compress, rules.chunk), (30, Some(Bytes::new(512))));
    assert!(!rules.anywhere);
    assert!(filled("pattern = '\"ab\"', anywhere = true").anywhere);
    let rules = filled("dedupe = { blocks = \"20%\", working_set = \"5%\", global = true }");
    let from = DedupeFrom::WorkingSet {
        percent: 5,
        global: true,
    };
    assert_eq!(rules.dedupe, Some(Dedupe { percent: 20, from }));
    assert_eq!(
        filled("dedupe = { blocks = \"20%\" }").dedupe.unwrap().from,
        DedupeFrom::Last
    );
}

#[test]
fn wrong_placements_are_told() {
    let check = |keys: &str, message: &str| {
        let text = format!(
            "target = {{ path = \"/f\", size = \"1GiB\" }}\n[[stage]]\nname = \"s\"\n[[stage.job]]\n{keys}\n"
        );
        let errors = read(&text, "f").unwrap_err().to_string();
        assert!(errors.contains(message), "{keys}: {errors}");
    };
    check(
        "placement = { distribution = \"zipf:1\" }",
        "no theta from 0",
    );
    check(
        "placement = { skip = \"far\" }",
        "`far` is no size with its unit",
    );
    check(
        "placement = { ranges = \"4KiB\" }",
        "`4KiB` is no range of sizes",
    );
    check(
        "placement = { unaligned = true }",
        "do not go with direct I/O",
    );
    check(
        "placement = { ranges = \"4KiB-8KiB\" }",
        "it has sizes up to 8 KiB, but its blocks end at 4 KiB",
    );
    check(
        "placement = { random_sizes = \"4KiB\" }",
        "one of two lists of sizes is missing",
    );
    check(
        "placement = { ios_per_target = 0 }",
        "each picked target gets 0 I/Os",
    );
    check(
        "placement = { targets_at_once = 0 }",
        "0 targets are used at the same time",
    );
    check(
        "placement = { trim_then_write = true }",
        "its mix has reads",
    );
    check(
        "placement = { zones = { size = \"0B\" } }",
        "its zones have no bytes",
    );
    check("filling = { pattern = \"'file'\" }", "holds no file names");
    check(
        "filling = { compress = \"0.5%\" }",
        "no whole number of percent",
    );
    check(
        "filling = { dedupe = { blocks = \"0%\" } }",
        "is no percentage",
    );
}

#[test]
fn a_rate_from_an_earlier_stage_survives_its_file() {
    let job = "[[stage.job]]\nname = \"j\"\ntarget = \"/dev/sdx\"\nmeasure = \"9s\"\n";
    let text = |rate: &str| {
        format!(
            "[[stage]]\nname = \"max\"\n{job}[[stage]]\nname = \"half\"\nrate_from = {{ {rate} }}\n{job}\
             arrival = {{ rate = \"1/s\" }}\n"
        )
    };
    let workload = parse(&text(
        "stage = \"max\", percent = \"12.5%\", round = \"up-to-hundreds\", shares = \"as-measured\"",
    ));
    let expected = crate::RateFrom {
        stage: 0,
        percent: 12.5,
        rounding: crate::RateRounding::UpToHundreds,
        shares: crate::RateShares::AsMeasured,
    };
    assert_eq!(workload.stages[1].rate_from, Some(expected));
    assert_eq!(parse(&write(&workload)), workload);
    for (rate, complaint) in [
        (
            "stage = \"half\", percent = \"50%\"",
            "no stage before this one is called `half`",
        ),
        ("stage = \"max\", percent = \"50\"", "`50` is no percentage"),
        (
            "stage = \"max\", percent = \"0%\"",
            "0 % is no share of a rate",
        ),
        ("stage = \"max\"", "`rate_from` needs `percent`"),
    ] {
        let refused = read(&text(rate), "w.toml").unwrap_err();
        assert!(refused.to_string().contains(complaint), "{refused}");
    }
}

#[test]
fn calls_survive_their_file() {
    let job = check_kept(
        "calls = { advice = \"random\", polled = 30, uncached = true }\nbackend = \"sync\"",
    );
    let expected = Calls {
        advice: Advice::Random,
        polled: 30,
        uncached: true,
        ..Calls::default()
    };
    assert_eq!(job.features.calls, expected);
    let thread = |keys: &str| check_kept(keys).features.calls.submitter;
    let any = Some(Submitter { processor: None });
    assert_eq!(thread("calls = { submitter = true }"), any);
    assert_eq!(thread("calls = { submitter = false }"), None);
    let first = Some(Submitter { processor: Some(0) });
    assert_eq!(thread("calls = { submitter = 0 }"), first);
}

#[test]
fn calls_that_a_backend_does_not_have_are_told() {
    let check = |keys: &str, complaint: &str| {
        let text = format!(
            "[[stage]]\nname = \"s\"\n[[stage.job]]\nname = \"j\"\ntarget = \"/dev/sdx\"\nmeasure = \"9s\"\n{keys}\n"
        );
        let refused = read(&text, "w.toml").unwrap_err().to_string();
        assert!(refused.contains(complaint), "{refused}");
    };
    check(
        "calls = { polled = 101 }",
        "101 % of its I/Os are polled for",
    );
    check(
        "calls = { polled = 50 }",
        "some are polled for and some are not",
    );
    check("calls = { submitter = 4096 }", "taken on processor 4096");
    check(
        "backend = \"sync\"\ncalls = { async_every = 2 }",
        "the backend `sync` has no `async_every`",
    );
    check(
        "backend = \"libaio\"\ncalls = { uncached = true }",
        "the backend `libaio` has no `uncached`",
    );
    check(
        "calls = { advice = \"randomly\" }",
        "did you mean `random`?",
    );
}
