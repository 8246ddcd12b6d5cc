//! From the words after a verb to a workload.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use fathom_diagnostics::{Diagnostics, nearest};
use fathom_dialects::diskspd::is_windows_path;
use fathom_dialects::fio::SystemFiles;
use fathom_dialects::iometer::mapped_name;
use fathom_dialects::vdbench::{Host, HostShare};
use fathom_engine::{means_device, size_exports};
use fathom_workload::{
    Backend, ExistingFiles, IoLog, Job, Place, Sweep, SweepError, SweepPoint, Workload, preset,
    preset_names, validate,
};

use crate::files::STDIN;
use crate::spoken::{
    self, Spoken, prepare_diskperformance, settle_iometer, settle_paths, settle_vdbench, vdbench,
};
use crate::{Code, Console, Failure};

/// A workload, and what its reader knows beyond it.
#[derive(Debug)]
pub struct Input {
    /// Short name, for lists.
    pub name: String,
    /// What to run.
    pub workload: Workload,
    /// The dialect it was read in, with what its reader knows beyond the workload.
    pub spoken: Spoken,
    /// What its stages sweep; empty without a sweep.
    pub sweep: Vec<SweepPoint>,
    /// What `--map` made of its paths.
    pub replaced: Vec<Replaced>,
}

/// A path that stands in the place of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// The path.
    pub path: String,
    /// The `FROM=TO` that it is of.
    pub map: String,
}

impl Replaced {
    /// What can be done about the path: a further `--map` would not be asked, since each replaces what the input has.
    pub fn hint(&self) -> String {
        format!(
            "`--map '{}'` put it there, and no further one replaces it: give another place behind the `=` of that one",
            self.map
        )
    }

    /// What can be done where its map gave a folder of files the place of one: that of the job's file alone, to go to `place`, or
    /// to where the map has it.
    pub fn file_hint(&self, place: Option<&str>) -> Option<String> {
        let (from, to) = parse_map(&self.map).ok()?;
        let rest = self.path.strip_prefix(&to)?;
        let place = place.unwrap_or(&to);
        Some(format!(
            "map the file, and not its folder: `--map '{from}{rest}={place}'`"
        ))
    }
}

/// In whose layout results are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Fathom's.
    Own,
    /// The peer's whose words or file the workload came from.
    Peer,
}

/// The part of a command line that names a workload.
#[derive(Debug, Clone, Copy)]
pub struct Words<'a> {
    /// A file, a preset, or a dialect's name and that tool's own arguments.
    pub workload: &'a [String],
    /// Replacements of paths, each `FROM=TO`.
    pub maps: &'a [String],
    /// The dialect to read a file in.
    pub dialect: Option<&'a str>,
    /// Directory of a preset's file.
    pub target: Option<&'a Path>,
}

impl Input {
    /// A workload from elsewhere than a dialect.
    pub fn new(name: impl Into<String>, workload: Workload) -> Self {
        Self {
            name: name.into(),
            workload,
            spoken: Spoken::Preset,
            sweep: Vec::new(),
            replaced: Vec::new(),
        }
    }

    /// The same, as read in a dialect.
    #[must_use]
    pub fn spoken(self, spoken: Spoken) -> Self {
        Self { spoken, ..self }
    }

    /// Lays the sweep of `words` (each the value of a `--sweep`) over the workload; none leaves it as it is.
    ///
    /// # Errors
    /// What is wrong with the words, or why the workload cannot follow them.
    pub fn with_sweep(mut self, words: &[String]) -> Result<Self, Failure> {
        if words.is_empty() {
            return Ok(self);
        }
        let refused = |error: SweepError| Failure::new(Code::Usage, &error).hint(&error.hint);
        let sweep: Sweep = words.join(",").parse().map_err(refused)?;
        let swept = sweep.apply(&self.workload).map_err(refused)?;
        validate(&swept.workload)?;
        self.workload = swept.workload;
        self.sweep = swept.points;
        Ok(self)
    }

    /// Makes this machine one of several that run the input together: of a file that names hosts it does the work of its own.
    /// `None` where the file names none: then every machine does all of it. To be called before [`Self::on_this_machine`].
    pub fn among_others(&mut self) -> Option<HostShare> {
        match &mut self.spoken {
            Spoken::Vdbench(input) => vdbench::with_workload(input, &mut self.workload, |input| {
                input.among_others(&SystemFiles)
            }),
            _ => None,
        }
    }

    /// Fits a peer's input to this machine: ranges end where files end, every path must be one of here, and hosts must be
    /// this one. What a reader of the results should know is told.
    ///
    /// # Errors
    /// A path that means something to Windows alone, with the `--map` that it needs; hosts that are other machines.
    pub fn on_this_machine(mut self, console: &dyn Console) -> Result<Self, Failure> {
        refuse_windows_of(&self.replaced)?;
        match &mut self.spoken {
            Spoken::Diskspd(_) | Spoken::Sqlio(_) => {
                tell_warnings(&settle_paths(&mut self.workload)?, console);
            }
            Spoken::DiskPerformance(script) => {
                prepare_diskperformance(&script.settings, &mut self.workload)?;
            }
            Spoken::Vdbench(input) => settle_vdbench(input, &mut self.workload, console)?,
            Spoken::Iometer(input) => settle_iometer(&mut self.workload, input)?,
            Spoken::Native { .. } => fresh_files(&mut self.workload, |_| false),
            Spoken::Preset | Spoken::Fio(_) => {}
        }
        Ok(self)
    }

    /// Tells which names of `--destroy-data` are of no use, since no target of the workload is a block device or an export of that name.
    /// One that the environment holds for all runs is no mistake of this one. To be called once the write guard has let
    /// everything pass: what it refuses, it tells with the names that were of no use.
    pub fn tell_unused_names(&self, destroy_data: &[String], console: &dyn Console) {
        let of_all = std::env::var("FATHOM_DESTROY_DATA").ok();
        let own = |name: &&String| Some(*name) != of_all.as_ref();
        let mut own = destroy_data.iter().filter(own).peekable();
        if own.peek().is_none() {
            return;
        }
        let targets = self.workload.jobs().flat_map(|(_, job)| &job.targets);
        let paths: BTreeSet<&str> = targets.map(|target| target.place.path()).collect();
        let is_device = |path: &&str| {
            fs::metadata(path).is_ok_and(|found| found.file_type().is_block_device())
                || Place::Path((*path).to_owned()).is_export()
        };
        let devices: Vec<&Path> = paths.into_iter().filter(is_device).map(Path::new).collect();
        for name in own {
            let why = match devices.as_slice() {
                [] => "no target of this workload is a block device or an export",
                devices if devices.iter().any(|path| means_device(name, path)) => continue,
                _ => "no block device or export of this workload bears that name",
            };
            console.tell(&format!(
                "note: `--destroy-data={name}` changes nothing: {why}"
            ));
        }
    }

    /// Takes paths that are folders on this machine for what a run takes them for: a fresh file in each. A peer's words mean no
    /// such thing.
    #[must_use]
    pub fn with_fresh_files(mut self) -> Self {
        fresh_files(&mut self.workload, |path| Path::new(path).is_dir());
        self
    }

    /// A folder that a peer's tool would make first, and that is not there.
    pub fn missing_folder(&self) -> Option<&Path> {
        let Spoken::DiskPerformance(_) = self.spoken else {
            return None;
        };
        let mut targets = self.workload.jobs().flat_map(|(_, job)| &job.targets);
        spoken::missing_folder(targets.next()?.place.path())
    }

    /// Makes what a peer's tool would make first.
    ///
    /// # Errors
    /// A folder that cannot be made.
    pub fn make_folders(&self) -> Result<(), Failure> {
        let Spoken::DiskPerformance(_) = self.spoken else {
            return Ok(());
        };
        let mut targets = self.workload.jobs().flat_map(|(_, job)| &job.targets);
        targets
            .next()
            .map_or(Ok(()), |target| spoken::make_folder(target.place.path()))
    }

    /// Fits the machines that an Iometer file names to those of a design: a design with one machine has all workers on
    /// it, and so has one that does not know the file's only machine.
    ///
    /// # Errors
    /// A target whose size the file does not say: a prediction has no disk to look at.
    pub fn on_machines<'a>(
        mut self,
        names: impl Iterator<Item = &'a str>,
    ) -> Result<Self, Failure> {
        let names: Vec<&str> = names.collect();
        if let Spoken::Iometer(input) = &self.spoken {
            let alone = input.managers.len() < 2;
            let jobs = self.workload.stages.iter_mut();
            for job in jobs.flat_map(|stage| &mut stage.jobs) {
                let mut targets = job.targets.iter();
                if let Some(target) = targets.find(|target| target.length.is_none()) {
                    let path = target.place.path();
                    let message = format!(
                        "`{path}` has no Maximum Disk Size, and a prediction has no disk to look at"
                    );
                    let hint =
                        "give `--size`, such as `iometer FILE --size 10GiB`, or set it in the file";
                    return Err(Failure::new(Code::Input, message).hint(hint));
                }
                let known = |host: &str| names.contains(&host);
                let strange = !job.host.as_deref().is_some_and(known);
                if names.len() < 2 || (alone && strange) {
                    job.host = None;
                }
            }
        }
        Ok(self)
    }

    /// Adds what a peer would do first where its files were missing: Vdbench's `SD_format`.
    ///
    /// # Errors
    /// An input whose peer has no such run.
    pub fn with_layout(mut self) -> Result<Self, Failure> {
        let Spoken::Vdbench(input) = &mut self.spoken else {
            let message = "`--include-layout` is for Vdbench's parameter files, whose `SD_format` run it predicts too";
            return Err(Failure::new(Code::Usage, message)
                .hint("leave it out: files are taken as laid out"));
        };
        vdbench::with_layout(input, &mut self.workload);
        Ok(self)
    }

    /// Whether threads of DISKSPD share targets, and tell which they use.
    pub fn tells_targets(&self) -> bool {
        let Spoken::Diskspd(input) = &self.spoken else {
            return false;
        };
        let mut places = input.places.iter().flatten();
        places.any(|place| place.targets.len() > 1)
    }

    /// Leaves the peer's logs out, which its own verb writes and no other, and says so. DISKSPD's own layout needs to be told to which of a thread's targets each I/O went.
    #[must_use]
    pub fn without_logs(mut self, layout: Layout, console: &dyn Console) -> Self {
        if layout == Layout::Peer && self.tells_targets() {
            return self;
        }
        let jobs = self.workload.stages.iter_mut();
        let jobs = jobs.flat_map(|stage| &mut stage.jobs);
        let mut logged = jobs.filter(|job| job.features.io_log.is_on()).peekable();
        if logged.peek().is_some() {
            console.tell("note: logs of I/O are written by a peer's own verb alone (`fathom fio …`); this run stores its intervals");
        }
        logged.for_each(|job| job.features.io_log = IoLog::default());
        self
    }

    /// The hosts of a parameter file of Vdbench; no other dialect says more of hosts than their names.
    pub fn hosts(&self) -> &[Host] {
        match &self.spoken {
            Spoken::Vdbench(read) => &read.hosts,
            _ => &[],
        }
    }
}

/// Makes of every path that ends with `/`, which is no file's name, and of those that `is_folder` says, a fresh file there.
fn fresh_files(workload: &mut Workload, is_folder: impl Fn(&str) -> bool) {
    let jobs = workload.stages.iter_mut().flat_map(|stage| &mut stage.jobs);
    let own = jobs.filter(|job| job.existing != ExistingFiles::AsPeer);
    for place in own.flat_map(|job| &mut job.targets).map(|it| &mut it.place) {
        if let Place::Path(path) = place
            && (path.ends_with('/') || is_folder(path))
        {
            let folder = path.trim_end_matches('/');
            let folder = if folder.is_empty() { "/" } else { folder };
            *place = Place::FreshFileIn(folder.to_owned());
        }
    }
}

/// Reads the workload that `words` name. Warnings are told.
///
/// # Errors
/// What is wrong with the words, or with what they name.
pub fn load(words: &Words<'_>, console: &dyn Console) -> Result<Input, Failure> {
    let mut input = unmapped(words, console)?;
    tell_unused_maps(words.maps, &input.workload, console)?;
    input.replaced = map_paths(words.maps, &mut input.workload)?;
    Ok(input)
}

/// As [`load`], for a prediction: exports for which the input has no size are as large as their servers say, if those answer.
/// Once a path stands in the place of an export, nobody could tell any more.
///
/// # Errors
/// As [`load`].
pub fn load_to_predict(words: &Words<'_>, console: &dyn Console) -> Result<Input, Failure> {
    let mut input = unmapped(words, console)?;
    size_exports(&mut input.workload);
    tell_unused_maps(words.maps, &input.workload, console)?;
    input.replaced = map_paths(words.maps, &mut input.workload)?;
    Ok(input)
}

/// The workload with the paths that its words have.
fn unmapped(words: &Words<'_>, console: &dyn Console) -> Result<Input, Failure> {
    let Words {
        workload,
        dialect,
        target,
        ..
    } = *words;
    let (first, rest) = workload
        .split_first()
        .ok_or_else(|| Failure::new(Code::Usage, "no workload"))?;
    let input = if let (Some(speak), None) = (spoken::dialect(first), dialect) {
        (speak.from_words)(rest, console)?
    } else if is_path(first) || dialect.is_some() {
        spoken::from_file(first, dialect, console)?
    } else {
        from_preset(first, target)?
    };
    if target.is_some() && input.name != *first {
        let message = "`--target` is for presets; a workload file names its own targets";
        return Err(
            Failure::new(Code::Usage, message).hint("use `--map FROM=TO` to replace a path")
        );
    }
    Ok(input)
}

/// Replaces paths of a workload, as each `FROM=TO` says; what became of those that were replaced.
///
/// # Errors
/// Where one is not of that form.
pub fn map_paths(maps: &[String], workload: &mut Workload) -> Result<Vec<Replaced>, Failure> {
    let maps = maps.iter().map(|map| parse_map(map));
    let maps = maps.collect::<Result<Vec<_>, _>>()?;
    Ok(apply(&maps, workload))
}

/// Tells which `FROM=TO` of `maps` replace no path of `workload`: I/O goes where the workload has it then, and not where its user
/// thinks.
///
/// # Errors
/// Where one is not of that form.
fn tell_unused_maps(
    maps: &[String],
    workload: &Workload,
    console: &dyn Console,
) -> Result<(), Failure> {
    /// Paths that are named where a map fits none.
    const SHOWN: usize = 3;
    let targets = workload.jobs().flat_map(|(_, job)| &job.targets);
    let mut paths: Vec<&str> = targets.map(|target| target.place.path()).collect();
    let mut seen = BTreeSet::new();
    paths.retain(|path| seen.insert(*path));
    for map in maps {
        let (from, to) = parse_map(map)?;
        if paths.iter().any(|path| mapped(path, &from, &to).is_some()) {
            continue;
        }
        let named = paths.iter().take(SHOWN).map(|path| format!("`{path}`"));
        let more = match paths.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = named.collect::<Vec<_>>().join(", ");
        console.tell(&format!(
            "note: `--map {map}` changes nothing: no path of this workload is `{from}` or lies below it; it has {named}{more}"
        ));
    }
    Ok(())
}

/// As [`map_paths`], where the workload is to run on this machine.
///
/// # Errors
/// As [`map_paths`], and where a path is of Windows still.
pub fn map_to_this_machine(
    maps: &[String],
    workload: &mut Workload,
    console: &dyn Console,
) -> Result<(), Failure> {
    tell_unused_maps(maps, workload, console)?;
    refuse_windows_of(&map_paths(maps, workload)?)
}

/// Refuses a path of Windows that was put in the place of another.
fn refuse_windows_of(replaced: &[Replaced]) -> Result<(), Failure> {
    let is_of_windows = |path: &str| !path.starts_with('/') && is_windows_path(path);
    match replaced.iter().find(|it| is_of_windows(&it.path)) {
        Some(of_windows) => {
            let path = &of_windows.path;
            let message = format!("`{path}` is a path of Windows, and nothing serves it here");
            Err(Failure::new(Code::Input, message).hint(of_windows.hint()))
        }
        None => Ok(()),
    }
}

/// What each `FROM=TO` of `maps` makes of a name.
///
/// # Errors
/// Where one is not of that form.
pub fn renamer(maps: &[String]) -> Result<impl Fn(&str) -> String + use<>, Failure> {
    let maps = maps.iter().map(|map| parse_map(map));
    let maps = maps.collect::<Result<Vec<_>, _>>()?;
    Ok(move |name: &str| {
        let mapped = maps.iter().find_map(|(from, to)| mapped(name, from, to));
        mapped.unwrap_or_else(|| name.to_owned())
    })
}

fn from_preset(name: &str, target: Option<&Path>) -> Result<Input, Failure> {
    let directory = target.unwrap_or_else(|| Path::new("."));
    // A record says where its run was, not where it was called from.
    let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    if directory.to_str().is_none() && preset_names().any(|preset| preset == name) {
        let message = format!("the name of `{}` is not UTF-8", directory.display());
        return Err(
            Failure::new(Code::Usage, message).hint("name another folder by `--target DIR`")
        );
    }
    let workload = directory
        .to_str()
        .and_then(|directory| preset(name, directory));
    let workload = workload.ok_or_else(|| {
        let known: Vec<&str> = preset_names().chain(spoken::names()).collect();
        let guess = nearest(name, known.iter().copied())
            .map_or(String::new(), |near| format!("did you mean `{near}`? "));
        let message = format!(
            "`{name}` is no preset and no dialect; known: {}",
            known.join(", ")
        );
        let hint = if Path::new(name).is_dir() {
            format!(
                "that is a folder: `fathom run quick --target {name}` measures the disk under it"
            )
        } else if Path::new(name).exists() {
            format!("write `./{name}` for the file of that name")
        } else {
            format!("{guess}a file's name needs a `/` or an extension")
        };
        Failure::new(Code::Usage, message).hint(hint)
    })?;
    Ok(Input::new(name, workload))
}

/// A name is a path if it has a `/` or an extension, or is the standard input's.
fn is_path(word: &str) -> bool {
    word == STDIN || word.contains('/') || Path::new(word).extension().is_some()
}

/// Tells what a reader warned of.
pub fn tell_warnings(warnings: &Diagnostics, console: &dyn Console) {
    if !warnings.0.is_empty() {
        console.tell(&warnings.to_string());
    }
}

fn parse_map(map: &str) -> Result<(String, String), Failure> {
    // The URI of an export on a Unix socket has one of its own.
    let is_export = Place::Path(map.to_owned()).is_export();
    let parts = if is_export {
        map.rsplit_once('=')
    } else {
        map.split_once('=')
    };
    match parts {
        Some((from, to)) if !from.is_empty() && !to.is_empty() => {
            Ok((mapped_name(from).to_owned(), to.to_owned()))
        }
        _ => Err(Failure::new(
            Code::Usage,
            format!("`--map {map}` is not of the form FROM=TO"),
        )
        .hint("for example `--map E:=/mnt/e` or `--map /mnt/a=/mnt/b`")),
    }
}

fn apply(maps: &[(String, String)], workload: &mut Workload) -> Vec<Replaced> {
    let mut replaced = Vec::new();
    let jobs = workload.stages.iter_mut().flat_map(|stage| &mut stage.jobs);
    for job in jobs {
        let mut changed = false;
        for target in &mut job.targets {
            let path = target.place.path_mut();
            let mut found = maps.iter().filter_map(|(from, to)| {
                let path = mapped(path, from, to)?;
                let map = format!("{from}={to}");
                Some(Replaced { path, map })
            });
            if let Some(found) = found.next() {
                found.path.clone_into(path);
                if replaced.last() != Some(&found) {
                    replaced.push(found);
                }
                changed = true;
            }
        }
        if changed {
            job.backend = backend_after(job);
        }
    }
    replaced
}

/// The backend of a job some of whose paths were replaced: exports have one of their own, which files do not have.
fn backend_after(job: &Job) -> Backend {
    let mut places = job.targets.iter().map(|target| &target.place);
    let exports = places.clone().filter(|place| place.is_export()).count();
    match job.backend {
        Backend::Null => Backend::Null,
        Backend::Nbd if exports == 0 => Backend::IoUring,
        _ if exports > 0 && places.all(Place::is_export) => Backend::Nbd,
        other => other,
    }
}

/// `path` with `from` replaced by `to`, where `from` is the whole path, a drive, or whole leading components of it; `.` stands for
/// the folder that names without one are in.
fn mapped(path: &str, from: &str, to: &str) -> Option<String> {
    if from == "." && is_in_this_folder(path) {
        return Some(format!("{}/{path}", to.trim_end_matches('/')));
    }
    // Windows does not tell drives apart by case.
    let is_drive = from.len() == 2 && from.ends_with(':');
    let rest = match path.get(..from.len()) {
        Some(start) if is_drive && start.eq_ignore_ascii_case(from) => &path[from.len()..],
        _ => path.strip_prefix(from)?,
    };
    if rest.is_empty() || from.ends_with('/') || rest.starts_with('/') {
        return Some(format!("{to}{rest}"));
    }
    if from.ends_with('\\') || (!is_drive && rest.starts_with('\\')) {
        let (to, rest) = (to.trim_end_matches('/'), rest.trim_start_matches('\\'));
        return Some(format!("{to}/{}", rest.replace('\\', "/")));
    }
    from.ends_with(':')
        .then(|| format!("{to}/{}", rest.trim_start_matches('\\').replace('\\', "/")))
}

/// Whether it is a name that is looked for in the folder in which the program was started, and does not begin with `./`. Windows
/// has names of other kinds.
fn is_in_this_folder(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    let is_elsewhere = ["", ".", ".."].contains(&first) || is_windows_path(path);
    !is_elsewhere && !Place::Path(path.to_owned()).is_export()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use fathom_diagnostics::Diagnostic;

    use super::*;

    /// Of a path that a `--map` put there, a further one says nothing; of others what was said stays.
    #[test]
    fn what_is_to_be_done_about_a_replaced_path_is_said_of_its_map() {
        let told = |maps: &[&str]| {
            let maps: Vec<String> = maps.iter().map(|map| (*map).to_owned()).collect();
            let mut input = Input::new("quick", preset("quick", "/data").unwrap());
            input.replaced = map_paths(&maps, &mut input.workload).unwrap();
            let job = &input.workload.stages[0].jobs[0];
            let path = job.targets[0].place.path();
            let complaint = Diagnostic::error("nothing serves it").about(&job.name, path);
            let complaint = complaint.hint("map it with `--map /data=/mnt`");
            let located = input.located(Diagnostics(vec![complaint]));
            located.0[0].hint.clone().unwrap()
        };
        let unmapped = "map it with `--map /data=/mnt`";
        assert_eq!(told(&[]), unmapped);
        assert_eq!(told(&["/other=/x"]), unmapped);
        let mapped = told(&["/other=/x", "/data=/wrong"]);
        assert!(
            mapped.starts_with("`--map '/data=/wrong'` put it there"),
            "{mapped}"
        );
    }

    #[test]
    fn a_path_of_windows_in_the_place_of_another_is_refused() {
        let told = |map: &str| {
            let mut workload = preset("quick", "/data").unwrap();
            let console = Told::default();
            map_to_this_machine(&[map.to_owned()], &mut workload, &console).map_err(|it| it.message)
        };
        assert!(told("/data=/mnt").is_ok());
        let message = told("/data=E:\\new").unwrap_err();
        assert!(
            message.contains("is a path of Windows") && message.contains("behind the `=`"),
            "{message}"
        );
    }

    /// What is told on standard error.
    #[derive(Debug, Default)]
    struct Told(Mutex<String>);

    impl Console for Told {
        fn print(&self, _: &str) {}
        fn tell(&self, line: &str) {
            self.0.lock().unwrap().push_str(line);
        }
        fn draw(&self, _: &str) {}
        fn is_terminal(&self) -> bool {
            false
        }
        fn columns(&self) -> Option<usize> {
            None
        }
    }

    /// Where nothing is replaced, I/O goes to the path of the file, which its user did not mean.
    #[test]
    fn a_map_that_replaces_nothing_is_told() {
        let told = |maps: &[&str]| {
            let maps: Vec<String> = maps.iter().map(|map| (*map).to_owned()).collect();
            let console = Told::default();
            let mut workload = preset("quick", "/data").unwrap();
            map_to_this_machine(&maps, &mut workload, &console).unwrap();
            console.0.into_inner().unwrap()
        };
        assert_eq!(told(&[]), "");
        assert_eq!(told(&["/data=/mnt"]), "");
        let unused = "note: `--map /dat=/mnt` changes nothing: no path of this workload is `/dat` or lies below it; it has `/data`";
        assert_eq!(told(&["/dat=/mnt"]), unused);
        assert_eq!(told(&["/data=/mnt", "/dat=/mnt"]), unused);
    }

    #[track_caller]
    fn check(path: &str, from: &str, to: &str, expected: Option<&str>) {
        assert_eq!(
            mapped(path, from, to).as_deref(),
            expected,
            "{path} {from}={to}"
        );
    }

    #[test]
    fn paths_are_mapped_by_whole_components() {
        check("/mnt/a/x", "/mnt/a", "/srv", Some("/srv/x"));
        check("/mnt/a", "/mnt/a", "/srv/file", Some("/srv/file"));
        check("/mnt/ab/x", "/mnt/a", "/srv", None);
        check("/mnt/a/x", "/mnt/", "/srv/", Some("/srv/a/x"));
        check("E:\\dir\\x.dat", "E:", "/mnt/e", Some("/mnt/e/dir/x.dat"));
        check("E:x.dat", "E:", "/mnt/e", Some("/mnt/e/x.dat"));
        check("e:\\x.dat", "E:", "/mnt/e", Some("/mnt/e/x.dat"));
        check("E:\\dir\\x.dat", "E:\\dir", "/d", Some("/d/x.dat"));
        check("E:\\dir\\x.dat", "E:\\dir\\", "/d/", Some("/d/x.dat"));
        check("E:\\x.dat", "E:\\", "/mnt/e", Some("/mnt/e/x.dat"));
        check("E:\\dirs\\x.dat", "E:\\dir", "/d", None);
        check("#1", "#1", "/dev/sdb", Some("/dev/sdb"));
        check("#12", "#1", "/dev/sdb", None);
        check("E:", "E:", "/dev/sdb", Some("/dev/sdb"));
        check("j.0.0", ".", "/mnt/a", Some("/mnt/a/j.0.0"));
        check("d/j.0.0", ".", "/mnt/a/", Some("/mnt/a/d/j.0.0"));
        check("./x", ".", "/mnt/a", Some("/mnt/a/x"));
        check(".", ".", "/mnt/a", Some("/mnt/a"));
        check(".x", ".", "/mnt/a", Some("/mnt/a/.x"));
        for elsewhere in ["/x", "../x", "E:x", "#1", "nbd://h/x"] {
            check(elsewhere, ".", "/mnt/a", None);
        }
    }

    #[test]
    fn a_name_with_a_slash_or_an_extension_is_a_path() {
        assert!(is_path("./quick") && is_path("job.fio"));
        assert!(!is_path("quick"));
    }

    #[test]
    fn a_folder_is_no_workload() {
        let failure = from_preset(".", None).unwrap_err().message;
        let hint = "that is a folder: `fathom run quick --target .` measures the disk under it";
        assert!(failure.contains(hint), "{failure}");
    }
}
