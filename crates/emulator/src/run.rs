//! The verb: from arguments to a server, and from what it served to a record.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, channel, sync_channel};

use fathom_catalog::Catalog;
use fathom_fuse::Tree;
use fathom_model::{Design, Layout, Storage};
use fathom_rawio::{
    Clock, FILE_SIZE_SIGNAL, inherited_sockets, is_ignored, precise_timers, raise_open_files_limit,
    short_slices, thread_usage, wall_clock,
};
use fathom_record::{CpuRecord, Record, StageResult, Verdict, WorkerStats};
use fathom_report::{Summary, named_summary, shell_word};
use fathom_runs::{RunStart, RunWriter, Store, environment};
use fathom_session::{
    Code, Console, Failure, not_stored, read_text, tell_warnings, unread, unwritten,
};
use fathom_sim::storage_rows;
use fathom_units::{Bytes, Nanos};
use fathom_workload::Stage;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::args::ServeArgs;
use crate::attach;
use crate::backing::{BackingError, Disk, Medium};
use crate::budget::Budget;
use crate::clean::clean;
use crate::control::{Control, Orders, no_usual_place, usual_place};
use crate::document::{self, Emulation, Session};
use crate::exports::{EXPORTS_MOST, ExportTable};
use crate::listen::{Greeting, ListenError, Listener, Place, Reach};
use crate::live::{Keeper, Shown};
use crate::meter::{Meter, Second};
use crate::mount::Mount;
use crate::pace::{Pace, Spin};
use crate::path::Echo;
use crate::script::{self, Fault};
use crate::server::{Files, Server};
use crate::tls::{Clients, Tls, TlsError};
use crate::trace::{TraceFile, Tracer, trace};

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

/// What ends serving.
struct Stops {
    /// Readable after the first SIGINT or SIGTERM, or where the terminal was closed, and its other side.
    signals: UnixStream,
    bell: UnixStream,
    /// Readable after block devices were given up, and its other side.
    stop: UnixStream,
    ended: UnixStream,
}

impl Stops {
    fn new() -> std::io::Result<Self> {
        let (signals, bell) = UnixStream::pair()?;
        // Who wants it to outlive its terminal has said so.
        let closed = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        for signal in [SIGINT, SIGTERM].into_iter().chain(closed) {
            signal_hook::low_level::pipe::register(signal, bell.try_clone()?)?;
        }
        // What goes beyond the limit of a file's size is told to whoever wrote it.
        signal_hook::flag::register(FILE_SIZE_SIGNAL, std::sync::Arc::default())?;
        let (stop, ended) = UnixStream::pair()?;
        Ok(Self {
            signals,
            bell,
            stop,
            ended,
        })
    }
}

/// The fault script, where there is one.
fn faults(
    args: &ServeArgs,
    exports: &ExportTable,
    storage: &Storage,
) -> Result<Vec<Fault>, Failure> {
    match &args.faults {
        None => Ok(Vec::new()),
        Some(path) => script::read(path, args.seed, exports, storage),
    }
}

/// A way for orders, at the place asked for or the usual one.
fn control(args: &ServeArgs, console: &dyn Console) -> Result<Control, Failure> {
    let mut control = Control::new().map_err(|error| Failure::new(Code::Unexpected, error))?;
    let Some(place) = args.control.clone().or_else(usual_place) else {
        if let Some(why) = no_usual_place().filter(|_| !args.quiet) {
            console.tell(&format!(
                "orders: none can come, for {why}; `--control SOCKET` makes a socket for them"
            ));
        }
        return Ok(control);
    };
    let opened = control.listen(&place);
    opened.map_err(|error| {
        let message = format!(
            "the control socket `{}` cannot be made: {error}",
            place.display()
        );
        let hint = match error.kind() {
            std::io::ErrorKind::AddrInUse => {
                "another server answers there: stop it, or name another socket with `--control`"
            }
            std::io::ErrorKind::AlreadyExists => {
                "something that is no socket has that name: move it away, or name another with `--control`"
            }
            _ => "name another with `--control`",
        };
        Failure::new(Code::Target, message).hint(hint)
    })?;
    if let Some(place) = control.path().filter(|_| !args.quiet) {
        console.tell(&format!(
            "orders: fathom ctl --control {} …",
            place.display()
        ));
    }
    Ok(control)
}

/// The volumes as files, where they are to be shown as such.
fn files(
    args: &ServeArgs,
    exports: &ExportTable,
    started_unix_ns: u64,
) -> Result<Option<Files>, Failure> {
    let Some(folder) = &args.fuse else {
        return Ok(None);
    };
    let names = exports.exports.iter();
    let names = names.map(|export| (export.name.as_str(), export.size));
    let owner = (rustix::process::getuid(), rustix::process::getgid());
    let owner = (owner.0.as_raw(), owner.1.as_raw());
    let tree = Tree::new(names, started_unix_ns, owner);
    let tree = tree.map_err(|error| {
        Failure::new(Code::Input, error)
            .hint("give the volume another name, or serve over NBD alone")
    })?;
    let mount = Mount::new(folder).map_err(|error| Failure::new(Code::Target, error))?;
    Ok(Some(Files::new(mount, tree)))
}

fn read(path: &Path, console: &dyn Console) -> Result<(Design, String), Failure> {
    let name = path.display().to_string();
    let text = read_text("the design ", path)?;
    let (design, warnings) = Design::read(&text, &name, Catalog::builtin())?;
    tell_warnings(&warnings, console);
    Ok((design, text))
}

fn tables(design: &Design) -> Result<(ExportTable, Layout), Failure> {
    let count = design.volume_count();
    if count == 0 || count > EXPORTS_MOST {
        let message = format!("the design has {count} volumes; 1 to {EXPORTS_MOST} can be served");
        return Err(Failure::new(Code::Input, message));
    }
    ExportTable::new(design).map_err(|overfull| {
        let names = overfull.iter().map(|one| design.volume_name(one.volume));
        let names = names.collect::<Vec<_>>().join(", ");
        Failure::new(Code::Input, format!("these volumes have no room: {names}"))
    })
}

fn model(design: &Design, layout: &Layout, seed: u64) -> Result<Storage, Failure> {
    let storage = Storage::new(design, layout, seed);
    let mut storage = storage.map_err(|error| Failure::new(Code::Input, error))?;
    for volume in design.volume_ids() {
        if design.starts_warm(volume) {
            storage.warm(volume, 0, design.capacity(volume).get());
        }
    }
    Ok(storage)
}

fn disks(args: &ServeArgs, exports: &ExportTable) -> Result<(Vec<Disk>, Budget), Failure> {
    let medium = if args.backing == "mem" {
        Medium::Memory
    } else {
        let directory = Path::new(&args.backing);
        if !directory.is_dir() {
            let message = format!("the backing `{}` is no directory", args.backing);
            return Err(Failure::new(Code::Input, message)
                .hint("make it, or serve from memory with `--backing mem`"));
        }
        Medium::Directory(directory.to_owned())
    };
    let disks = exports.exports.iter().map(|export| {
        let disk = Disk::new(&medium, &export.name, export.size);
        disk.map_err(|error| no_bytes(error, &medium))
    });
    let disks = disks.collect::<Result<Vec<_>, _>>()?;
    let memory = args.memory.unwrap_or_else(available_memory);
    if memory.get() < crate::allocation::BLOCK {
        let message = format!("`--memory` of {memory} holds no block of a volume, which has 4 KiB");
        return Err(Failure::new(Code::Usage, message)
            .hint("give so much as clients are to write, such as `--memory 4GiB`"));
    }
    Ok((disks, Budget::new(memory.get() / crate::allocation::BLOCK)))
}

/// A volume that could not be given its bytes, and what to do about it.
fn no_bytes(error: BackingError, medium: &Medium) -> Failure {
    let hint = match (&error, medium) {
        (BackingError::File { .. }, Medium::Memory) => {
            Some("give the volume less capacity, or serve from files with `--backing DIR`")
        }
        (BackingError::File { source, .. }, _)
            if source.kind() == std::io::ErrorKind::FileTooLarge =>
        {
            Some(
                "name a directory whose file system has such large files, or give the volume less capacity",
            )
        }
        (BackingError::File { .. }, _) => Some(
            "name a directory with `--backing` in which files of this user can be made and written",
        ),
        _ => None,
    };
    let code = match error {
        BackingError::Storage { .. } => Code::Refused,
        _ => Code::Target,
    };
    let failure = Failure::new(code, error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Three quarters of the memory that is available.
fn available_memory() -> Bytes {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
    // Where the kernel does not tell: so much that small designs work.
    Bytes::kib(kib.unwrap_or(4 << 20) / 4 * 3)
}

fn listeners(args: &ServeArgs, tls: Option<&Tls>) -> Result<Vec<Listener>, Failure> {
    let reach = match tls.map(Tls::clients) {
        Some(Clients::Certified) => Reach::Anybody,
        _ if args.insecure => Reach::Anybody,
        _ => Reach::Local,
    };
    let greeting = match tls {
        Some(_) => Greeting::Tls,
        None => Greeting::Plain,
    };
    let usage = |error: &dyn std::fmt::Display| Failure::new(Code::Usage, error);
    let places = args.nbd.iter().map(|place| Place::parse(place));
    let places: Vec<Place> = places
        .collect::<Result<_, _>>()
        .map_err(|error| usage(&error))?;
    let mut listeners = Vec::new();
    for (index, place) in places.iter().enumerate() {
        if let Place::Unix(directory) = place
            && places[..index].contains(place)
        {
            return Err(usage(&ListenError::Twice(directory.display().to_string())));
        }
        let listener = Listener::new(place, reach, greeting);
        listeners.push(listener.map_err(|error| match error {
            ListenError::Open(_) => Failure::new(Code::Refused, error),
            _ => Failure::new(Code::Target, error),
        })?);
    }
    for socket in inherited_sockets() {
        let listener = Listener::inherited(socket, greeting);
        listeners.push(listener.map_err(|error| Failure::new(Code::Target, error))?);
    }
    if listeners.is_empty() && args.fuse.is_none() {
        let message = "nothing says where clients come";
        return Err(Failure::new(Code::Usage, message).hint(
            "name a directory for the socket, `--nbd unix:/tmp/disks`, or for files, `--fuse /mnt/disks`",
        ));
    }
    if tls.is_some()
        && listeners
            .iter()
            .all(|one| one.greeting() == Greeting::Plain)
    {
        let message = "TLS is spoken over TCP, and no client comes that way";
        return Err(Failure::new(Code::Usage, message)
            .hint("add `--nbd tcp:ADDRESS:PORT`, or leave the certificates out"));
    }
    Ok(listeners)
}

/// How TLS is spoken, where it is.
fn tls(args: &ServeArgs) -> Result<Option<Tls>, Failure> {
    Tls::new(&args.tls).map_err(|errors| {
        let told = errors.iter().map(|error| match error {
            TlsError::Read { path, source } => unread("", path, source),
            other => Failure::new(Code::Input, other),
        });
        let told: Vec<String> = told.map(|failure| failure.message).collect();
        Failure {
            code: Code::Input,
            message: told.join("\n"),
        }
    })
}

fn open_trace(
    args: &ServeArgs,
    exports: &ExportTable,
) -> Result<Option<(Tracer, TraceFile)>, Failure> {
    let names = exports.exports.iter().map(|export| export.name.as_str());
    let opened = args.trace.as_ref().map(|path| {
        let opened = trace(path, names);
        opened.map_err(|error| unwritten(path, &error))
    });
    opened.transpose()
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn store(
    args: &ServeArgs,
    title: &str,
    design: &str,
    started_unix_ns: u64,
    console: &dyn Console,
) -> Option<RunWriter> {
    if args.no_record {
        return None;
    }
    let environment = environment();
    let start = RunStart {
        kind: "serve",
        what: title,
        started_unix_ns,
        workload: "# Served storage: the workload was whatever clients did.\n",
        design: Some(design),
        environment: &environment,
    };
    let store = Store::of_user(|name| std::env::var(name).ok());
    let writer = store.and_then(|store| store.begin(&start));
    let mut writer = writer
        .map_err(|error| console.tell(&not_stored(&error)))
        .ok();
    if let Some(note) = writer.as_mut().and_then(RunWriter::take_note) {
        console.tell(&format!("note: {note}"));
    }
    writer
}

/// Says where each export is found.
fn announce(
    args: &ServeArgs,
    exports: &ExportTable,
    listeners: &[Listener],
    console: &dyn Console,
) {
    if args.quiet {
        return;
    }
    let folder = args.fuse.as_deref().map(Path::display);
    for export in &exports.exports {
        let size = Bytes::new(export.size);
        for listener in listeners {
            console.tell(&format!("serving {} ({size})", listener.uri(&export.name)));
        }
        if let Some(folder) = &folder {
            console.tell(&format!("serving {folder}/{} ({size})", export.name));
        }
    }
}

/// A record of this machine's room is of no use, however it is read.
fn tell_lack_of_room(record: &Record, console: &dyn Console) {
    let mut checks = record.checks.iter();
    if let Some(check) = checks.find(|check| check.id == document::ROOM && !check.passed) {
        let (evidence, remedy) = (&check.evidence, &check.remedy);
        console.tell(&format!("warning: {evidence}\n  hint: {remedy}"));
    }
}

fn finish(
    record: &mut Record,
    writer: Option<RunWriter>,
    args: &ServeArgs,
    console: &dyn Console,
) -> Result<Code, Failure> {
    // Others may have stored runs since this one began.
    let name = writer.as_ref().map(RunWriter::name);
    if let Some(problem) = writer.and_then(|writer| writer.finish_shown(record)) {
        console.tell(&format!("note: {problem}"));
    }
    if args.json {
        // What the summary says, where that is not printed.
        let own = name.as_deref().filter(|_| record.stored && !args.quiet);
        if let Some(own) = own.map(shell_word) {
            console.tell(&format!(
                "the run is stored: `fathom report {own}` shows it"
            ));
        }
        tell_lack_of_room(record, console);
        let text = serde_json::to_string(record);
        let text = text.map_err(|error| Failure::new(Code::Unexpected, error))?;
        console.print(&(text + "\n"));
    } else {
        let how_much = if args.full {
            Summary::Full
        } else {
            Summary::Short
        };
        console.show(&named_summary(
            record,
            how_much,
            console.width(),
            name.as_deref(),
        ));
    }
    Ok(if args.strict && record.verdict == Verdict::Questionable {
        Code::Check
    } else {
        Code::Success
    })
}
