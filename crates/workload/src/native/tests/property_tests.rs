//! Nothing is lost in writing: random workloads, written and read again.

use super::*;

fn one_of<T: Copy + std::fmt::Debug>(words: Words<T>) -> impl Strategy<Value = T> {
    (0..words.len()).prop_map(|index| words[index].1)
}

fn sizes() -> impl Strategy<Value = Vec<WeightedSize>> {
    let size = (1u64..5000, 1u32..10).prop_map(|(blocks, weight)| WeightedSize {
        size: Bytes::new(blocks * 512),
        weight,
    });
    vec(size, 1..4)
}

fn blocks() -> impl Strategy<Value = BlockSizes> {
    let uniform = (1u64..5000).prop_map(|blocks| BlockSizes::uniform(Bytes::new(blocks * 512)));
    let alignment = option::of((1u64..5000).prop_map(|blocks| Bytes::new(blocks * 512)));
    let lists = (sizes(), sizes(), sizes(), alignment);
    let lists = lists.prop_map(|(read, write, trim, alignment)| BlockSizes {
        read,
        write,
        trim,
        alignment,
    });
    prop_oneof![uniform, lists]
}

fn percent() -> impl Strategy<Value = Percent> {
    (0u32..=10_000).prop_map(|points| Percent::from_basis_points(points).unwrap())
}

fn mixes() -> impl Strategy<Value = Mix> {
    (percent(), percent()).prop_map(|(read, write)| {
        let write =
            Percent::from_basis_points(write.basis_points().min(read.rest().basis_points()));
        let write = write.unwrap();
        let trim = read.rest().basis_points() - write.basis_points();
        Mix {
            read,
            write,
            trim: Percent::from_basis_points(trim).unwrap(),
        }
    })
}

fn accesses() -> impl Strategy<Value = Access> {
    let random = (any::<bool>(), 1..=u32::MAX).prop_map(|(once, run)| Access::Random {
        coverage: if once {
            Coverage::EachBlockOnce
        } else {
            Coverage::Independent
        },
        run,
    });
    let sequential = (0u64..1 << 40, any::<bool>()).prop_map(|(gap, shared)| Access::Sequential {
        gap: Bytes::new(gap * 512),
        scope: if shared {
            SequentialScope::Shared
        } else {
            SequentialScope::PerWorker
        },
    });
    let mixed = percent().prop_map(|random| Access::Mixed { random });
    prop_oneof![random, sequential, mixed]
}

fn arrivals() -> impl Strategy<Value = Arrival> {
    let open = (1..=u64::MAX, any::<bool>(), any::<bool>());
    let open = open.prop_map(|(rate, bytes, poisson)| Arrival::Open {
        rate: if bytes {
            Pacing::Bytes(BytesPerSec::new(rate))
        } else {
            Pacing::Iops(Iops::new(rate))
        },
        poisson: if poisson {
            Poisson::Exponential
        } else {
            Poisson::Fixed
        },
        when_full: WhenFull::Queue,
    });
    prop_oneof![Just(Arrival::Closed), open]
}

fn limits() -> impl Strategy<Value = Limits> {
    let nanos = || (1..1u64 << 60).prop_map(Nanos::new);
    let end = (option::of(nanos()), any::<bool>());
    let bytes = option::of((1u64 << 30..1 << 50).prop_map(Bytes::new));
    let counts = (option::of(1..u64::MAX), any::<u32>());
    let before = (nanos(), nanos());
    (before, end, bytes, counts).prop_map(|(before, (runtime, over), bytes, (ios, loops))| Limits {
        start_delay: before.0,
        warmup: before.1,
        runtime,
        time_based: over && runtime.is_some(),
        bytes,
        ios,
        loops,
    })
}

fn targets() -> impl Strategy<Value = Vec<Target>> {
    let path = "[^\0]{1,12}";
    let existing = (path, 0u64..1 << 30, option::of(1u64 << 30..1 << 50));
    let existing = existing.prop_map(|(path, blocks, length)| Target {
        place: Place::Path(path),
        offset: Bytes::new(blocks * 512),
        length: length.map(Bytes::new),
    });
    let fresh = (path, 1u64 << 30..1 << 50).prop_map(|(path, length)| Target {
        place: Place::FreshFileIn(path),
        offset: Bytes::ZERO,
        length: Some(Bytes::new(length)),
    });
    vec(prop_oneof![existing, fresh], 1..4)
}

/// Something of every kind that a check may ask for.
fn checks() -> impl Strategy<Value = Verify> {
    let layout = (
        one_of(CHECKSUMS),
        option::of((1u64..5000).prop_map(Bytes::new)),
        0u32..4096,
        vec(any::<u8>(), 1..20),
        option::of((1u64..5000).prop_map(Bytes::new)),
    );
    let counts = (
        option::of((1u32..5000, 1u32..5000)),
        option::of((percent(), 1u32..99, 1u32..99)),
    );
    let words = (any::<[bool; 6]>(), 0usize..4, 0usize..3);
    let files = (
        option::of(".{1,9}"),
        option::of(".{1,9}"),
        option::of(".{1,9}"),
    );
    (layout, counts, words, files).prop_map(|(layout, counts, words, files)| {
        let ([phases, each, sequence, seed, synced, zero], phase, mismatch) = words;
        let check = |compared| {
            if compared {
                HeaderCheck::Compared
            } else {
                HeaderCheck::Ignored
            }
        };
        let kinds = [
            VerifyPhase::AfterPass,
            VerifyPhase::Never,
            VerifyPhase::Only,
            VerifyPhase::Nothing,
        ];
        let ends = [OnMismatch::EndJob, OnMismatch::EndAtOnce, OnMismatch::GoOn];
        Verify {
            interval: layout.1,
            header_offset: layout.2,
            pattern: Pattern::new(layout.3, Vec::new()),
            pattern_interval: layout.4,
            phase: if phases { kinds[phase] } else { kinds[0] },
            backlog: counts.0.map(|(writes, batch)| Backlog { writes, batch }),
            repeats: if each {
                VerifyRepeats::EachWrite
            } else {
                VerifyRepeats::LastWrite
            },
            sequence: check(sequence),
            seed: check(seed),
            on_mismatch: ends[mismatch],
            trust: if synced {
                VerifyTrust::Synced
            } else {
                VerifyTrust::Completed
            },
            dump: files.0,
            save_state: files.1,
            load_state: files.2,
            trims: counts.1.map(|(share, writes, batch)| VerifyTrims {
                share,
                writes,
                batch,
                zero: if zero {
                    TrimmedData::Zeroes
                } else {
                    TrimmedData::Anything
                },
            }),
            ..Verify::new(layout.0)
        }
    })
}

/// Whether a job that follows no trace may be checked at all.
fn may_verify(workers: u32, mix: Mix, access: Access) -> bool {
    let shared = matches!(
        access,
        Access::Sequential {
            scope: SequentialScope::Shared,
            ..
        }
    );
    !shared && (workers == 1 || !mix.changes_data())
}

fn node_sets() -> impl Strategy<Value = NodeSet> {
    let numbers = || btree_set(0..=NODE_MAX, 1..4);
    prop_oneof![
        Just(NodeSet::ALL),
        numbers().prop_map(NodeSet::Only),
        numbers().prop_map(NodeSet::AllBut),
    ]
}

fn memory_policies() -> impl Strategy<Value = MemoryPolicy> {
    prop_oneof![
        Just(MemoryPolicy::Default),
        Just(MemoryPolicy::Local),
        (0..=NODE_MAX).prop_map(MemoryPolicy::Prefer),
        node_sets().prop_map(MemoryPolicy::Bind),
        node_sets().prop_map(MemoryPolicy::Interleave),
    ]
}

prop_compose! {
    fn processes()(
        processors in vec(0u32..4096, 0..3),
        (nodes, memory) in (option::of(node_sets()), memory_policies()),
        (split, nice) in (any::<bool>(), -20i32..=19),
        (locked, user, user_group) in (any::<u64>(), option::of(any::<u32>()), option::of(any::<u32>())),
        io_priority in option::of((0u8..4, 0u8..8, 0u16..1024)),
        (ends, ends_on_error) in (one_of(ENDS), one_of(ENDS)),
        scheduler in option::of(".*"),
        (after, command_before, command_after) in (option::of(".*"), option::of(".*"), option::of(".*")),
    ) -> Process {
        Process {
            processors,
            sharing: if split { ProcessorSharing::Split } else { ProcessorSharing::Shared },
            nodes,
            memory,
            locked_memory: Bytes::new(locked),
            user,
            user_group,
            nice,
            io_priority: io_priority.map(|(class, level, hint)| ThreadPriority { class, level, hint }),
            scheduler,
            after,
            ends,
            ends_on_error,
            command_before,
            command_after,
        }
    }
}

prop_compose! {
    /// What holds a job back or ends it by its results.
    fn pacing()(
        think in option::of((any::<u64>(), any::<u64>(), 1u32.., any::<[bool; 2]>(), any::<u64>())),
        batches in option::of((1u32.., any::<u32>(), 1u32.., any::<u32>())),
        rates in option::of((vec(option::of(any::<(bool, u64)>()), 3), one_of(PROCESSES))),
        steps in option::of((vec((option::of(1u64..), 1_000_000u64..), 1..4), any::<bool>(), any::<bool>())),
        flow in option::of((any::<u32>(), 1u32.., any::<u64>())),
        target in option::of((1u64.., 1u64.., 0u32..100_000, any::<bool>())),
        steady in option::of((0usize..3, any::<bool>(), any::<bool>(), 1u32..1_000_000, 1u64..1 << 40)),
        serialized: bool,
        (think_cycles, warmup) in (any::<u32>(), any::<u64>()),
        minimum in option::of((vec((any::<bool>(), 1u64..), 3), 1_000_000u64..)),
    ) -> Features {
        use crate::*;
        let rate = |(by_ios, rate): (bool, u64)| if by_ios {
            Pacing::Iops(Iops::new(rate))
        } else {
            Pacing::Bytes(BytesPerSec::new(rate))
        };
        Features {
            think: think.map(|(pause, spin, every, [issued, stops_rate], after)| ThinkTime {
                pause: Nanos::new(pause),
                spin: Nanos::new(spin),
                every,
                counts: if issued { ThinkCounts::Issued } else { ThinkCounts::Completed },
                after: Nanos::new(after),
                stops_rate,
            }),
            think_cycles,
            warmup_bytes: Bytes::new(warmup),
            minimum: minimum.map(|(rates, cycle)| MinimumRates {
                rates: [0, 1, 2].map(|way| Some(rate(rates[way]))),
                cycle: Nanos::new(cycle),
            }),
            batches: batches.map(|(submit, complete_min, complete_max, low)| Batches {
                submit, complete_min, complete_max, low,
            }),
            rates: rates.map(|(rates, poisson)| DirectionRates {
                rates: [rates[0].map(rate), rates[1].map(rate), rates[2].map(rate)],
                poisson,
            }),
            rate_steps: steps.map(|(steps, by_ios, together)| Box::new(RateSteps {
                steps: steps.into_iter().map(|(own, length)| RateStep {
                    rate: own.map(|own| rate((by_ios, own))),
                    length: Nanos::new(length),
                }).collect(),
                together,
            })),
            flow: flow.map(|(id, weight, pause)| Flow { id, weight, pause: Nanos::new(pause) }),
            latency_target: target.map(|(most, window, percentile, goes_on)| LatencyTarget {
                most: Nanos::new(most),
                window: Nanos::new(window),
                percentile: f64::from(percentile) / 1000.0,
                then: if goes_on { AfterFound::GoesOn } else { AfterFound::Ends },
            }),
            steady: steady.map(|(metric, slope, percent, limit, interval)| {
                let limit = f64::from(limit) / 1000.0;
                SteadyState {
                    metric: [SteadyMetric::Iops, SteadyMetric::Bandwidth, SteadyMetric::Latency][metric],
                    judgement: if slope { SteadyJudgement::Slope } else { SteadyJudgement::Deviation },
                    limit: if percent { SteadyLimit::Percent(limit) } else { SteadyLimit::Absolute(limit) },
                    window: Nanos::new(interval * 3),
                    ramp: Nanos::new(interval / 2),
                    interval: Nanos::new(interval),
                }
            }),
            overlaps: if serialized { Overlaps::Serialized } else { Overlaps::Allowed },
            ..Features::default()
        }
    }
}

prop_compose! {
    fn priority_shares()(
        size in option::of(1u64..1 << 40),
        percent in 0u32..=100,
        (class, hint, level) in (0u16..4, 0u16..1024, 0u16..8),
    ) -> crate::PriorityShare {
        crate::PriorityShare {
            size: size.map(Bytes::new),
            percent,
            priority: crate::IoPriority::new(class, hint, level).unwrap(),
        }
    }
}

fn growths() -> impl Strategy<Value = Growth> {
    let reserved = one_of(GROWTHS);
    prop_oneof![Just(Growth::No), Just(Growth::Whole), reserved]
}

prop_compose! {
    fn handlings()(
        (pre_read, must_exist, make_parents, made_anew, end_syncfs) in any::<(bool, bool, bool, bool, bool)>(),
        grows in growths(),
        range in option::of((1u32..99, any::<(bool, bool, bool)>())),
        (go_on, ignored, full_ends) in (any::<[bool; 3]>(), vec(vec(1i32..200, 0..3), 3), any::<bool>()),
        limits in vec(option::of((1u64..1 << 50).prop_map(Nanos::new)), 3),
        operation in option::of(one_of(OPERATIONS)),
        replay in option::of((".+", option::of(1u32..1000), 2u32..9, 0u32..20, (any::<([bool; 4], bool, bool)>(), vec(".*", 0..3)),
            vec((".+", 1u32.., 1u32..).prop_map(|(path, scale, passes)| TracePart { path, scale, passes }), 0..3))),
        trace_to in option::of(".+"),
    ) -> Features {
        Features {
            files: FileHandling {
                pre_read, must_exist, make_parents, grows, made_anew, end_syncfs,
                sync_range: range.map(|(every, (wait_before, write, wait_after))| SyncRange {
                    every, wait_before, write, wait_after,
                }),
            },
            errors: ErrorHandling {
                go_on,
                ignored: ignored.try_into().unwrap(),
                full_ends,
                latency_max: limits.try_into().unwrap(),
            },
            operation,
            replay: replay.map(|(path, pace, scale, align, ((skip, redirected, plain_writes), files), merged)| Replay {
                path,
                pace: pace.map_or(ReplayPace::AtOnce, ReplayPace::Timed),
                scale,
                align: 1 << align,
                skip,
                files,
                redirected,
                plain_writes,
                merged,
            }),
            trace_to,
            ..Features::default()
        }
    }
}

prop_compose! {
    fn calls()(
        advice in one_of(ADVICE),
        (polled, (uncached, no_wait, atomic)) in (0u8..=100, any::<(bool, bool, bool)>()),
        async_every: u32,
        thread in option::of(option::of(0u32..=PROCESSOR_MAX)),
        lifetime in option::of(one_of(LIFETIMES)),
    ) -> Calls {
        let submitter = thread.map(|processor| Submitter { processor });
        Calls { advice, polled, uncached, no_wait, atomic, async_every, submitter, lifetime }
    }
}

/// What of it the backend has.
fn calls_of(backend: Backend, calls: Calls) -> Calls {
    let advice = calls.advice;
    match backend {
        Backend::IoUring => Calls {
            polled: calls.polled / 100 * 100,
            ..calls
        },
        Backend::Sync => Calls {
            async_every: 0,
            submitter: None,
            ..calls
        },
        Backend::Libaio => Calls {
            advice,
            no_wait: calls.no_wait,
            atomic: calls.atomic,
            ..Calls::default()
        },
        Backend::Mmap | Backend::Nbd | Backend::Null => Calls {
            advice,
            ..Calls::default()
        },
    }
}

prop_compose! {
    fn features()(
        each: bool,
        windows in (option::of(1u64..1 << 60), option::of(1u64..1 << 60)),
        pacing in pacing(),
        read in vec(priority_shares(), 0..3),
        write in vec(priority_shares(), 0..3),
        has_priorities: bool,
    ) -> Features {
        let priorities = has_priorities.then(|| Box::new(crate::Priorities { read, write }));
        Features {
            priorities,
            io_log: crate::IoLog {
                each,
                window: windows.0.map(Nanos::new),
                histogram: windows.1.map(Nanos::new),
            },
            ..pacing
        }
    }
}

prop_compose! {
    fn access_lines()(
        weight in 1u32.., blocks in 1u64..5000, (read, random) in (percent(), percent()),
        delay: u64, burst in 1u32.., alignment in option::of(1u64..5000), reply in option::of(1u64..5000),
        target in option::of(any::<u32>()),
    ) -> AccessLine {
        let sectors = |count: u64| Bytes::new(count * 512);
        AccessLine {
            weight, size: sectors(blocks), read, random, burst,
            delay: Nanos::new(delay),
            alignment: alignment.map(sectors),
            reply: reply.map(sectors),
            target,
        }
    }
}

/// The job with rates that it can keep up.
fn with_minimum(mut job: Job) -> Job {
    let is_held = job.arrival != Arrival::Closed || job.features.rates.is_some();
    let minimum = job.features.minimum.take_if(|_| !is_held);
    job.features.minimum = minimum.and_then(|minimum| minimum.only(|way| job.moves(way)));
    job
}

/// The job with lines, where nothing of it has a say in the same things, and with steps of its rate where it has one.
fn with_lines(mut job: Job, mut lines: Vec<AccessLine>) -> Job {
    let count = job.targets.len() as u32;
    for line in &mut lines {
        line.target = line.target.map(|target| target % count);
    }
    let steps = job.features.rate_steps.as_ref();
    let paced = steps.is_some_and(|it| it.steps.iter().any(|step| step.rate.is_some()));
    if !paced || job.arrival == Arrival::Closed || job.features.rates.is_some() {
        job.features.rate_steps = None;
    }
    let features = &job.features;
    let has_own =
        features.rates.is_some() || features.verify.is_some() || features.replay.is_some();
    let free = job.arrival == Arrival::Closed && job.file_choice != FileChoice::Sequential;
    if free && !has_own && features.operation.is_none() && !lines.is_empty() {
        job.set_lines(lines);
    }
    job
}

prop_compose! {
    fn jobs()(
        (name, host, targets, group) in (".*", option::of(".*"), targets(), any::<(u32, bool)>()),
        (file_choice, workers, depth) in (one_of(FILE_CHOICES), 1u32..65_536, 1u32..1 << 20),
        (mix, access, block, arrival) in (mixes(), accesses(), blocks(), arrivals()),
        (limits, open, sync) in (limits(), one_of(OPEN_SYNCS), any::<(u32, u32, bool, bool)>()),
        (contents, backend) in (one_of(CONTENTS), one_of(BACKENDS)),
        (caching, existing) in (one_of(CACHINGS), one_of(EXISTING)),
        switches in any::<(bool, bool, bool)>(),
        (salt, alone, check) in (any::<u64>(), any::<bool>(), option::of(checks())),
        (process, handling, features, lines, calls) in
            (processes(), handlings(), features(), vec(access_lines(), 0..4), calls()),
    ) -> Job {
        let workers = if alone { 1 } else { workers };
        with_minimum(with_lines(Job {
            name, host, targets, file_choice, workers, depth, mix, access, block, arrival, limits,
            group: ReportGroup { id: group.0, together: group.1 },
            sync: SyncPolicy {
                open,
                fsync_every: sync.0,
                fdatasync_every: sync.1,
                at_end: sync.2,
                on_close: sync.3,
            },
            contents, backend, caching, existing,
            split_latency: switches.0,
            drop_cache: switches.1,
            unlink: switches.2,
            salt,
            features: Features {
                verify: check
                    .filter(|_| handling.replay.is_none() && may_verify(workers, mix, access))
                    .map(Box::new),
                process,
                calls: calls_of(backend, calls),
                files: handling.files,
                errors: handling.errors,
                operation: handling.operation,
                replay: handling.replay,
                trace_to: handling.trace_to,
                ..features
            },
        }, lines))
    }
}

/// A job of exports has them for its targets, and nothing that they do not know.
fn on_exports(mut job: Job) -> Job {
    if job.backend != Backend::Nbd {
        return job;
    }
    if job.moves(crate::Direction::Trim) || job.features.replay.is_some() {
        job.backend = Backend::Null;
        return job;
    }
    for (number, target) in (0..).zip(&mut job.targets) {
        let place = format!("nbd+unix:///{number}?socket={}", target.offset);
        target.place = Place::Path(place);
    }
    job.caching = crate::Caching::Direct;
    job.features.operation = None;
    let files = &mut job.features.files;
    (files.pre_read, files.made_anew, files.end_syncfs) = (false, false, false);
    files.sync_range = None;
    job
}

/// Without what is refused of a job that has no peer's rules.
fn without_contradictions(mut job: Job) -> Job {
    if job.existing == crate::ExistingFiles::AsPeer {
        return job;
    }
    let depth = job.depth;
    if let Some(batches) = &mut job.features.batches {
        batches.submit = batches.submit.min(depth);
        batches.complete_min = batches.complete_min.min(depth).min(batches.complete_max);
        batches.low = batches.low.min(depth);
    }
    job.features.files.made_anew = false;
    if job.features.operation == Some(crate::FileOperation::Truncate) {
        job.features.operation = None;
    }
    if let Some(verify) = &mut job.features.verify {
        verify.trust = VerifyTrust::Completed;
    }
    job
}

prop_compose! {
    fn workloads()(
        stages in vec((".{1,9}", vec(jobs(), 1..4), any::<u64>(), 1u32..10_000, any::<bool>()), 1..4),
        seed: u64,
    ) -> Workload {
        let stages = (0..).zip(stages).map(|(index, (name, jobs, cooldown, repeats, discard))| Stage {
            name: format!("{index} {name}"),
            jobs: jobs.into_iter().map(on_exports).map(without_contradictions).collect(),
            cooldown: Nanos::new(cooldown),
            repeats,
            discard,
            rate_from: None,
        });
        Workload { stages: stages.collect(), seed }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn nothing_is_lost_in_writing(workload in workloads()) {
        let text = write(&workload);
        match read_written(&text, "written") {
            Ok((again, _)) => prop_assert_eq!(again, workload, "{}", text),
            Err(diagnostics) => return Err(TestCaseError::fail(format!("{diagnostics}\n{text}"))),
        }
    }

    /// Damage anywhere is told, not a cause of panic.
    #[test]
    fn damaged_files_never_panic(at in 0usize..600, with in ".{0,4}", cut in 0usize..30) {
        let mut text = OLTP.to_owned();
        let at = at.min(text.len());
        let end = (at + cut).min(text.len());
        text.replace_range(at..end, &with);
        if let Err(diagnostics) = read(&text, "damaged") {
            prop_assert!(diagnostics.has_errors());
            prop_assert!(!diagnostics.to_string().is_empty());
        }
    }
}
