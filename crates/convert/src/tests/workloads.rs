//! Workloads of every kind, most of which some dialect can say.

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};
use fathom_workload::*;
use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

fn kib() -> impl Strategy<Value = Bytes> {
    (0u32..9).prop_map(|bits| Bytes::kib(1 << bits))
}

fn blocks() -> impl Strategy<Value = BlockSizes> {
    let list = |size: Bytes| vec![WeightedSize { size, weight: 1 }];
    let weighted = vec((kib(), select(vec![1u32, 5, 10, 20])), 1..4).prop_map(|sizes| {
        sizes
            .into_iter()
            .map(|(size, weight)| WeightedSize { size, weight })
            .collect::<Vec<_>>()
    });
    let by_direction = (kib(), kib(), kib()).prop_map(move |(read, write, trim)| BlockSizes {
        read: list(read),
        write: list(write),
        trim: list(trim),
        alignment: None,
    });
    let split = (weighted, option::of(kib())).prop_map(|(sizes, alignment)| BlockSizes {
        read: sizes.clone(),
        write: sizes.clone(),
        trim: sizes,
        alignment,
    });
    prop_oneof![4 => kib().prop_map(BlockSizes::uniform), 1 => by_direction, 1 => split]
}

fn percent() -> impl Strategy<Value = Percent> {
    prop_oneof![
        4 => (0u32..=100).prop_map(|whole| Percent::whole(whole).unwrap()),
        1 => (0u32..=10_000).prop_map(|points| Percent::from_basis_points(points).unwrap()),
    ]
}

fn mixes() -> impl Strategy<Value = Mix> {
    prop_oneof![
        Just(Mix::READ),
        Just(Mix::WRITE),
        Just(Mix::TRIM),
        percent().prop_map(Mix::reads),
        percent().prop_map(|write| Mix {
            read: Percent::ZERO,
            write,
            trim: write.rest()
        }),
    ]
}

fn accesses() -> impl Strategy<Value = Access> {
    let coverage = select(vec![Coverage::EachBlockOnce, Coverage::Independent]);
    let random = (coverage, select(vec![1u32, 1, 1, 8]))
        .prop_map(|(coverage, run)| Access::Random { coverage, run });
    let scope = select(vec![
        SequentialScope::PerWorker,
        SequentialScope::PerWorker,
        SequentialScope::Shared,
    ]);
    let gap = prop_oneof![3 => Just(Bytes::ZERO), 1 => kib()];
    let ordered = (gap, scope).prop_map(|(gap, scope)| Access::Sequential { gap, scope });
    prop_oneof![3 => random, 3 => ordered, 1 => percent().prop_map(|random| Access::Mixed { random })]
}

fn times() -> impl Strategy<Value = Nanos> {
    prop_oneof![
        3 => (1u64..100).prop_map(Nanos::from_secs),
        1 => (1u64..10_000).prop_map(Nanos::from_millis),
        1 => (1u64..1 << 40).prop_map(Nanos::new),
    ]
}

fn maybe_time() -> impl Strategy<Value = Nanos> {
    prop_oneof![2 => Just(Nanos::ZERO), 1 => times()]
}

prop_compose! {
    fn limits()(
        (start_delay, warmup) in (maybe_time(), maybe_time()),
        (runtime, over) in (option::of(times()), any::<bool>()),
        bytes in option::of((1u64..4_000).prop_map(Bytes::mib)),
        ios in option::of(1u64..10_000),
        loops in 0u32..4,
    ) -> Limits {
        Limits { start_delay, warmup, runtime, time_based: over && runtime.is_some(), bytes, ios, loops }
    }
}

fn pacings() -> impl Strategy<Value = Pacing> {
    prop_oneof![
        (1u64..1 << 30).prop_map(|rate| Pacing::Iops(Iops::new(rate))),
        (1u64..1 << 40).prop_map(|rate| Pacing::Bytes(BytesPerSec::new(rate))),
    ]
}

fn arrivals() -> impl Strategy<Value = Arrival> {
    let poisson = select(vec![Poisson::Fixed, Poisson::Exponential]);
    let open = (pacings(), poisson).prop_map(|(rate, poisson)| Arrival::Open {
        rate,
        poisson,
        when_full: WhenFull::Queue,
    });
    prop_oneof![3 => Just(Arrival::Closed), 1 => open]
}

prop_compose! {
    fn targets()(
        paths in vec("/d/[a-z:' \\\\]{1,9}", 1..3),
        (offset, length) in (select(vec![0u64, 0, 1, 64]), option::weighted(0.8, 1u64..8)),
        fresh in prop::bool::weighted(0.1),
    ) -> Vec<Target> {
        let target = |path: String| Target {
            place: if fresh { Place::FreshFileIn(path) } else { Place::Path(path) },
            offset: Bytes::mib(offset),
            length: length.or(fresh.then_some(1)).map(Bytes::gib),
        };
        paths.into_iter().map(target).collect()
    }
}

fn distributions() -> impl Strategy<Value = Distribution> {
    let texts = [
        "uniform",
        "uniform",
        "zipf:1.1",
        "zipf:0.5:0.25",
        "pareto:0.2",
        "normal:20:0.75",
        "zoned:60/10:40/90",
        "zoned_abs:60/4096B:40/1048576B",
        "sequence:2,0,1",
        "sequence:7:stride",
    ];
    select(texts.to_vec()).prop_map(|text| text.parse().unwrap())
}

prop_compose! {
    fn placements()(
        distribution in distributions(),
        random in percent(),
        skip in select(vec![0i64, 0, 4096, -8192]),
        identical in prop::bool::weighted(0.2),
        range in option::weighted(0.2, 0u32..2),
        alignment in option::of(kib()),
        zones in option::weighted(0.2, (1u64..9, 1u64..9, 0u64..9)),
        ios_per_target in select(vec![1u32, 1, 7]),
        targets_at_once in option::weighted(0.2, 1u32..3),
        past_end in prop::bool::weighted(0.1),
        joined in prop::bool::weighted(0.1),
        stride in option::weighted(0.1, 0u64..3),
        conditioning in option::weighted(0.1, (0u32..=10_000, 1u32..200, 0u64..3)),
    ) -> Placement {
        if let Some((points, regions, cache)) = conditioning {
            return Placement {
                conditioning: Some(Conditioning {
                    over_provisioning: Percent::from_basis_points(points).unwrap(),
                    regions,
                    cache: Bytes::mib(cache),
                }),
                ..Placement::default()
            };
        }
        if joined || stride.is_some() {
            let own = if joined { distribution } else { Distribution::Uniform };
            return Placement {
                distribution: [own.clone(), own.clone(), own],
                joined,
                stride: stride.filter(|_| !joined).map(Bytes::kib),
                ..Placement::default()
            };
        }
        let range = range.map(|bits| SizeRange { least: Bytes::new(512), most: Bytes::kib(1 << bits) });
        Placement {
            distribution: [distribution.clone(), distribution.clone(), distribution],
            random: [random; 3],
            skip,
            between: if identical { Between::Identical } else { Between::Sequential },
            ranges: [range; 3],
            alignment: [alignment; 3],
            zones: zones.map(|(size, range, skip)| ZoneStride {
                size: Bytes::mib(size),
                range: Bytes::mib(range),
                skip: Bytes::mib(skip),
            }),
            ios_per_target,
            targets_at_once,
            past_end,
            ..Placement::default()
        }
    }
}

prop_compose! {
    fn pacing()(
        think in option::weighted(0.2, (1u64..10_000, any::<bool>(), 1u32..9, 0u64..3)),
        batches in option::weighted(0.2, (1u32..9, 0u32..9, 1u32..9, 0u32..9)),
        rates in option::weighted(0.2, (option::of(pacings()), option::of(pacings()))),
        flow in option::weighted(0.2, (0u32..9, 1u32..9, 0u64..9)),
        target in option::weighted(0.2, (1u64..10_000, 1u64..9, 0u32..=100)),
        steady in option::weighted(0.2, (0usize..3, any::<bool>(), 1u32..10_000, 2u64..60)),
        serialized in prop::bool::weighted(0.2),
        think_cycles in select(vec![0u32, 0, 0, 7, u32::MAX]),
        minimum in option::weighted(0.2, (option::of(pacings()), pacings(), 1u64..5000)),
    ) -> Features {
        Features {
            think: think.map(|(micros, issued, every, after)| ThinkTime {
                pause: Nanos::from_micros(micros),
                spin: Nanos::from_micros(micros / 2),
                every,
                counts: if issued { ThinkCounts::Issued } else { ThinkCounts::Completed },
                after: Nanos::from_secs(after),
                stops_rate: every % 2 == 0,
            }),
            think_cycles,
            minimum: minimum.map(|(read, write, millis)| MinimumRates {
                rates: [read, Some(write), None],
                cycle: Nanos::from_millis(millis),
            }),
            batches: batches.map(|(submit, complete_min, complete_max, low)| Batches {
                submit, complete_min, complete_max, low,
            }),
            rates: rates.map(|(read, write)| DirectionRates { rates: [read, write, None], poisson: Poisson::Fixed }),
            flow: flow.map(|(id, weight, pause)| Flow { id, weight, pause: Nanos::from_micros(pause) }),
            latency_target: target.map(|(most, window, percentile)| LatencyTarget {
                most: Nanos::from_micros(most),
                window: Nanos::from_secs(window),
                percentile: f64::from(percentile),
                then: AfterFound::Ends,
            }),
            steady: steady.map(|(metric, slope, limit, window)| SteadyState {
                metric: [SteadyMetric::Iops, SteadyMetric::Bandwidth, SteadyMetric::Latency][metric],
                judgement: if slope { SteadyJudgement::Slope } else { SteadyJudgement::Deviation },
                limit: if slope { SteadyLimit::Percent(f64::from(limit) / 100.0) } else { SteadyLimit::Absolute(f64::from(limit)) },
                window: Nanos::from_secs(window),
                ramp: Nanos::ZERO,
                interval: Nanos::from_secs(1),
            }),
            overlaps: if serialized { Overlaps::Serialized } else { Overlaps::Allowed },
            ..Features::default()
        }
    }
}

fn node_sets() -> impl Strategy<Value = NodeSet> {
    let numbers = || btree_set(0u32..9, 1..4);
    prop_oneof![
        Just(NodeSet::ALL),
        numbers().prop_map(NodeSet::Only),
        numbers().prop_map(NodeSet::AllBut),
    ]
}

fn memory_policies() -> impl Strategy<Value = MemoryPolicy> {
    prop_oneof![
        16 => Just(MemoryPolicy::Default),
        1 => Just(MemoryPolicy::Local),
        1 => (0u32..9).prop_map(MemoryPolicy::Prefer),
        1 => node_sets().prop_map(MemoryPolicy::Bind),
        1 => node_sets().prop_map(MemoryPolicy::Interleave),
    ]
}

prop_compose! {
    fn features()(
        pacing in pacing(),
        placement in option::weighted(0.3, placements()),
        filling in option::weighted(0.2, (option::of(vec(any::<u8>(), 1..20)), 0u8..100, option::of(kib()), option::of(1u8..100))),
        (processors, split, nice) in (vec(0u32..64, 0..3), any::<bool>(), select(vec![0i32, 0, 5])),
        io_priority in option::weighted(0.2, (0u8..4, 0u8..8)),
        (nodes, memory) in (option::weighted(0.1, node_sets()), memory_policies()),
        (window, each) in (option::weighted(0.2, (1u64..999).prop_map(Nanos::from_millis)), prop::bool::weighted(0.1)),
        (pre_read, must_exist, end_syncfs) in any::<(bool, bool, bool)>(),
        grows in select(vec![Growth::No, Growth::No, Growth::Whole, Growth::Reserved(Reserve::Nothing),
            Growth::Reserved(Reserve::Allocate), Growth::Reserved(Reserve::KeepSize), Growth::Reserved(Reserve::Truncate)]),
        ignored in vec(1i32..100, 0..3),
        shares in option::weighted(0.2, (0u32..=100, 0u16..4, 0u16..8)),
        verify in option::weighted(0.2, (select(Checksum::ALL.to_vec()), any::<bool>(), any::<bool>())),
        (advice, polled, async_every, thread) in (select(vec![Advice::None, Advice::ByPattern, Advice::ByPattern, Advice::Random, Advice::Once]), any::<bool>(), 0u32..3, option::weighted(0.2, option::of(0u32..9))),
        lifetime in option::weighted(0.2, select(vec![Lifetime::Unknown, Lifetime::Short, Lifetime::Extreme])),
        operation in option::weighted(0.1, select(vec![FileOperation::Create, FileOperation::Stat(StatCall::Lstat), FileOperation::Allocate])),
    ) -> Features {
        Features {
            placement: placement.map(Box::new),
            filling: filling.map(|(bytes, compress, chunk, dedupe)| Box::new(Filling {
                anywhere: false,
                pattern: bytes.and_then(|bytes| Pattern::new(bytes, Vec::new())),
                compress,
                chunk,
                dedupe: dedupe.map(|percent| Dedupe { percent, from: DedupeFrom::Last }),
            })),
            process: Process {
                sharing: if split { ProcessorSharing::Split } else { ProcessorSharing::Shared },
                processors,
                nodes,
                memory,
                nice,
                io_priority: io_priority.map(|(class, level)| ThreadPriority { class, level, hint: 0 }),
                ..Process::default()
            },
            io_log: IoLog { each, window, histogram: None },
            files: FileHandling { pre_read, must_exist, make_parents: false, made_anew: false, end_syncfs, sync_range: None,
                grows },
            errors: ErrorHandling { ignored: [ignored.clone(), Vec::new(), ignored], ..ErrorHandling::default() },
            priorities: shares.map(|(percent, class, level)| Box::new(Priorities {
                read: vec![PriorityShare { size: None, percent, priority: IoPriority::new(class, 0, level).unwrap() }],
                write: Vec::new(),
            })),
            verify: verify.filter(|(kind, ..)| !kind.needs_pattern()).map(|(kind, each, sequence)| Box::new(Verify {
                repeats: if each { VerifyRepeats::EachWrite } else { VerifyRepeats::LastWrite },
                sequence: if sequence { HeaderCheck::Compared } else { HeaderCheck::Ignored },
                ..Verify::new(kind)
            })),
            operation,
            calls: Calls {
                advice, async_every, lifetime,
                polled: if polled { 100 } else { 0 },
                submitter: thread.map(|processor| Submitter { processor }),
                ..Calls::default()
            },
            ..pacing
        }
    }
}

prop_compose! {
    fn line()(
        (weight, size) in (select(vec![1u32, 1, 10, 25, 0]), kib()),
        (read, random) in (percent(), percent()),
        (delay, burst) in (select(vec![0u64, 0, 3, 1_000]), select(vec![1u32, 1, 8])),
        (alignment, reply) in (option::of(kib()), option::weighted(0.2, kib())),
    ) -> AccessLine {
        AccessLine { weight, size, read, random, delay: Nanos::from_millis(delay), burst, alignment, reply, target: None }
    }
}

prop_compose! {
    fn jobs()(
        (name, host, targets) in (".{0,9}", option::weighted(0.1, "[a-z]{1,3}"), targets()),
        (file_choice, workers, depth) in (select(vec![FileChoice::RoundRobin, FileChoice::Random, FileChoice::Sequential]), 1u32..5, 1u32..64),
        (mix, access, block, arrival, limits) in (mixes(), accesses(), blocks(), arrivals(), limits()),
        sync in (select(vec![OpenSync::None, OpenSync::Sync, OpenSync::Dsync]), 0u32..3, 0u32..3, any::<(bool, bool)>()),
        contents in select(vec![BufferContents::RandomEachWrite, BufferContents::RandomStamped, BufferContents::RandomOnce, BufferContents::Zeroes]),
        backend in select(vec![Backend::IoUring, Backend::Libaio, Backend::Sync, Backend::Mmap, Backend::Null]),
        (direct, ours, together) in any::<(bool, bool, bool)>(),
        switches in any::<(bool, bool, bool)>(),
        (salt, group) in (0u64..9, 0u32..4),
        features in option::of(features()),
        lines in option::weighted(0.15, vec(line(), 1..5)),
    ) -> Job {
        let mut job = Job {
            name, host, targets, file_choice, workers, depth, mix, access, block, arrival, limits, contents, backend, salt,
            group: ReportGroup { id: group, together },
            sync: SyncPolicy { open: sync.0, fsync_every: sync.1, fdatasync_every: sync.2, at_end: sync.3.0, on_close: sync.3.1 },
            caching: if direct { Caching::Direct } else { Caching::Buffered },
            existing: if ours { ExistingFiles::OnlyOurs } else { ExistingFiles::AsPeer },
            split_latency: switches.0,
            drop_cache: switches.1,
            unlink: switches.2,
            features: features.unwrap_or_default(),
        };
        let calls = &mut job.features.calls;
        if !matches!(job.backend, Backend::IoUring) {
            (calls.async_every, calls.submitter) = (0, None);
        }
        if !matches!(job.backend, Backend::IoUring | Backend::Sync) {
            calls.polled = 0;
        }
        if let Some(mut lines) = lines {
            // At least one is drawn, and nothing else has a say in the same.
            lines[0].weight += 1;
            job.set_lines(lines);
            job.arrival = Arrival::Closed;
            job.file_choice = FileChoice::RoundRobin;
            let features = &mut job.features;
            (features.placement, features.rates, features.verify, features.operation) = (None, None, None, None);
        }
        let minimum = job.features.minimum.take();
        job.features.minimum = minimum.and_then(|it| it.only(|way| job.moves(way)));
        job
    }
}

prop_compose! {
    pub fn workloads()(
        stages in vec((vec(jobs(), 1..4), maybe_time(), 1u32..3, prop::bool::weighted(0.1)), 1..3),
        seed in select(vec![0u64, 0x89, 7, u64::MAX]),
    ) -> Workload {
        let stages = (1..).zip(stages).map(|(number, (jobs, cooldown, repeats, discard))| Stage {
            name: format!("stage {number}"),
            jobs,
            cooldown,
            repeats,
            discard,
            rate_from: None,
        });
        Workload { stages: stages.collect(), seed }
    }
}
