//! `fathom observe`: its arguments, and its way from them to the page and the file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use fathom_profile::Growth;
use fathom_rawio::is_ignored;
use fathom_session::{Code, Console, Failure, NewFile, print_json, whole_number};
use fathom_units::{Iops, Nanos};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::checklist::{About, Checklist};
use crate::import::{ImportArgs, read_files};
use crate::live::{LiveError, Options, Seen, Tracing, USE_MOST, names, watch};
use crate::periods::{DayTime, Given};
use crate::{document, page};

/// Shortest and longest interval.
const INTERVALS: std::ops::RangeInclusive<Nanos> = Nanos::from_millis(100)..=Nanos::from_secs(3600);
/// Longest observation: a month.
const DAYS_MOST: u64 = 31;
const DURATION_MOST: Nanos = Nanos::from_secs(DAYS_MOST * 86_400);
/// Most intervals, so that memory is bounded: about a week of seconds.
const INTERVALS_MOST: u64 = 700_000;

/// `fathom observe`.
#[derive(Debug, Clone, Args)]
#[command(after_help = HELP)]
pub struct ObserveArgs {
    /// Watch this device (`sdb`, `/dev/disk/by-id/NAME`); may be repeated [default: all physical disks]
    #[arg(long, value_name = "DEVICE", value_delimiter = ',')]
    pub device: Vec<String>,
    /// Count the I/O of this process and its descendants alone; may be repeated
    #[arg(
        long,
        value_name = "PID",
        value_delimiter = ',',
        conflicts_with = "from",
        value_parser = whole_number::<u32>(1, u32::MAX.into())
    )]
    pub pid: Vec<u32>,
    /// How long; Ctrl-C ends it earlier and keeps what was seen
    #[arg(
        long,
        visible_alias = "for",
        value_name = "TIME",
        default_value = "1h",
        conflicts_with = "from"
    )]
    pub duration: Nanos,
    /// Length of an interval [default: 1s; of a log, what it says itself]
    #[arg(long, value_name = "TIME")]
    pub interval: Option<Nanos>,
    /// Read the counters alone, not each I/O from the kernel's tracepoints
    #[arg(long, conflicts_with = "from")]
    pub no_trace: bool,
    /// What the application does a second, as you count it, such as `350/s`
    #[arg(long, value_name = "N/s")]
    pub transactions: Option<Iops>,
    /// This device holds logs; may be repeated
    #[arg(long, value_name = "DEVICE", value_delimiter = ',')]
    pub log: Vec<String>,
    /// When load is at its peak, such as `09:00-12:00`; may be repeated [default: found by a rule]
    #[arg(long, value_name = "FROM-TO", value_delimiter = ',')]
    pub peak: Vec<DayTime>,
    /// When it is off hours, such as `20:00-06:00`; may be repeated
    #[arg(long, value_name = "FROM-TO", value_delimiter = ',')]
    pub off_hours: Vec<DayTime>,
    /// How much more the application will need, such as `1.5x`
    #[arg(long, value_name = "FACTOR", default_value = "1x")]
    pub growth: Growth,
    /// Name of the application [default: that of the output file, else `observed`]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Write the profile into this file; one that exists is never written over
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print the checklist as one JSON document
    #[arg(long)]
    pub json: bool,
    /// What other tools wrote, in place of this machine; last, since its heading in the help holds for what follows.
    #[command(flatten)]
    pub import: ImportArgs,
}

const HELP: &str = "\
Nothing is written to a device. Each I/O is traced where the kernel's tracefs
can be used (as root); otherwise counters give rates, sizes and mean latency,
and what they cannot know is told as unknown.

Examples:
  fathom observe --duration 10min -o shop.profile.toml
  fathom observe --device sdc,sdd --log sdd --transactions 350/s
  fathom observe --from perfmon.csv -o shop.profile.toml
  fathom observe --from perfmon.csv --json
  fathom plan shop.profile.toml";

/// Watches, prints the checklist and writes the profile.
///
/// # Errors
/// What was asked for cannot be, or the file cannot be written.
pub fn run(args: &ObserveArgs, console: &dyn Console) -> Result<Code, Failure> {
    check(args)?;
    let seen = if args.import.from.is_empty() {
        live(args, console)?
    } else {
        let options = args.import.options(&args.device, args.interval);
        let observation = read_files(&args.import.from, &options)?;
        let devices = observation.devices.iter();
        check_logs(
            args,
            &devices
                .map(|device| device.name.clone())
                .collect::<Vec<_>>(),
        )?;
        Seen {
            observation,
            notes: Vec::new(),
            interrupted: false,
            traced: Vec::new(),
        }
    };
    tell(args, seen, console)
}

/// Watches this machine.
fn live(args: &ObserveArgs, console: &dyn Console) -> Result<Seen, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    // Who wants it to outlive its terminal has said so.
    let closed = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    for signal in closed.into_iter().chain([SIGINT, SIGTERM]) {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .map_err(|error| Failure::new(Code::Unexpected, error))?;
    }
    let options = Options {
        devices: args.device.clone(),
        processes: args.pid.clone(),
        duration: args.duration,
        interval: args.interval(),
        tracing: if args.no_trace {
            Tracing::Off
        } else {
            Tracing::WherePossible
        },
        use_most: USE_MOST,
    };
    check_logs(args, &names(&options).map_err(failure)?)?;
    let draws = console.is_terminal();
    // A line that is wider than the screen would not be drawn over by the next.
    let columns = console.columns().map_or(60, |columns| columns.min(60));
    let mut show = |line: &str| {
        if draws {
            console.draw(&format!("\r{line:columns$.columns$}"));
        }
    };
    let seen = watch(&options, &stop, &mut show).map_err(failure)?;
    if draws {
        console.draw(&format!("\r{:columns$}\r", ""));
    }
    Ok(seen)
}

impl ObserveArgs {
    /// Length of an interval of a live observation.
    fn interval(&self) -> Nanos {
        self.interval.unwrap_or(Nanos::from_secs(1))
    }
}

/// What is said to hold logs must be one of the devices.
fn check_logs(args: &ObserveArgs, names: &[String]) -> Result<(), Failure> {
    let Some(log) = args.log.iter().find(|log| !names.contains(log)) else {
        return Ok(());
    };
    let failure = Failure::new(Code::Input, format!("`--log {log}` is none of the devices"));
    Err(failure.hint(format!("there are {}", names.join(", "))))
}

fn failure(error: LiveError) -> Failure {
    match error {
        LiveError::Named(_) => Failure::new(Code::Input, error),
        LiveError::Counters { .. } => {
            Failure::new(Code::Unsupported, error).hint("observing needs Linux's /proc")
        }
    }
}

/// All that is wrong with the arguments, before anything is watched.
fn check(args: &ObserveArgs) -> Result<(), Failure> {
    let mut wrong = Vec::new();
    let interval = args.interval();
    if !INTERVALS.contains(&interval) {
        wrong.push(format!(
            "`--interval` is {}: it takes from {} to {}",
            interval,
            INTERVALS.start(),
            INTERVALS.end()
        ));
    }
    if args.duration < interval || args.duration > DURATION_MOST {
        wrong.push(format!(
            "`--duration` is {}: it takes from one interval ({interval}) to {DAYS_MOST} days",
            args.duration
        ));
    }
    if args.duration.get() / interval.get().max(1) > INTERVALS_MOST {
        wrong.push("so many intervals do not fit into memory: make `--interval` longer".to_owned());
    }
    if args.transactions.is_some_and(|rate| rate.get() == 0) {
        wrong.push("`--transactions 0/s` is no rate: leave it out where it is unknown".to_owned());
    }
    if args
        .name
        .as_deref()
        .is_some_and(|name| name.trim().is_empty())
    {
        wrong.push("`--name` is empty: leave it out, or name the application".to_owned());
    }
    wrong.extend(args.import.without_logs());
    let given = Given {
        peak: args.peak.clone(),
        off_hours: args.off_hours.clone(),
    };
    wrong.extend(given.contradiction());
    if !wrong.is_empty() {
        return Err(Failure::new(Code::Usage, wrong.join("\nerror: ")));
    }
    // Hours may be watched: what refuses their result is told first.
    args.output.as_deref().map(NewFile::at).transpose()?;
    Ok(())
}

/// Prints the page, and writes the profile.
fn tell(args: &ObserveArgs, seen: Seen, console: &dyn Console) -> Result<Code, Failure> {
    let about = About {
        name: args
            .name
            .clone()
            .unwrap_or_else(|| name_of(args.output.as_deref())),
        transactions_per_sec: args.transactions.map(Iops::get),
        growth: args.growth,
        logs: args.log.clone(),
        periods: Given {
            peak: args.peak.clone(),
            off_hours: args.off_hours.clone(),
        },
    };
    let made = Checklist::of(&seen.observation, &about, seen.observation.zone.time_zone());
    let mut list = made.map_err(|why| {
        let doubts = seen.observation.doubts.iter();
        let told = doubts.fold(why, |told, doubt| told + "\n  doubt: " + doubt);
        let code = if seen.interrupted {
            Code::Interrupted
        } else {
            Code::Input
        };
        Failure::new(code, told)
    })?;
    list.notes.extend(seen.notes);
    let mut observation = seen.observation;
    if about.transactions_per_sec.is_some() {
        observation
            .unknown
            .retain(|it| it.figure != "transactions a second");
    }
    if args.json {
        let document = document(&observation, &list, seen.interrupted);
        print_json(&document, console)?;
    } else {
        console.show(&page(&observation, &list, console.width()));
    }
    if let Some(path) = &args.output {
        let profile = list.profile.to_toml();
        let written = NewFile::at(path).and_then(|file| file.write(&profile));
        if let Err(failure) = written {
            // Nobody watches for hours again because a disk was full at the end.
            let place = if args.json {
                "as `profile_toml` of the document"
            } else {
                console.print(&format!("\n{profile}"));
                "below the checklist"
            };
            let hint = format!("the profile stands on the standard output, {place}");
            return Err(failure.hint(hint));
        }
        console.tell(&format!("the profile is in `{}`", path.display()));
    }
    Ok(if seen.interrupted {
        Code::Interrupted
    } else {
        Code::Success
    })
}

/// `shop` of `dir/shop.profile.toml`.
fn name_of(output: Option<&Path>) -> String {
    let file = output
        .and_then(Path::file_name)
        .map(|name| name.to_string_lossy().into_owned());
    let stem = file
        .as_deref()
        .and_then(|name| name.split('.').next())
        .filter(|stem| !stem.is_empty());
    stem.unwrap_or("observed").to_owned()
}
