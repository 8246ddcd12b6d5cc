//! Command lines that DISKSPD 2.2 takes or refuses, after the combinations that its own unit tests try.

use super::*;

/// Lines that DISKSPD takes.
const TAKEN: &[&str] = &[
    // Affinity; processors of another group are known to a profile alone.
    "-a f",
    "-ag f",
    "-a1,4,6 f",
    "-a0-3,8 f",
    "-ag0,1,4,6 f",
    "-Rp -ag0,1,4,6,g1,2,5,7 f",
    "-Rp -ag0,1,4,6 -ag1,2,5,7 f",
    "-acs f",
    "-aup f",
    "-b4K -w84 -a1,4,6 f g",
    "-n -w84 f",
    // The part of the target that is used.
    "f",
    "-B5m f",
    "-B5m:1m f",
    "-B5m -f6m f",
    "-o123 -B512k f",
    "-c23m -f4M f",
    // Hints, caches, mapped files.
    "-fs f",
    "-fr f",
    "-ft f",
    "-frst f",
    "-h f",
    "-S f",
    "-Sh f",
    "-Sr f",
    "-Sbw f",
    "-Swu f",
    "-Sb -Sw f",
    "-Sw -Su f",
    "-Sm f",
    "-Sbm f",
    "-Smw f",
    "-Sm -Nv f",
    "-Sm -Nn f",
    "-Sm -NI f",
    // Times, threads, rates.
    "-x f",
    "-z1234 f",
    "-z f",
    "-C12 -W345 f",
    "-W0 -C0 f",
    "-d12 -P345 f",
    "-P f",
    "-i23 -j567 f",
    "-F23 -g567 f",
    "-t23 -T512K f",
    "-F2 -T512K f",
    "-F23 -O8 f",
    "-F23 -O8 f g",
    "-b128K -g10i f",
    "-g1024 f",
    "-I1 f",
    "-I3 f",
    "-L f",
    "-D f",
    "-D250 f",
    "-l f",
    "-v f",
    "-vs f",
    // Event tracing.
    "-ep f",
    "-ePROCESS f",
    "-eTHREAD f",
    "-eIMAGE_LOAD f",
    "-eDISK_IO f",
    "-eNETWORK f",
    "-eREGISTRY f",
    "-eMEMORY_PAGE_FAULTS f",
    "-eMEMORY_HARD_FAULTS f",
    "-eq f",
    "-es f",
    "-ec f",
    // What is written.
    "-Z f",
    "-Zr f",
    "-Z2M f",
    "-Rp -Z3M,x:\\foo\\bar.baz f",
    // Order.
    "-p f",
    "-p -o8 -t2 f",
    "-r23M f",
    "-s567K f",
    "-si f",
    "-si567K f",
    "-t2 -si f",
    "-s4K f",
    "-s0 f",
    "-rs50 f",
    "-rs50 -r8k f",
    "-r8k -rs50 f",
    "-rs50 -r f",
    "-r -rs50 f",
    "-rs100 -r f",
    "-rs100 -r8k f",
    "-r -rs100 f",
    "-r8k -rs100 f",
    // Distributions.
    "-rdpct10/10:10/10:0/10 -r f",
    "-r8k -rdpct10/10:10/10:0/10 f",
    "-r8k -rdabs10/1G:10/1G:0/100G f",
    "-r8k -rs50 -rdpct10/10 f",
    "-r8k -rdpct10/10 -rs50 f",
    "-rdabs10/1G:10/1G:0/100G -r f",
    "-rdpct90/10 -rs50 -r8k f",
    "-rdpct100/100 -r f",
    "-rdabs100/1G -r f",
    // Formats.
    "-Rtext f",
    "-Rxml f",
    "-Rp f",
    "-Rptext f",
    "-Rpxml f",
    "-r f g",
];

#[test]
fn lines_that_diskspd_takes_are_taken() {
    for line in TAKEN {
        accepted(line);
    }
}

/// Lines that DISKSPD refuses, and part of what is said of each.
const REFUSED: &[(&str, &str)] = &[
    ("-ag0 f", "whole group"),
    ("-agg f", "no group"),
    ("-ag,0,1,2 f", "no group"),
    ("-a1, f", "no processor"),
    ("-ag1,0, f", "no processor"),
    ("-ag1,0,g f", "no group"),
    ("-ag1,0,g2 f", "no processor"),
    ("-ax f", "no processor"),
    ("-ag0,300 f", "no processor"),
    ("-ag70000,1 f", "no group"),
    ("-a5-2 f", "backwards"),
    ("-apP f", "several orders"),
    ("-n -a1,2 f", "contradict"),
    ("-B5m:1m -f6m f", "given twice"),
    ("-B5m:1m -B5m:1m f", "given twice"),
    ("-B5m:1m -B5m f", "given twice"),
    ("-B5m -B5m f", "given twice"),
    ("-f5m -f6m f", "given twice"),
    ("-B5mx f", "no size"),
    ("-B5m: f", "no size"),
    ("-B5m:j f", "no size"),
    ("-B5m:1x f", "no size"),
    ("-B5m:1mx f", "no size"),
    ("-B f", "no size"),
    ("-c f", "no size"),
    ("-cx f", "no size"),
    ("-f f", "neither a size nor a hint"),
    ("-frx f", "neither a size nor a hint"),
    ("-Sub f", "contradict"),
    ("-Sbu f", "contradict"),
    ("-Sru f", "contradict"),
    ("-Smu f", "contradict"),
    ("-Sum f", "contradict"),
    ("-Sb -h f", "contradict"),
    ("-h -Sb f", "contradict"),
    ("-Sm -h f", "contradict"),
    ("-h -Sm f", "contradict"),
    ("-Suw -h f", "contradict"),
    ("-h -Suw f", "contradict"),
    ("-S -Su f", "contradict"),
    ("-Sb -Sb f", "contradict"),
    ("-Sm -Sm f", "contradict"),
    ("-Sww f", "contradict"),
    ("-Sx f", "no cache setting"),
    ("-Nv f", "mapped"),
    ("-Sm -Nx f", "no way to flush"),
    ("-x -Sm f", "`-Sm`"),
    ("-x -g5 f", "`-g`"),
    ("-gi100 f", "no rate"),
    ("-g0 f", "rate is 0"),
    ("-g0i f", "rate is 0"),
    ("-g f", "no rate"),
    ("-gi f", "no rate"),
    ("-g100x f", "no rate"),
    ("-F2 -t2 f", "how many threads"),
    ("-F2 -O4 -g5 f", "does not go with"),
    ("-F2 -O4 -i2 -j5 f", "does not go with"),
    ("-F2 -O4 -p f", "does not go with"),
    ("-F0 f", "`-F0`: it is 0"),
    ("-t0 f", "`-t0`: it is 0"),
    ("-o0 f", "`-o0`: it is 0"),
    ("-d-1 f", "`-d-1`: `-1` is no number below 2^32"),
    ("-dx f", "hint: write digits right behind"),
    ("-d4294967296 f", "hint: give less"),
    (
        "-t99999999999 f",
        "`-t99999999999`: `99999999999` is no number",
    ),
    ("-zz f", "`-zz`: `z` is no seed"),
    ("-i5 f", "think time"),
    ("-j5 f", "think time"),
    ("-I4 f", "no priority"),
    ("-I0 f", "no priority"),
    ("-w f", "percentage of writes"),
    ("-w101 f", "`-w101`: 101 % of writes"),
    ("-eNOTHING f", "no event"),
    ("-T4K f", "several threads"),
    ("-t2 -T0 f", "stride between threads is 0"),
    ("-t2 -T4K -si f", "share a position"),
    ("-t2 -T4K -r f", "sequential"),
    ("-p -r f", "sequential"),
    ("-p -si f", "own or shared"),
    ("-rs50 -s8k f", "leave `-s` out"),
    ("-s8k -rs50 f", "leave `-s` out"),
    ("-rs50 -s f", "leave `-s` out"),
    ("-s -rs50 f", "leave `-s` out"),
    ("-r -s f", "exclude each other"),
    ("-s -r f", "exclude each other"),
    ("-s -rs50 -r f", "leave `-s` out"),
    ("-s8k -r -rs50 f", "exclude each other"),
    ("-rs50 -s -r8k f", "leave `-s` out"),
    ("-s -s8k f", "given twice"),
    ("-s8k -s8k f", "given twice"),
    ("-r -r8k f", "given twice"),
    ("-r8k -r f", "given twice"),
    ("-r -r f", "given twice"),
    ("-r8k -r4k f", "given twice"),
    ("-rs50 -rs50 f", "given twice"),
    ("-r0 f", "it is 0"),
    ("-rs0 -r f", "0 %"),
    ("-rs101 f", "101 %"),
    ("-rs f", "no number"),
    ("-rdpct90/10 -s f", "random offsets"),
    ("-rdpct90/10 f", "random offsets"),
    ("-rd -r f", "no distribution"),
    ("-rdfoo -r f", "no distribution"),
    ("-rdfoo10/1G:10/1G:0/100G -r f", "no distribution"),
    ("-rdpctBAD -r f", "no range"),
    ("-rdabsBAD -r f", "no range"),
    ("-rdpct10 -r f", "no range"),
    ("-rdabs10 -r f", "no range"),
    ("-rdpct10[ -r f", "no range"),
    ("-rdpct10/ -r f", "no percentage"),
    ("-rdabs10/ -r f", "no size"),
    ("-rdpct10/BAD -r f", "no percentage"),
    ("-rdabs10/BAD -r f", "no size"),
    ("-rdpct10/10[ -r f", "no percentage"),
    ("-rdabs10/10g[ -r f", "no size"),
    ("-rdpct10/10: -r f", "no range"),
    ("-rdabs10/10g:BAD -r f", "no range"),
    ("-rdpct101/10 -r f", "101 %"),
    ("-rdpct60/10:60/10 -r f", "120 %"),
    ("-rdabs101/10g -r f", "101 %"),
    ("-rdabs60/10g:60/10g -r f", "120 %"),
    ("-rdpct10/50:10/50 -r f", "used up"),
    ("-rdpct10/50:10/60 -r f", "used up"),
    ("-rdpct10/0 -r f", "no length"),
    ("-rdpct60/10:10/0 -r f", "no length"),
    ("-rdabs10/0 -r f", "no length"),
    ("-rdabs60/10g:10/0 -r f", "no length"),
    ("-rdabs10/10 -r f", "smaller than a block"),
    ("-R f", "no format"),
    ("-Rjson f", "no format"),
    ("-Rpjson f", "no format"),
    ("-Rsxml f", "stands alone"),
    ("-vx f", "no option"),
    ("-z1x f", "no seed"),
    ("-Zx f", "no size"),
    ("-Z0 f", "no bytes"),
    ("-Z1K f", "smaller than a block"),
    ("-B1G -f1M f", "nothing is left"),
    ("-b4G f", "4294967296 bytes"),
    ("-b0 f", "0 bytes"),
    ("-b4.5K f", "no size"),
    ("-b 4K f", "no size stands behind"),
    ("-t 4 f", "no number stands behind"),
    ("-b99999999999T f", "past 2^63"),
    ("f -r", "before the targets"),
    ("f g -r", "before the targets"),
    ("f -r g", "before the targets"),
    ("-b4K", "no target"),
    ("-q f", "no option of DISKSPD"),
];

#[test]
fn lines_that_diskspd_refuses_are_refused_with_a_remedy() {
    for (line, part) in REFUSED {
        refused(line, part);
    }
}

/// What DISKSPD takes, or would only find out later, and we do not.
#[test]
fn lines_that_mean_nothing_here_are_refused_with_a_remedy() {
    for (line, part) in [
        ("–b8K f", "no keyboard has"),
        ("- f", "alone"),
        ("-d0 f", "`-d0`: it takes no time"),
        ("-c4K f", "not one block"),
        ("-ysgo f", "Windows"),
        ("-ag1,0 f", "one group of processors"),
        ("-F2 -O4 -B1M -s4K f g", "overlap"),
        ("-F2 -O4 -si4K f g", "overlap"),
        ("-Z1M,absent -w50 f", "cannot be read"),
        ("-Z1M, f", "no file"),
        ("*1", "stands for a target"),
        ("-c1G -Su -b1000 f", "512"),
        ("-t4000000000 f", "65536 threads"),
        ("-F40000 f g", "65536 threads"),
        ("-p -o4000 -t40 f", "65536 threads"),
    ] {
        refused(line, part);
    }
}

#[test]
fn what_has_no_effect_is_told() {
    for (line, part) in [
        ("-O4 f", "without a pool"),
        ("-p -o1 f", "one I/O outstanding"),
        ("-si f", "nobody to share"),
        ("-t2 f", "-si"),
        ("-F2 -O4 -s4K -w50 f g", "position of their own"),
        ("-l f", "no effect"),
        ("-Sr f", "whole page cache"),
        ("-Smr f", "no effect on a mapped file"),
        ("-c1M -f2M f", "made smaller"),
        ("-P f", "no dots"),
    ] {
        let warnings = accepted(line).warnings.to_string();
        assert!(warnings.contains(part), "{line}\n{warnings}");
    }
}

#[test]
fn a_cool_down_is_the_same_once_more_of_which_nothing_is_told() {
    let input = accepted("-c1M -W3 -d2 -C5 -D100 -w30 -o4 f g");
    assert!(input.warnings.0.is_empty(), "{}", input.warnings);
    let [measured, cooling] = input.workload.stages.as_slice() else {
        panic!("{:?}", input.workload.stages);
    };
    assert!(!measured.discard && cooling.discard);
    let times = |stage: &Stage| {
        let limits = stage.jobs.iter().map(|job| job.limits);
        limits
            .map(|it| (it.warmup, it.runtime.unwrap()))
            .collect::<Vec<_>>()
    };
    let seconds = Nanos::from_secs;
    assert_eq!(times(measured), [(seconds(3), seconds(2)); 2]);
    assert_eq!(times(cooling), [(seconds(0), seconds(5)); 2]);
    let log = |stage: &Stage| stage.jobs[0].features.io_log;
    assert_eq!(log(cooling), IoLog::default());
    assert_ne!(log(measured), IoLog::default());
    let like = |stage: &Stage| {
        let mut jobs = stage.jobs.clone();
        for job in &mut jobs {
            job.limits = Limits::default();
            job.features.io_log = IoLog::default();
        }
        jobs
    };
    assert_eq!(like(measured), like(cooling));
    assert_eq!([0, 1].map(|stage| input.span_of(stage)), [0, 0]);
    assert_eq!(input.places.len(), 2);
    assert!(Tally::of_stage(&input, 1).is_empty());
    assert_eq!(accepted("-c1M -C0 f").workload.stages.len(), 1);
}

#[test]
fn each_outstanding_io_may_have_a_position_of_its_own() {
    let input = accepted("-c1G -p -o4 -t2 -a0,1 f");
    let job = &input.workload.stages[0].jobs[0];
    assert_eq!((job.workers, job.depth, job.backend), (8, 1, Backend::Sync));
    let threads: Vec<u32> = input.places[0].iter().map(|place| place.thread).collect();
    assert_eq!(threads, [0, 0, 0, 0, 1, 1, 1, 1]);
    assert_eq!(job.features.process.processors, [0, 0, 0, 0, 1, 1, 1, 1]);
    let jobs = jobs("-c1G -p -o4 -t2 -T1M f");
    assert_eq!(
        (jobs[1].workers, jobs[1].targets[0].offset),
        (4, Bytes::mib(1))
    );
}

#[test]
fn positions_of_their_own_share_the_rate_of_their_thread() {
    #[track_caller]
    fn check(line: &str, expected: Pacing) {
        let arrival = &jobs(line)[0].arrival;
        assert!(
            matches!(arrival, Arrival::Open { rate, .. } if *rate == expected),
            "{line}: {arrival:?}"
        );
    }
    let iops = |count| Pacing::Iops(fathom_units::Iops::new(count));
    let bytes = |count| Pacing::Bytes(fathom_units::BytesPerSec::new(count));
    check("-c1G -b4K -o4 -g100i f", iops(100));
    check("-c1G -b4K -p -o4 -g100i f", iops(25));
    // 10 of 4 KiB a second among four: two and a half each.
    check("-c1G -b4K -p -o4 -g10i f", bytes(10_240));
    check("-c1G -b4K -p -o4 -g100 f", bytes(25_000));
    let burst = jobs("-c1G -p -o4 -t2 -i16 -j100 f")[0].features.think;
    assert_eq!(burst.map(|think| think.every), Some(2));
}

/// Lest the targets that are over wait for the others.
#[test]
fn walks_of_targets_that_weigh_alike_are_picked_by_weight() {
    let is_by_weight = |line: &str| {
        let placement = jobs(line)[0].features.placement.clone();
        let uniform = fathom_workload::Distribution::default();
        placement.is_some_and(|it| it.target_distribution != uniform)
    };
    assert!(is_by_weight("-c1G -F2 -O4 a b"));
    assert!(!is_by_weight("-c1G -F2 -O4 -r a b"));
    assert!(!is_by_weight("-c1G -F2 -O4 a"));
}

#[test]
fn threads_of_a_pool_share_their_ios_out() {
    let input = accepted("-c1G -F3 -O8 -r -b4K f g");
    let jobs = &input.workload.stages[0].jobs;
    assert_eq!((jobs.len(), jobs[0].workers, jobs[0].depth), (1, 3, 8));
    assert_eq!(jobs[0].targets.len(), 2);
    assert_eq!(jobs[0].file_choice, fathom_workload::FileChoice::Random);
    assert!(jobs[0].features.io_log.each);
    assert_eq!(input.places[0][2].targets, [0, 1]);
}

#[test]
fn distributions_and_short_strides_are_placements() {
    let placement = |line: &str| jobs(line)[0].features.placement.clone().unwrap();
    let partly = placement("-c1G -rdpct90/10 -rs50 -r8k f");
    assert_eq!(partly.distribution[0].to_string(), "zoned:90/10:10/90");
    assert_eq!(partly.stride, Some(Bytes::kib(8)));
    let rest = placement("-c1G -rdabs10/1G:0/1G -r f").distribution[0].to_string();
    assert!(
        rest.starts_with("zoned_abs:10/1073741824B:0/1073741824B:90/4"),
        "{rest}"
    );
    let stride = |line: &str| placement(line).stride.map(Bytes::get);
    assert_eq!(stride("-c1G -b64K -s4K f"), Some(4096));
    assert_eq!(stride("-c1G -b64K -s0 f"), Some(0));
    assert_eq!(stride("-c1G -b64K -B1M -s4K f"), Some(4096));
    assert_eq!(stride("-c1G -b64K -t2 -T1M -s4K f"), Some(4096));
    assert_eq!(stride("-c1G -b64K -t2 -si4K f"), Some(4096));
    assert_eq!(placement("-c1G -b64K -F2 -O4 -s4K f g").skip, -61_440);
    assert_eq!(stride("-c1G -b4K -rs50 -r64K f"), Some(65_536));
    assert_eq!(stride("-c1G -b4K -rs50 -r512 f"), Some(512));
    let pooled = placement("-c1G -b4K -F2 -O4 -rs50 -r64K f g");
    assert_eq!((pooled.stride, pooled.skip), (None, 61_440));
    assert_eq!(pooled.random[0].basis_points(), 5000);
    assert!(jobs("-c1G -rs50 f")[0].features.placement.is_none());
}

/// What follows a random I/O of `-rs` begins one alignment after it, whichever way each goes.
#[test]
fn sequences_between_random_offsets_go_by_the_alignment() {
    use fathom_workload::generator::{SharedCursor, StreamKey, TargetRange, WorkerStream};
    for (line, step) in [
        ("-c1G -b4K -w50 -rs20 -r64K f", 65_536),
        ("-c1G -b64K -w50 -rs20 -r4K f", 4096),
        ("-c1G -b4K -w50 -rs20 -r64K -rdpct90/10 f", 65_536),
        ("-c1G -b4K -w50 -rs20 f", 4096),
    ] {
        let job = jobs(line).remove(0);
        let range = TargetRange {
            offset: 0,
            length: 1 << 30,
        };
        let key = StreamKey {
            seed: 1,
            job: 0,
            worker: 0,
            salt: 0,
        };
        let mut stream = WorkerStream::new(&job, key, &[range], &SharedCursor::new()).unwrap();
        let offsets: Vec<u64> = std::iter::from_fn(|| stream.next_io())
            .take(10_000)
            .map(|io| io.offset)
            .collect();
        let follows = offsets.windows(2).filter(|two| two[1] == two[0] + step);
        let count = follows.count();
        assert!(count.abs_diff(8000) < 200, "{line}: {count}");
        let aligned = offsets.iter().all(|at| at.is_multiple_of(step));
        assert!(aligned, "{line}");
    }
}

/// Where the first I/Os of each thread begin.
#[test]
fn overlapping_strides_begin_where_they_are_told() {
    use fathom_workload::generator::{SharedCursor, StreamKey, TargetRange, WorkerStream};
    let starts = |line: &str| {
        let mut starts = Vec::new();
        for job in &jobs(line) {
            let target = &job.targets[0];
            let range = TargetRange {
                offset: target.offset.get(),
                length: target.length.unwrap().get(),
            };
            let shared = SharedCursor::new();
            let key = |worker| StreamKey {
                seed: 1,
                job: 0,
                worker,
                salt: 0,
            };
            let streams =
                (0..job.workers).map(|it| WorkerStream::new(job, key(it), &[range], &shared));
            let mut streams: Vec<_> = streams.map(Result::unwrap).collect();
            for _ in 0..2 {
                starts.extend(
                    streams
                        .iter_mut()
                        .map(|it| it.next_io().unwrap().offset >> 10),
                );
            }
        }
        starts
    };
    assert_eq!(starts("-c1G -b64K -B1M -s4K f"), [1024, 1028]);
    assert_eq!(starts("-c1G -b64K -t2 -T1M -s4K f"), [0, 4, 1024, 1028]);
    assert_eq!(starts("-c1G -b64K -t2 -si4K f"), [0, 4, 8, 12]);
    assert_eq!(starts("-c1G -b64K -B64K -t2 -s32K f"), [64, 64, 96, 96]);
}

#[test]
fn processors_go_round_over_all_threads() {
    let jobs = jobs("-c1G -t2 -a3,4,5 f g");
    assert_eq!(jobs[0].features.process.processors, [3, 4, 5]);
    assert_eq!(jobs[1].features.process.processors, [5, 3, 4]);
}

#[test]
fn written_data_may_come_from_a_file() {
    let files = Named::with("data", vec![7u8; 3 << 20]);
    let line = words("-c1G -w100 -Z2M,data f");
    let input = read(&line, 0, &files).unwrap();
    let filling = input.workload.stages[0].jobs[0].features.filling.clone();
    let filling = filling.unwrap();
    assert!(filling.anywhere);
    assert_eq!(filling.pattern.unwrap().bytes().len(), 1 << 20);
    assert!(input.warnings.to_string().contains("first MiB"));
}

#[test]
fn a_file_that_is_shorter_than_asked_for_is_told() {
    let files = Named::with("f", vec![7u8; 1 << 20]);
    for (line, part) in [
        (
            "-f2M f",
            Some("`f` has 1 MiB, and is asked for up to 2 MiB"),
        ),
        ("-B512K:1M f", Some("up to 1.5 MiB")),
        ("-f1M f", None),
        ("f", None),
        ("-c2M f", None),
    ] {
        let mut workload = read(&words(line), 0, &files).unwrap().workload;
        let warnings = fit_to_files(&mut workload, &files);
        assert_eq!(warnings.0.len(), usize::from(part.is_some()), "{line}");
        let part = part.unwrap_or("");
        assert!(warnings.to_string().contains(part), "{line}\n{warnings}");
    }
}

#[test]
fn a_missing_directory_is_made_for_a_file_that_is_made() {
    let files = Named::with("/there", Vec::new());
    for (line, makes) in [
        ("-c1M /missing/sub/f", true),
        ("-c1M /there/f", false),
        // DISKSPD makes those of whole paths alone.
        ("-c1M missing/f", false),
        ("-c1M /there/f /missing/g", true),
        ("-f1M /missing/f", false),
    ] {
        let mut workload = read(&words(line), 0, &files).unwrap().workload;
        fit_to_files(&mut workload, &files);
        let made = |job: &Job| job.features.files.make_parents;
        assert_eq!(workload.stages[0].jobs.iter().any(made), makes, "{line}");
    }
}

/// The page cache holds a mapped file, so that no block must be whole sectors.
#[test]
fn a_mapped_file_is_cached() {
    let job = &jobs("-c1M -b5000 -Smr f")[0];
    assert_eq!(
        (job.backend, job.caching),
        (Backend::Mmap, Caching::Buffered)
    );
}
