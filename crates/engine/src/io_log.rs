//! What a worker tells of its I/O while it runs, and how it reaches the control thread.
//!
//! A worker whose job asks for a log fills a chunk and hands it over when it is full, and once a second. Unlike
//! intervals, a log must not lose anything: with no empty chunk left, the worker waits for the control thread, so that a
//! log of every I/O is as fast as it can be written, and takes the memory of [`CHUNKS_PER_WORKER`] chunks whatever the
//! run's length.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use fathom_record::{Event, EventSink, LogChunk, LogHistogram, LogWindow, LoggedIo};
use fathom_stats::Histogram;
use fathom_units::Nanos;
use fathom_workload::{Direction, IoLog, Job, Stage};

use crate::interval::Message;
use crate::timing::Times;

/// Chunks of each worker: one in use, and others for a control thread that writes.
pub(crate) const CHUNKS_PER_WORKER: usize = 4;
/// I/Os of a chunk.
const IOS_PER_CHUNK: usize = 2048;
/// Windows and histograms of a chunk.
const WINDOWS_PER_CHUNK: usize = 256;

/// Longest time that something told waits for its chunk to fill, as long as there is I/O.
const LONGEST_HOLD: Nanos = Nanos::from_secs(1);

/// A chunk on its way between a worker and the control thread.
#[derive(Debug)]
pub(crate) struct LogBatch {
    /// Index of the worker within the stage.
    pub(crate) worker: usize,
    /// What it tells.
    pub(crate) chunk: LogChunk,
}

impl LogBatch {
    /// An empty one.
    pub(crate) fn new(worker: usize) -> Self {
        Self {
            worker,
            chunk: LogChunk::default(),
        }
    }
}

/// A worker's ends of the two channels, and what it has gathered.
#[derive(Debug)]
pub(crate) struct IoLogger {
    want: IoLog,
    begun: Nanos,
    /// When a chunk was last handed over for its age, from the start of the measurement.
    handed_over: Nanos,
    current: Box<LogBatch>,
    full: SyncSender<Message>,
    spares: Receiver<Box<LogBatch>>,
    window: LogWindow,
    histograms: Option<Box<[Histogram; 3]>>,
    histogram_end: Nanos,
}

impl IoLogger {
    pub(crate) fn new(
        want: IoLog,
        first: Box<LogBatch>,
        full: SyncSender<Message>,
        spares: Receiver<Box<LogBatch>>,
    ) -> Self {
        let histograms = || Box::new(Direction::ALL.map(|_| Histogram::new()));
        Self {
            want,
            begun: Nanos::ZERO,
            handed_over: Nanos::ZERO,
            current: first,
            full,
            spares,
            window: window(want.window.unwrap_or(Nanos::MAX)),
            histograms: want.histogram.map(|_| histograms()),
            histogram_end: want.histogram.unwrap_or(Nanos::MAX),
        }
    }

    /// Takes one I/O; they come in the order of their completions.
    pub(crate) fn record(&mut self, io: &LoggedIo) {
        self.close(io.completed);
        if self.want.each {
            self.current.chunk.ios.push(*io);
        }
        if self.want.window.is_some() {
            self.window.directions[io.direction as usize].add(io);
        }
        if let Some(histograms) = &mut self.histograms {
            histograms[io.direction as usize].record(io.complete().get());
        }
        let chunk = &self.current.chunk;
        if chunk.ios.len() >= IOS_PER_CHUNK
            || chunk.windows.len() >= WINDOWS_PER_CHUNK
            || chunk.histograms.len() >= WINDOWS_PER_CHUNK
            || io.completed >= self.handed_over + LONGEST_HOLD
        {
            self.handed_over = io.completed;
            self.hand_over();
        }
    }

    /// Begins with a measurement that starts at `begun` on the run's clock.
    pub(crate) fn restart(&mut self, begun: Nanos) {
        self.begun = begun;
        self.current.chunk.clear();
        self.current.chunk.begun = begun;
        self.window = window(self.want.window.unwrap_or(Nanos::MAX));
        self.histogram_end = self.want.histogram.unwrap_or(Nanos::MAX);
        for histogram in self.histograms.iter_mut().flat_map(|all| all.iter_mut()) {
            histogram.clear();
        }
    }

    /// Tells the last windows, which end at `now`.
    pub(crate) fn finish(&mut self, now: Nanos) {
        self.close(now);
        let begun = self.window.end.saturating_sub(self.window.length);
        self.window.end = now;
        self.window.length = now.saturating_sub(begun);
        if self.want.window.is_some() {
            self.current.chunk.windows.push(self.window);
        }
        self.push_histograms(now);
        self.hand_over();
    }

    fn close(&mut self, now: Nanos) {
        if let Some(length) = self.want.window
            && now >= self.window.end
        {
            self.push_window();
            self.window = LogWindow {
                end: end_after(now, length),
                ..window(length)
            };
        }
        if let Some(length) = self.want.histogram
            && now >= self.histogram_end
        {
            self.push_histograms(self.histogram_end);
            self.histogram_end = end_after(now, length);
        }
    }

    fn push_window(&mut self) {
        if self.window.directions.iter().any(|sums| sums.ios > 0) {
            self.current.chunk.windows.push(self.window);
        }
    }

    fn push_histograms(&mut self, end: Nanos) {
        let Some(histograms) = &mut self.histograms else {
            return;
        };
        for (direction, histogram) in Direction::ALL.into_iter().zip(histograms.iter_mut()) {
            if histogram.count() > 0 {
                self.current.chunk.histograms.push(LogHistogram {
                    end,
                    direction,
                    complete: histogram.clone(),
                });
                histogram.clear();
            }
        }
    }

    fn hand_over(&mut self) {
        if self.current.chunk.is_empty() {
            return;
        }
        // A control thread that is gone takes nothing more; the run is over then.
        let Ok(spare) = self.spares.recv() else {
            return self.current.chunk.clear();
        };
        let full = std::mem::replace(&mut self.current, spare);
        self.current.chunk.begun = self.begun;
        let _ = self.full.send(Message::Log(full));
    }
}

/// The logger of a worker whose job asks for a log, and the way back for its chunks.
pub(crate) fn logger(
    worker: usize,
    job: &Job,
    full: &SyncSender<Message>,
) -> Option<(IoLogger, SyncSender<Box<LogBatch>>)> {
    let want = job.features.io_log;
    if !want.is_on() {
        return None;
    }
    let (give_back, spares) = sync_channel(CHUNKS_PER_WORKER);
    let batch = || Box::new(LogBatch::new(worker));
    for _ in 1..CHUNKS_PER_WORKER {
        // The channel has room for all of them.
        let _ = give_back.try_send(batch());
    }
    let logger = IoLogger::new(want, batch(), full.clone(), spares);
    Some((logger, give_back))
}

/// The control thread's side: tells what workers tell, and gives their chunks back.
#[derive(Debug)]
pub(crate) struct LogTaker {
    index: usize,
    /// By worker: its job, and its number within it.
    workers: Vec<(usize, u32)>,
    returns: Vec<Option<SyncSender<Box<LogBatch>>>>,
    start: Nanos,
    began_unix_ns: u64,
}

impl LogTaker {
    /// Of the run's `index`th stage, which began at `began_unix_ns`.
    pub(crate) fn new(
        index: usize,
        stage: &Stage,
        times: Times,
        began_unix_ns: u64,
        returns: Vec<Option<SyncSender<Box<LogBatch>>>>,
    ) -> Self {
        let jobs = stage.jobs.iter().enumerate();
        let workers = jobs.flat_map(|(job, it)| (0..it.workers).map(move |worker| (job, worker)));
        Self {
            index,
            workers: workers.collect(),
            returns,
            start: times.start,
            began_unix_ns,
        }
    }

    /// Tells of a chunk and sends it back.
    pub(crate) fn take(&self, mut batch: Box<LogBatch>, sink: &mut dyn EventSink) {
        let (job, worker) = self.workers[batch.worker];
        let after = batch.chunk.begun.saturating_sub(self.start);
        sink.event(&Event::IoLog {
            index: self.index,
            job,
            worker,
            begun_unix_ns: self.began_unix_ns + after.get(),
            chunk: &batch.chunk,
        });
        batch.chunk.clear();
        if let Some(give_back) = &self.returns[batch.worker] {
            // The worker may have ended; its chunk is not needed any more then.
            let _ = give_back.try_send(batch);
        }
    }
}

/// The first window.
fn window(length: Nanos) -> LogWindow {
    LogWindow {
        end: length,
        length,
        ..LogWindow::default()
    }
}

/// End of the window, counted from zero, that holds `now`.
fn end_after(now: Nanos, length: Nanos) -> Nanos {
    Nanos::new((now.get() / length.get() + 1).saturating_mul(length.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(completed_ms: u64, bytes: u32) -> LoggedIo {
        LoggedIo {
            issued: Nanos::from_millis(completed_ms),
            completed: Nanos::from_millis(completed_ms),
            submit: Some(Nanos::new(10)),
            latency: Nanos::new(110),
            direction: Direction::Write,
            target: 0,
            offset: 0,
            bytes,
            priority: fathom_workload::IoPriority::default(),
        }
    }

    fn told(want: IoLog, completions_ms: &[u64], end_ms: u64) -> LogChunk {
        let (full, batches) = sync_channel(64);
        let (give_back, spares) = sync_channel(64);
        for _ in 0..64 {
            give_back.send(Box::new(LogBatch::new(0))).unwrap();
        }
        let mut logger = IoLogger::new(want, Box::new(LogBatch::new(0)), full, spares);
        for at in completions_ms {
            logger.record(&io(*at, 4096));
        }
        logger.finish(Nanos::from_millis(end_ms));
        let mut all = LogChunk::default();
        drop(logger);
        for message in batches {
            let Message::Log(batch) = message else {
                panic!("only logs are sent")
            };
            all.ios.extend(batch.chunk.ios);
            all.windows.extend(batch.chunk.windows);
            all.histograms.extend(batch.chunk.histograms);
        }
        all
    }

    #[test]
    fn windows_keep_their_grid_and_their_true_lengths() {
        let want = IoLog {
            window: Some(Nanos::from_millis(100)),
            histogram: Some(Nanos::from_millis(200)),
            ..IoLog::default()
        };
        let chunk = told(want, &[0, 99, 100, 350, 351], 420);
        let millis = |time: Nanos| time.get() / 1_000_000;
        let windows = chunk.windows.iter().map(|window| {
            let sums = &window.directions[Direction::Write as usize];
            (millis(window.end), millis(window.length), sums.ios)
        });
        assert_eq!(
            windows.collect::<Vec<_>>(),
            [(100, 100, 2), (200, 100, 1), (400, 100, 2), (420, 20, 0)]
        );
        let sums = chunk.windows[0].directions[Direction::Write as usize];
        assert_eq!((sums.bytes, sums.total.sum_ns), (8192, 220));
        assert_eq!(
            (sums.submit.sum_ns, sums.complete.max),
            (20, Nanos::new(100))
        );
        let histograms = chunk.histograms.iter();
        let counts: Vec<_> = histograms
            .map(|it| (millis(it.end), it.complete.count()))
            .collect();
        assert_eq!(counts, [(200, 3), (400, 2)]);
        assert!(chunk.ios.is_empty());
    }

    #[test]
    fn the_last_window_is_as_long_as_it_was() {
        let want = IoLog {
            window: Some(Nanos::from_millis(100)),
            ..IoLog::default()
        };
        let chunk = told(want, &[130], 150);
        assert_eq!(chunk.windows[0].length, Nanos::from_millis(50));
        assert_eq!(chunk.windows[0].end, Nanos::from_millis(150));
    }

    #[test]
    fn every_io_is_told_where_that_is_asked() {
        let want = IoLog {
            each: true,
            ..IoLog::default()
        };
        let many: Vec<u64> = (0..20_000).collect();
        let chunk = told(want, &many, 20_000);
        let told: Vec<u64> = chunk
            .ios
            .iter()
            .map(|io| io.completed.get() / 1_000_000)
            .collect();
        assert_eq!(told, many);
    }
}
