//! Writing files before they are measured.
//!
//! A file that is missing or too short is written in full (which files: see `growth.rs`), with data that nothing can compress: holes and reserved but
//! unwritten extents would be read without the device, and measure nothing. Whatever ends the writing early, the files
//! that it made are removed, and files that it made longer are cut again.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use fathom_rawio::{
    self as rawio, Access, AioQueue, Caching, Clock, Durability, OpenHow, Operation, Queue,
    Request, SyncQueue, UringQueue, sleep_until,
};
use fathom_record::{Event, EventSink};
use fathom_units::{Bytes, Nanos};
use fathom_workload::generator::{BufferFill, Io, StreamKey};
use fathom_workload::{BufferContents, Direction};

use crate::undo::Undo;
use crate::{EngineError, StopFlag, marker};

/// One write; large enough for any device's full rate.
const BLOCK: u32 = 1 << 20;
/// Writes outstanding for each file.
const OUTSTANDING: u32 = 4;
/// Files written at a time.
const FILES_AT_ONCE: usize = 2;
/// Files written at a time where each is small: most of their time goes into making them durable, which a file system does for
/// several at once.
const SMALL_FILES_AT_ONCE: usize = 8;
/// What is written at once, through the page cache, is this much at most: a queue for it would cost more than the write.
const SMALL: u64 = 1 << 20;
/// Direct writes start and end at multiples of this.
const ALIGNMENT: u64 = 4096;
const PROGRESS_EVERY: Nanos = Nanos::from_secs(1);
/// How soon the end of the writing, or a request to stop, is seen.
const LOOK_EVERY: Nanos = Nanos::from_millis(20);

/// A file to be written.
#[derive(Debug)]
pub(crate) struct Task {
    /// As the user named it.
    pub(crate) path: String,
    /// Where the bytes go.
    pub(crate) place: TaskPlace,
    /// First byte to write: the size it has.
    pub(crate) from: u64,
    /// Its size in the end.
    pub(crate) to: u64,
}

impl Task {
    fn is_small(&self) -> bool {
        self.to - self.from <= SMALL
    }
}

/// Where the bytes of a task go.
#[derive(Debug)]
pub(crate) enum TaskPlace {
    /// A file that is made at this path.
    New(PathBuf),
    /// A file there that is too short.
    Longer(PathBuf),
    /// A temporary file that is open already.
    Open(File),
}

/// How the writing ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LayoutEnd {
    /// Everything is written and durable.
    Done,
    /// The user stopped it; nothing of it is left.
    Interrupted,
}

/// Writes all files of `tasks`, some at a time, telling `sink` how far it is.
///
/// # Errors
/// The first file that cannot be written; everything made so far is undone.
pub(crate) fn lay_out(
    tasks: &[Task],
    seed: u64,
    stop: &StopFlag,
    sink: &mut dyn EventSink,
) -> Result<LayoutEnd, EngineError> {
    let undo = Undo::new(stop);
    let written: Vec<_> = tasks.iter().map(|task| AtomicU64::new(task.from)).collect();
    let next = AtomicUsize::new(0);
    let mut told = vec![0; tasks.len()];
    let failed = StopFlag::new();
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(index) else {
                return Ok(());
            };
            let go_on = || !stop.is_requested() && !failed.is_requested();
            let fill = layout_fill(seed, index);
            if let Err(source) = write_task(task, fill, &written[index], &go_on, &undo) {
                failed.request();
                return Err(EngineError::target(
                    &task.path,
                    "writing it before the run",
                    source,
                ));
            }
        }
    };
    std::thread::scope(|scope| {
        let at_once = if tasks.iter().all(Task::is_small) {
            SMALL_FILES_AT_ONCE
        } else {
            FILES_AT_ONCE
        };
        let threads: Vec<_> = (0..at_once.min(tasks.len()))
            .map(|_| scope.spawn(work))
            .collect();
        let mut next_report = Clock::now() + PROGRESS_EVERY;
        while !threads
            .iter()
            .all(std::thread::ScopedJoinHandle::is_finished)
        {
            sleep_until(Clock::now() + LOOK_EVERY);
            if Clock::now() >= next_report {
                report(tasks, &written, &mut told, sink);
                next_report += PROGRESS_EVERY;
            }
        }
        threads
            .into_iter()
            .try_for_each(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            })
    })?;
    if stop.is_requested() {
        return Ok(LayoutEnd::Interrupted);
    }
    report(tasks, &written, &mut told, sink);
    undo.keep();
    Ok(LayoutEnd::Done)
}

/// Tells how far each file is that has grown since it was `told`: of many, most are done or have yet to begin.
fn report(tasks: &[Task], written: &[AtomicU64], told: &mut [u64], sink: &mut dyn EventSink) {
    for ((task, written), told) in tasks.iter().zip(written).zip(told) {
        let done = written.load(Ordering::Relaxed) - task.from;
        if done > *told {
            *told = done;
            sink.event(&Event::Layout {
                path: &task.path,
                done: Bytes::new(done),
                total: Bytes::new(task.to - task.from),
            });
        }
    }
}

fn layout_fill(seed: u64, index: usize) -> BufferFill {
    let key = StreamKey {
        seed,
        job: u32::MAX,
        worker: index as u32,
        salt: 0,
    };
    BufferFill::new(BufferContents::RandomEachWrite, key)
}

fn write_task(
    task: &Task,
    fill: BufferFill,
    written: &AtomicU64,
    go_on: &dyn Fn() -> bool,
    undo: &Undo<'_>,
) -> io::Result<()> {
    let how = |access| OpenHow {
        access,
        caching: Caching::Buffered,
        durability: Durability::None,
    };
    let opened;
    let file = match &task.place {
        TaskPlace::Open(file) => file,
        TaskPlace::New(path) => {
            opened = rawio::open(path, how(Access::CreateNew))?;
            undo.made(path);
            marker::mark(&opened);
            &opened
        }
        TaskPlace::Longer(path) => {
            opened = rawio::open(path, how(Access::ReadWrite))?;
            undo.longer(path, task.from);
            &opened
        }
    };
    let mut writer = Writer {
        file,
        fill,
        written,
        go_on,
        index: 0,
    };
    if !task.is_small() {
        writer.write(task.from, task.to)?;
        return file.sync_all();
    }
    if go_on() {
        writer.write_plainly(task.from, task.to)?;
        file.sync_all()?;
        // Large files are written past the page cache, and what cannot be dropped from it (tmpfs) could not be for them.
        let _ = rawio::drop_cache(file, task.from, task.to - task.from);
    }
    Ok(())
}

/// Writes a range of one file.
struct Writer<'a> {
    file: &'a File,
    fill: BufferFill,
    written: &'a AtomicU64,
    go_on: &'a dyn Fn() -> bool,
    index: u64,
}

impl Writer<'_> {
    /// Direct writes where offsets are aligned and the file system has them; the ends through the page cache.
    fn write(&mut self, from: u64, to: u64) -> io::Result<()> {
        let start = from.next_multiple_of(ALIGNMENT).min(to);
        let end = (to / ALIGNMENT * ALIGNMENT).max(start);
        if from < start {
            self.write_plainly(from, start)?;
            self.file.sync_data()?;
        }
        let mut queue = self.queue()?;
        self.write_through(queue.as_mut(), start, end)?;
        self.write_plainly(end, to)
    }

    /// The best queue there is for this file.
    fn queue(&self) -> io::Result<Box<dyn Queue>> {
        let direct = OpenHow {
            access: Access::ReadWrite,
            caching: Caching::Direct,
            durability: Durability::None,
        };
        let Ok(file) = rawio::reopen(self.file, direct) else {
            let file = self.file.try_clone()?;
            return Ok(Box::new(SyncQueue::new(vec![file], OUTSTANDING, BLOCK)?));
        };
        if let Ok(queue) = UringQueue::new(vec![file.try_clone()?], OUTSTANDING, BLOCK) {
            return Ok(Box::new(queue));
        }
        match AioQueue::new(vec![file.try_clone()?], OUTSTANDING, BLOCK) {
            Ok(queue) => Ok(Box::new(queue)),
            Err(_) => Ok(Box::new(SyncQueue::new(vec![file], OUTSTANDING, BLOCK)?)),
        }
    }

    fn next_io(&mut self, offset: u64, length: u32) -> Io {
        self.index += 1;
        Io {
            index: self.index,
            direction: Direction::Write,
            target: 0,
            offset,
            length,
        }
    }

    fn write_plainly(&mut self, from: u64, to: u64) -> io::Result<()> {
        if from >= to {
            return Ok(());
        }
        let mut bytes = vec![0; (to - from) as usize];
        self.fill.prepare(&mut bytes);
        let io = self.next_io(from, bytes.len() as u32);
        self.fill.refill(&io, &mut bytes);
        self.file.write_all_at(&bytes, from)?;
        self.written.fetch_add(to - from, Ordering::Relaxed);
        Ok(())
    }

    fn write_through(&mut self, queue: &mut dyn Queue, from: u64, to: u64) -> io::Result<()> {
        let mut free: Vec<u32> = (0..OUTSTANDING).collect();
        for slot in &free {
            self.fill.prepare(queue.buffer(*slot));
        }
        let mut wanted = vec![(0, 0); OUTSTANDING as usize];
        let mut next = from;
        let mut failure = None;
        let mut done = Vec::with_capacity(OUTSTANDING as usize);
        while (next < to && (self.go_on)() && failure.is_none()) || queue.in_flight() > 0 {
            while next < to && failure.is_none() && (self.go_on)() {
                let Some(slot) = free.pop() else { break };
                let length = u64::from(BLOCK).min(to - next) as u32;
                let io = self.next_io(next, length);
                self.fill
                    .refill(&io, &mut queue.buffer(slot)[..length as usize]);
                queue.push(Request {
                    slot,
                    file: 0,
                    operation: Operation::Write,
                    offset: next,
                    length,
                });
                wanted[slot as usize] = (next, length);
                next += u64::from(length);
            }
            queue.submit_and_wait(1, None)?;
            queue.take(usize::MAX, &mut done);
            for completion in done.drain(..) {
                let (offset, length) = wanted[completion.slot as usize];
                match completion.result {
                    Ok(0) => failure = Some(io::ErrorKind::WriteZero.into()),
                    Ok(moved) => {
                        self.written.fetch_add(u64::from(moved), Ordering::Relaxed);
                        if moved < length {
                            // A file system that is nearly full takes a part, and says why with the rest.
                            let rest = (offset + u64::from(moved), length - moved);
                            queue.push(Request {
                                slot: completion.slot,
                                file: 0,
                                operation: Operation::Write,
                                offset: rest.0,
                                length: rest.1,
                            });
                            wanted[completion.slot as usize] = rest;
                            continue;
                        }
                    }
                    Err(code) => failure = Some(io::Error::from_raw_os_error(code)),
                }
                free.push(completion.slot);
            }
        }
        failure.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use fathom_record::Ignore;

    use super::*;

    /// A file system of 8 MiB, unmounted when dropped.
    struct Small(tempfile::TempDir);

    impl Small {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let arguments = ["-t", "tmpfs", "-o", "size=8m", "tmpfs"];
            let status = std::process::Command::new("mount")
                .args(arguments)
                .arg(directory.path())
                .status();
            assert!(status.unwrap().success(), "mounting needs root");
            Self(directory)
        }
    }

    impl Drop for Small {
        fn drop(&mut self) {
            let status = std::process::Command::new("umount")
                .arg(self.0.path())
                .status();
            assert!(status.is_ok_and(|status| status.success()));
        }
    }

    fn tasks(directory: &Path, large: u64) -> Vec<Task> {
        let (old, new) = (directory.join("old"), directory.join("new"));
        fs::write(&old, [7; 8193]).unwrap();
        let task = |path: PathBuf, place: fn(PathBuf) -> TaskPlace, from, to| Task {
            path: path.display().to_string(),
            place: place(path),
            from,
            to,
        };
        vec![
            task(old, TaskPlace::Longer, 8193, 1 << 20),
            task(new, TaskPlace::New, 0, large),
        ]
    }

    #[track_caller]
    fn check_undone(directory: &Path) {
        assert_eq!(fs::read(directory.join("old")).unwrap(), [7; 8193]);
        assert!(!directory.join("new").exists());
    }

    #[test]
    fn a_full_file_system_is_left_as_it_was() {
        let small = Small::new();
        let tasks = tasks(small.0.path(), 16 << 20);
        let error = lay_out(&tasks, 1, &StopFlag::new(), &mut Ignore).unwrap_err();
        assert!(
            error.to_string().contains("No space left on device"),
            "{error}"
        );
        check_undone(small.0.path());
    }

    #[test]
    fn an_interrupted_layout_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let stop = StopFlag::new();
        stop.request();
        let end = lay_out(&tasks(directory.path(), 64 << 20), 1, &stop, &mut Ignore);
        assert_eq!(end.unwrap(), LayoutEnd::Interrupted);
        check_undone(directory.path());
    }

    #[test]
    fn small_files_are_written_whole() {
        let directory = tempfile::tempdir().unwrap();
        let tasks: Vec<_> = (0..40)
            .map(|number| {
                let path = directory.path().join(number.to_string());
                Task {
                    path: path.display().to_string(),
                    place: TaskPlace::New(path),
                    from: 0,
                    to: number * 1000 + 1,
                }
            })
            .collect();
        let end = lay_out(&tasks, 1, &StopFlag::new(), &mut Ignore);
        assert_eq!(end.unwrap(), LayoutEnd::Done);
        let mut all = Vec::new();
        for task in &tasks {
            let bytes = fs::read(&task.path).unwrap();
            assert_eq!(bytes.len() as u64, task.to);
            all.extend(bytes);
        }
        let zeroes: usize = all.iter().map(|byte| usize::from(*byte == 0)).sum();
        let share = zeroes as f64 / all.len() as f64;
        assert!((share - 1.0 / 256.0).abs() < 0.001, "{share}");
    }

    #[test]
    fn what_is_laid_out_stays() {
        let directory = tempfile::tempdir().unwrap();
        let stop = StopFlag::new();
        let end = lay_out(&tasks(directory.path(), 3 << 20), 1, &stop, &mut Ignore);
        assert_eq!(end.unwrap(), LayoutEnd::Done);
        assert_eq!(
            fs::metadata(directory.path().join("old")).unwrap().len(),
            1 << 20
        );
        assert_eq!(
            fs::metadata(directory.path().join("new")).unwrap().len(),
            3 << 20
        );
    }

    /// Files told: name and bytes written.
    #[derive(Default)]
    struct Files(Vec<(String, u64)>);

    impl EventSink for Files {
        fn event(&mut self, event: &Event<'_>) {
            if let Event::Layout { path, done, .. } = event {
                self.0.push(((*path).to_owned(), done.get()));
            }
        }
    }

    #[test]
    fn only_files_that_grew_are_told() {
        let tasks: Vec<_> = ["a", "b", "c"]
            .iter()
            .map(|path| Task {
                path: (*path).to_owned(),
                place: TaskPlace::New(path.into()),
                from: 10,
                to: 110,
            })
            .collect();
        let written: Vec<_> = tasks.iter().map(|_| AtomicU64::new(10)).collect();
        let mut told = vec![0; tasks.len()];
        let mut files = Files::default();
        for (file, reached) in [(0, 60), (0, 110), (1, 20), (1, 20), (2, 110)] {
            written[file].store(reached, Ordering::Relaxed);
            report(&tasks, &written, &mut told, &mut files);
        }
        let expected = [("a", 50), ("a", 100), ("b", 10), ("c", 100)];
        assert_eq!(
            files.0,
            expected.map(|(name, done)| (name.to_owned(), done))
        );
    }
}
