//! The verb: from arguments to a server, and from what it served to a record.

mod results;
mod storage;
mod ways;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, channel, sync_channel};

use fathom_model::Storage;
use fathom_rawio::{
    Clock, precise_timers, raise_open_files_limit, short_slices, thread_usage, wall_clock,
};
use fathom_record::{CpuRecord, Record, StageResult, WorkerStats};
use fathom_runs::{RunWriter, environment};
use fathom_session::{Code, Console, Failure, unwritten};
use fathom_sim::storage_rows;
use fathom_units::Nanos;
use fathom_workload::Stage;

use self::results::{file_name, finish, open_trace, store};
use self::storage::{disks, model, read, tables};
use self::ways::{Stops, announce, control, faults, files, listeners, tls};
use crate::args::ServeArgs;
use crate::attach;
use crate::backing::Disk;
use crate::budget::Budget;
use crate::clean::clean;
use crate::control::{Control, Orders};
use crate::document::{self, Emulation, Session};
use crate::exports::ExportTable;
use crate::listen::Listener;
use crate::live::{Keeper, Shown};
use crate::meter::{Meter, Second};
use crate::pace::{Pace, Spin};
use crate::path::Echo;
use crate::script::{self, Fault};
use crate::server::{Files, Server};
use crate::tls::Tls;
use crate::trace::{TraceFile, Tracer};

/// Seconds that may wait to be shown.
const SECONDS_WAITING: usize = 4;

/// Serves a design until it is interrupted; shows and stores what was served.
///
/// # Errors
///
/// What kept it from serving: all of it before the first client is let in.
pub fn run(args: &ServeArgs, console: &dyn Console) -> Result<Code, Failure> {
    let Some(path) = args.design.as_ref().filter(|_| !args.clean) else {
        return clean(console);
    };
    let started_unix_ns = wall_clock();
    let (design, text) = read(path, console)?;
    let design = design.scaled(args.scale);
    let (exports, layout) = tables(&design)?;
    let storage = model(&design, &layout, args.seed)?;
    // Whatever is read comes first: a pipe that nobody writes to would not notice an interrupt that is taken.
    let tls = tls(args)?;
    let faults = faults(args, &exports, &storage)?;
    // From here on something may be left behind, or told, that an early Ctrl-C must end as a late one does.
    let stops = Stops::new().map_err(|error| Failure::new(Code::Unexpected, error))?;
    let disks = disks(args, &exports)?;
    let listeners = listeners(args, tls.as_ref())?;
    let files = files(args, &exports, started_unix_ns)?;
    let control = control(args, console)?;
    // Without more of them fewer clients are let in.
    let _ = raise_open_files_limit();
    let traced = open_trace(args, &exports)?;
    let stage = document::stage(&exports);
    let stage = stage.map_err(|error| Failure::new(Code::Unexpected, error))?;
    let title = format!("{} served", file_name(path));
    let writer = store(args, &title, &text, started_unix_ns, console);
    announce(args, &exports, &listeners, console);
    let session = Session {
        title,
        stored: writer.is_some(),
        started_unix_ns,
        environment: environment(),
        design: &design,
        notes: design.notes.clone(),
    };
    let ways = (listeners, tls, files, control, faults);
    let serving = Serving {
        args,
        exports: &exports,
        stage: &stage,
        session,
        stops,
    };
    let (mut record, writer, traced) =
        serving.serve((storage, disks, ways), traced, writer, console)?;
    let code = finish(&mut record, writer, args, console)?;
    Ok(match traced {
        Code::Success => code,
        lost => lost,
    })
}

/// How clients come, over the network's protocol and as files, and how orders do; those of a script.
type Ways = (
    Vec<Listener>,
    Option<Tls>,
    Option<Files>,
    Control,
    Vec<Fault>,
);

/// What stays the same while serving.
struct Serving<'a> {
    args: &'a ServeArgs,
    exports: &'a ExportTable,
    stage: &'a Stage,
    session: Session<'a>,
    stops: Stops,
}

impl Serving<'_> {
    fn serve(
        self,
        (storage, disks, (listeners, tls, files, control, faults)): (
            Storage,
            (Vec<Disk>, Budget),
            Ways,
        ),
        traced: Option<(Tracer, TraceFile)>,
        writer: Option<RunWriter>,
        console: &dyn Console,
    ) -> Result<(Record, Option<RunWriter>, Code), Failure> {
        let failed = |error: std::io::Error| Failure::new(Code::Unexpected, error);
        let stops = &self.stops;
        precise_timers();
        short_slices();
        let (echo, ways) = Echo::new().map_err(failed)?;
        let (seconds, coming) = sync_channel(SECONDS_WAITING);
        let (tracer, file) = traced.map_or((None, None), |(one, other)| (Some(one), Some(other)));
        let start = Clock::now();
        let parts = storage.gauges(Nanos::ZERO);
        let parts = parts.map(|gauge| gauge.name.to_owned());
        let shown = if self.args.quiet {
            Shown::No
        } else {
            Shown::Yes
        };
        let refusals = tls.as_ref().map(Tls::refusals).cloned().unwrap_or_default();
        let keeper = Keeper::new(console, shown, writer, refusals, parts.collect());
        let meter = self.meter(start, seconds, tracer);
        let pace = Pace::new(storage, start, ways, spin());
        let attached = match &files {
            Some(files) if self.args.attach => Some(self.paths(files.mount.path())),
            _ => None,
        };
        let mut server =
            Server::new(self.exports, disks, (pace, echo), meter, listeners).map_err(failed)?;
        if self.args.tearable || faults.iter().any(Fault::tears) {
            server.be_tearable();
        }
        if let Some(tls) = &tls {
            server.speak_tls(tls).map_err(failed)?;
        }
        if let Some(files) = files {
            server.show(files).map_err(failed)?;
        }
        let script = (faults, control.orders());
        server.take_orders(control).map_err(failed)?;
        let before = cpu();
        let (served, result, emulation, keeper) = std::thread::scope(|scope| {
            let keeper = scope.spawn(move || keeper.work(&coming));
            let ways = (attached.as_deref(), &script);
            let served = self.drive(&mut server, ways, stops, start, console);
            let cpu = cpu_since(before);
            let now = Clock::now();
            let (notes, Server { pace, meter, .. }) = (server.notes(), server);
            let without_room = meter.without_room();
            let (workers, error) = meter.finish(now, &pace);
            let result = self.result((start, now), workers, &pace, notes);
            let emulation = Emulation {
                error,
                bound: self.args.max_error,
                path: pace.ways().both(),
                cpu,
                without_room,
            };
            (served, result, emulation, keeper.join())
        });
        let mut keeper = keeper.map_err(|_| failed(ended_early()))?;
        let traced = file.map_or(Code::Success, |file| self.end_trace(file, console));
        served.map_err(failed)?;
        let mut result = result;
        result.intervals = std::mem::take(&mut keeper.intervals);
        keeper.fill(&mut result.storage);
        let stage = document::stage_of(self.stage, &result, &emulation);
        keeper.finished(&stage);
        let checks = vec![
            document::check(&emulation, document::latency_ns(&stage)),
            document::room_check(emulation.without_room, &self.args.backing),
        ];
        let record = document::record(self.session, stage, result, checks);
        Ok((record, keeper.writer, traced))
    }

    /// Ends the trace; a line that it has not is lost, as a result that finds no room is.
    fn end_trace(&self, file: TraceFile, console: &dyn Console) -> Code {
        let path = self.args.trace.as_deref().unwrap_or(Path::new("the trace"));
        let Err(error) = file.finish() else {
            return Code::Success;
        };
        let lost = unwritten(path, &error);
        console.tell(&lost.message);
        console.tell("note: the trace ends there; what was served is recorded as a whole");
        lost.code
    }

    /// Serves until it is told to end, while a fault script is followed.
    fn drive(
        &self,
        server: &mut Server<'_>,
        (attached, (faults, orders)): (Option<&[PathBuf]>, &(Vec<Fault>, Orders)),
        stops: &Stops,
        start: Nanos,
        console: &dyn Console,
    ) -> std::io::Result<()> {
        let (serving, ended) = channel();
        std::thread::scope(|scope| {
            scope.spawn(move || script::follow(faults, orders, start, &ended, console));
            let served = match attached {
                None => {
                    let end = self.args.duration.map(|length| start + length);
                    server.run(&stops.signals, end)
                }
                Some(paths) => self.with_devices(server, paths, stops, console),
            };
            server.close();
            drop(serving);
            served
        })
    }

    /// Serves while another thread keeps block devices of the files.
    fn with_devices(
        &self,
        server: &mut Server<'_>,
        files: &[PathBuf],
        stops: &Stops,
        console: &dyn Console,
    ) -> std::io::Result<()> {
        let length = self.args.duration;
        std::thread::scope(|scope| {
            let (signals, ended) = (&stops.signals, &stops.ended);
            let loops = scope.spawn(move || attach::keep(files, signals, length, ended, console));
            let served = server.run(&stops.stop, None);
            server.close();
            // Twice, for where the server failed while a device was in use.
            let _ = (&stops.bell).write(&[1; 2]);
            let kept = loops.join().map_err(|_| ended_early());
            served.and(kept.and_then(|kept| kept.map_err(std::io::Error::other)))
        })
    }

    fn result(
        &self,
        (start, now): (Nanos, Nanos),
        workers: Vec<WorkerStats>,
        pace: &Pace,
        notes: Vec<String>,
    ) -> StageResult {
        StageResult {
            started_unix_ns: self.session.started_unix_ns,
            measured: crate::meter::measured(&workers).unwrap_or(now.saturating_sub(start)),
            workers,
            storage: storage_rows(&pace.storage, pace.since_start(now)),
            notes,
            ..StageResult::new(&self.stage.name, 0)
        }
    }

    /// The files of all exports below `folder`.
    fn paths(&self, folder: &Path) -> Vec<PathBuf> {
        let exports = self.exports.exports.iter();
        exports.map(|export| folder.join(&export.name)).collect()
    }

    fn meter(&self, start: Nanos, seconds: SyncSender<Second>, tracer: Option<Tracer>) -> Meter {
        let instant = self.exports.exports.iter().map(|export| export.instant);
        Meter::new(start, instant, seconds, tracer)
    }
}

fn ended_early() -> std::io::Error {
    std::io::Error::other("a thread ended early")
}

/// Processor time of this thread from then on.
fn cpu_since(before: CpuRecord) -> CpuRecord {
    let now = cpu();
    CpuRecord {
        user_ns: now.user_ns - before.user_ns,
        system_ns: now.system_ns - before.system_ns,
        ..CpuRecord::default()
    }
}

/// Processor time of this thread until now.
fn cpu() -> CpuRecord {
    let usage = thread_usage().unwrap_or_default();
    CpuRecord {
        user_ns: usage.user.get(),
        system_ns: usage.system.get(),
        ..CpuRecord::default()
    }
}

fn spin() -> Spin {
    match std::thread::available_parallelism() {
        Ok(count) if count.get() > 1 => Spin::Yes,
        _ => Spin::No,
    }
}
