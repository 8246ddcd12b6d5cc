//! Tests of what workers on a file set do, against a tree in memory that refuses whatever a file system would.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fathom_units::{Bytes, Nanos, Percent};
use proptest::prelude::*;

use super::{
    ActEnd, RequestPart, SetAct, SetFile, SetNext, SetShare, SetState, SetStream, StreamKey,
};
use crate::{
    Access, Backend, BlockSizes, Coverage, Direction, FileSet, FileSizes, FileTask, FileWork, Job,
    Mix, Place, SequentialScope, SetChoice, SetFormat, StopAfter, preset,
};

/// Directories and sizes of files of one set; whether a file is open.
#[derive(Debug, Default)]
struct Tree {
    directories: BTreeSet<u32>,
    files: BTreeMap<u32, u64>,
    open: BTreeSet<u32>,
}

/// Workers that take turns, act by act.
struct Bench {
    states: Vec<Arc<SetState>>,
    trees: Vec<Tree>,
    counts: BTreeMap<&'static str, u64>,
}

impl Bench {
    fn new(sets: &[FileSet]) -> Self {
        let states = sets.iter().map(|set| Arc::new(SetState::new(set)));
        Self {
            states: states.collect(),
            trees: sets.iter().map(|_| Tree::default()).collect(),
            counts: BTreeMap::new(),
        }
    }

    /// Does what a file system would do, and panics where that would fail.
    fn act(&mut self, act: SetAct) {
        let set = self.states[0].set().clone();
        let name = act.operation().map_or("data", crate::SetOperation::name);
        *self.counts.entry(name).or_default() += 1;
        match act {
            SetAct::MakeDirectory(directory) => {
                let parent = set.parent(directory);
                assert!(parent.is_none_or(|parent| self.trees[0].directories.contains(&parent)));
                assert!(self.trees[0].directories.insert(directory));
            }
            SetAct::RemoveDirectory(directory) => {
                let tree = &mut self.trees[0];
                let mut inside = set.directories_in(Some(directory));
                assert!(!inside.any(|child| tree.directories.contains(&child)));
                assert!(
                    !set.files_in(directory)
                        .any(|file| tree.files.contains_key(&file))
                );
                assert!(tree.directories.remove(&directory));
            }
            SetAct::Create(SetFile { set: side, number }) => {
                let tree = &mut self.trees[side as usize];
                assert!(tree.directories.contains(&set.directory_of(number)));
                assert!(tree.files.insert(number, 0).is_none());
                assert!(tree.open.insert(number), "{act:?}");
            }
            SetAct::Open(file, _) => {
                let tree = &mut self.trees[file.set as usize];
                assert!(tree.files.contains_key(&file.number));
                assert!(tree.open.insert(file.number), "{act:?}");
            }
            SetAct::Transfer { .. } => self.transfer(act, &set),
            SetAct::Close(file) => {
                assert!(
                    self.trees[file.set as usize].open.remove(&file.number),
                    "{act:?}"
                );
            }
            SetAct::Delete(file) => {
                let tree = &mut self.trees[file.set as usize];
                assert!(!tree.open.contains(&file.number));
                assert!(tree.files.remove(&file.number).is_some());
            }
            SetAct::Access(file) | SetAct::GetAttributes(file) | SetAct::SetAttributes(file) => {
                assert!(
                    self.trees[file.set as usize]
                        .files
                        .contains_key(&file.number)
                );
            }
            SetAct::Move(number) => {
                let size = self.trees[0].files.remove(&number);
                assert!(self.trees[1].files.insert(number, size.unwrap()).is_none());
            }
            SetAct::CleanUp => self.trees[0] = Tree::default(),
        }
    }

    fn transfer(&mut self, act: SetAct, set: &FileSet) {
        let SetAct::Transfer {
            file,
            direction,
            offset,
            length,
        } = act
        else {
            return;
        };
        let tree = &mut self.trees[file.set as usize];
        assert!(tree.open.contains(&file.number));
        let size = tree.files.entry(file.number).or_default();
        let end = offset + u64::from(length);
        assert!(end <= set.size(file.number).get());
        if direction == Direction::Read {
            assert!(end <= *size, "read past the end");
        } else {
            *size = end.max(*size);
        }
        *self.counts.entry(direction.name()).or_default() += 1;
    }

    /// Runs jobs together, each with two workers, until all have ended or `most` acts are done.
    fn run(&mut self, jobs: &[Job], most: u64) -> u64 {
        let mut streams = Vec::new();
        for state in &self.states {
            state.begin_stage();
        }
        for (number, job) in jobs.iter().enumerate() {
            let share = Arc::new(SetShare::new(None));
            let work = job.features.file_work.as_deref().unwrap();
            for worker in 0..2 {
                let key = StreamKey {
                    job: number as u32,
                    worker,
                    ..StreamKey::default()
                };
                let sets = self.states.clone();
                streams.push(SetStream::new(job, work, key, sets, Arc::clone(&share)));
            }
        }
        let mut acts = 0;
        while acts < most {
            let mut idle = 0;
            streams.retain_mut(|stream| match stream.next_act() {
                SetNext::Act(act, _) => {
                    self.act(act);
                    stream.ended(act, ActEnd::Done);
                    acts += 1;
                    true
                }
                SetNext::Whole(_) => true,
                SetNext::Busy => {
                    idle += 1;
                    true
                }
                SetNext::End => false,
            });
            if streams.is_empty() {
                break;
            }
            assert!(idle < streams.len(), "all wait for each other");
        }
        acts
    }

    fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or_default()
    }
}

fn set() -> FileSet {
    FileSet {
        depth: 2,
        width: 3,
        files: 4,
        sizes: FileSizes::uniform(Bytes::kib(20)),
        ..FileSet::at("/a")
    }
}

/// A job of 8 KiB blocks that runs for a time, so that nothing but the test ends it.
fn job(work: FileWork, sequential: bool) -> Job {
    let mut job = preset("quick", "/a").unwrap().stages[0].jobs[0].clone();
    job.targets[0].place = Place::FileSet(Box::new(set()));
    (job.backend, job.workers, job.depth) = (Backend::Sync, 2, 1);
    job.block = BlockSizes::uniform(Bytes::kib(8));
    job.mix = Mix::reads(Percent::whole(50).unwrap());
    job.access = if sequential {
        Access::Sequential {
            gap: Bytes::ZERO,
            scope: SequentialScope::PerWorker,
        }
    } else {
        Access::Random {
            coverage: Coverage::EachBlockOnce,
            run: 1,
        }
    };
    job.limits.runtime = Some(Nanos::from_secs(1));
    job.features.file_work = Some(Box::new(work));
    job
}

fn format() -> Job {
    job(FileWork::new(FileTask::Format(SetFormat::Anew)), true)
}

#[test]
fn a_format_makes_everything_and_ends() {
    let mut bench = Bench::new(&[set()]);
    bench.run(&[format()], u64::MAX);
    let counts = ["mkdir", "create", "write", "close"].map(|name| bench.count(name));
    assert_eq!(counts, [12, 36, 108, 36]);
    assert!(bench.trees[0].files.values().all(|size| *size == 20 << 10));
    // What is there stays; what is missing is made.
    bench.counts.clear();
    let first = *bench.trees[0].files.keys().next().unwrap();
    let delete = FileWork {
        once: true,
        ..FileWork::new(FileTask::Delete)
    };
    let mut delete_one = job(delete, true);
    delete_one.limits.ios = Some(1);
    bench.run(&[delete_one], 1);
    bench.run(
        &[job(
            FileWork::new(FileTask::Format(SetFormat::Complete)),
            true,
        )],
        u64::MAX,
    );
    // One from each worker.
    assert_eq!((bench.count("create"), bench.count("mkdir")), (2, 0));
    assert!(bench.trees[0].files.contains_key(&first));
    bench.run(
        &[job(FileWork::new(FileTask::Format(SetFormat::Clean)), true)],
        u64::MAX,
    );
    assert!(bench.trees[0].directories.is_empty());
    assert_eq!(bench.states[0].existing_files(), 0);
}

#[test]
fn reads_take_each_block_of_a_file_once_and_then_another() {
    for sequential in [true, false] {
        let mut bench = Bench::new(&[set()]);
        bench.run(&[format()], u64::MAX);
        bench.counts.clear();
        let once = FileWork {
            once: true,
            ..FileWork::new(FileTask::Read)
        };
        bench.run(&[job(once, sequential)], u64::MAX);
        let counts = ["open", "read", "close"].map(|name| bench.count(name));
        assert_eq!(counts, [36, 108, 36], "sequential: {sequential}");
    }
}

#[test]
fn files_are_left_when_told_and_blocks_are_requests() {
    let mut bench = Bench::new(&[set()]);
    bench.run(&[format()], u64::MAX);
    let work = FileWork {
        stop_after: Some(StopAfter::Ios(2)),
        ..FileWork::new(FileTask::Read)
    };
    let share = Arc::new(SetShare::new(None));
    let job = job(work.clone(), false);
    let states = bench.states.clone();
    let mut stream = SetStream::new(&job, &work, StreamKey::default(), states, share);
    let mut parts = Vec::new();
    for _ in 0..7 {
        let SetNext::Act(act, part) = stream.next_act() else {
            panic!("nothing to do")
        };
        stream.ended(act, ActEnd::Done);
        let kind = act.operation().map_or("block", crate::SetOperation::name);
        parts.push((kind, part == RequestPart::First));
    }
    let expected = [
        ("open", true),
        ("block", false),
        ("block", true),
        ("close", true),
        ("open", false),
        ("block", false),
        ("block", true),
    ];
    assert_eq!(parts, expected);
}

#[test]
fn copies_and_moves_go_to_the_second_set() {
    let second = FileSet {
        anchor: "/b".to_owned(),
        ..set()
    };
    let mut bench = Bench::new(&[set(), second.clone()]);
    bench.run(&[format()], u64::MAX);
    // The second tree's directories.
    for directory in 0..12 {
        bench.trees[1].directories.insert(directory);
        bench.states[1].found_directory(directory);
    }
    bench.counts.clear();
    let copy = FileWork {
        once: true,
        ..FileWork::new(FileTask::Copy)
    };
    bench.run(&[job(copy, true)], u64::MAX);
    assert_eq!(bench.trees[0].files, bench.trees[1].files);
    assert_eq!([bench.count("read"), bench.count("write")], [108, 108]);
    let rename = FileWork {
        once: true,
        ..FileWork::new(FileTask::Move)
    };
    bench.run(&[job(rename, true)], u64::MAX);
    assert_eq!(
        (bench.trees[0].files.len(), bench.trees[1].files.len()),
        (0, 36)
    );
    assert_eq!(bench.states[0].existing_files(), 0);
}

#[test]
fn nothing_that_waits_for_nobody_goes_on_for_ever() {
    for task in [
        FileTask::Read,
        FileTask::Delete,
        FileTask::GetAttributes,
        FileTask::Create,
    ] {
        let mut bench = Bench::new(&[set()]);
        assert_eq!(
            bench.run(&[job(FileWork::new(task), true)], 100),
            0,
            "{task:?}"
        );
    }
}

/// How often the files of each third of the list are chosen.
fn thirds(choice: SetChoice) -> [u64; 3] {
    let mut bench = Bench::new(&[set()]);
    bench.run(&[format()], u64::MAX);
    let work = FileWork {
        choice,
        ..FileWork::new(FileTask::GetAttributes)
    };
    let job = job(work.clone(), true);
    let share = Arc::new(SetShare::new(None));
    let states = bench.states.clone();
    let mut stream = SetStream::new(&job, &work, StreamKey::default(), states, share);
    let mut counts = [0; 3];
    for _ in 0..3600 {
        let SetNext::Act(act @ SetAct::GetAttributes(file), _) = stream.next_act() else {
            panic!("no file is looked at")
        };
        stream.ended(act, ActEnd::Done);
        counts[file.number as usize / 12] += 1;
    }
    counts
}

#[test]
fn choices_follow_their_distribution() {
    assert_eq!(thirds(SetChoice::Sequential), [1200; 3]);
    assert!(
        thirds(SetChoice::Random)
            .iter()
            .all(|count| count.abs_diff(1200) < 120)
    );
    let [first, second, third] = thirds(SetChoice::Poisson(3));
    // Of a Poisson variable of mean 3: 64.7 % are below 4, 34.1 % from 4 to 7.
    assert!(
        first.abs_diff(2329) < 120 && second.abs_diff(1228) < 120,
        "{first} {second} {third}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Jobs that make and remove together never do what a file system would refuse, and never stop each other.
    #[test]
    fn jobs_together_never_fail_each_other(
        tasks in proptest::collection::vec((0usize..11, any::<bool>(), any::<bool>()), 1..5),
        filled in any::<bool>(),
    ) {
        const TASKS: [FileTask; 11] = [
            FileTask::MakeDirectory, FileTask::RemoveDirectory, FileTask::Create, FileTask::Delete,
            FileTask::Open, FileTask::Close, FileTask::Read, FileTask::Write, FileTask::ReadWrite,
            FileTask::GetAttributes, FileTask::SetAttributes,
        ];
        let mut bench = Bench::new(&[set()]);
        if filled {
            bench.run(&[format()], u64::MAX);
        }
        let jobs: Vec<Job> = tasks.into_iter().map(|(task, sequential, in_order)| {
            let choice = if in_order { SetChoice::Sequential } else { SetChoice::Random };
            job(FileWork { choice, ..FileWork::new(TASKS[task]) }, sequential)
        }).collect();
        let mut streams = Vec::new();
        for (number, job) in jobs.iter().enumerate() {
            let share = Arc::new(SetShare::new(None));
            let work = job.features.file_work.as_deref().unwrap();
            let key = StreamKey { job: number as u32, ..StreamKey::default() };
            streams.push(SetStream::new(job, work, key, bench.states.clone(), share));
        }
        for round in 0..400 {
            let count = streams.len();
            let stream = &mut streams[round % count];
            if let SetNext::Act(act, _) = stream.next_act() {
                bench.act(act);
                stream.ended(act, ActEnd::Done);
            }
        }
        let state = &bench.states[0];
        prop_assert_eq!(state.existing_files() as usize, bench.trees[0].files.len());
        prop_assert_eq!(state.existing_directories() as usize, bench.trees[0].directories.len());
    }
}
