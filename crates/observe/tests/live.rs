//! What is seen live against what fio says of itself, on loop devices. Needs root, fio and losetup.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use fathom_observe::live::{LiveError, Options, Seen, Tracing, watch};
use fathom_observe::{About, Checklist, Device, Ops, Traced, page};
use fathom_profile::{Level, Period, Profile};
use fathom_rawio::{Clock, sleep_until, wall_clock};
use fathom_stats::Histogram;
use fathom_units::{Bytes, Nanos};
use jiff::tz::TimeZone;
use serde_json::Value;

/// One load at a time: each is measured.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[track_caller]
fn output(program: &str, arguments: &[&str]) -> String {
    let done = Command::new(program).args(arguments).output();
    let done = done.unwrap_or_else(|error| panic!("`{program}` cannot be run: {error}"));
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{program} {arguments:?}: {told}");
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

/// A loop device on a file in memory, and tracefs where the machine has it mounted nowhere.
struct Bench {
    folder: tempfile::TempDir,
    image: PathBuf,
    device: String,
    mounted: Option<PathBuf>,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() {
            memory
        } else {
            folder.path()
        };
        let name = folder
            .path()
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let image = parent.join(format!("fathom-observe{name}"));
        fs::File::create(&image)
            .unwrap()
            .set_len(512 << 20)
            .unwrap();
        let device = output("losetup", &["-f", "--show", image.to_str().unwrap()]);
        let mounts = fs::read_to_string("/proc/mounts").unwrap();
        let is_there = mounts
            .lines()
            .any(|line| line.split(' ').nth(2) == Some("tracefs"));
        let mounted = (!is_there).then(|| {
            let place = folder.path().join("tracing");
            fs::create_dir(&place).unwrap();
            output("mount", &["-t", "tracefs", "none", place.to_str().unwrap()]);
            place
        });
        // Pages of the file are made now, so that no I/O waits for one.
        output(
            "dd",
            &[
                "if=/dev/zero",
                &format!("of={device}"),
                "bs=1M",
                "count=512",
                "status=none",
            ],
        );
        output("sync", &[]);
        Self {
            folder,
            image,
            device,
            mounted,
        }
    }

    fn name(&self) -> &str {
        self.device.trim_start_matches("/dev/")
    }

    fn options(&self) -> Options {
        Options {
            devices: vec![self.device.clone()],
            processes: Vec::new(),
            duration: Nanos::from_secs(120),
            interval: Nanos::from_millis(500),
            tracing: Tracing::WherePossible,
            // However slow the test build is, all is traced.
            use_most: 1.0,
        }
    }

    /// Watches while fio runs `job`; fio waits for the processor no longer than it must.
    fn watch(&self, options: &Options, job: &str) -> (Seen, Value) {
        let stop = Arc::new(AtomicBool::new(false));
        let raised = Arc::clone(&stop);
        let watching = watch_apart(options.clone(), stop);
        let file = self.folder.path().join("job.fio");
        fs::write(
            &file,
            format!(
                "[global]\nfilename={}\ndirect=1\nlat_percentiles=0\n{job}",
                self.device
            ),
        )
        .unwrap();
        let said = output(
            "chrt",
            &[
                "-f",
                "20",
                "fio",
                "--output-format=json",
                file.to_str().unwrap(),
            ],
        );
        sleep_until(Clock::now() + Nanos::from_millis(300));
        raised.store(true, Ordering::Relaxed);
        let seen = watching.join().unwrap().unwrap();
        let said: Value = serde_json::from_str(&said[said.find('{').unwrap()..]).unwrap();
        (seen, said["jobs"].clone())
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(place) = &self.mounted {
            let _ = Command::new("umount").arg(place).status();
        }
        let _ = Command::new("losetup").args(["-d", &self.device]).status();
        let _ = fs::remove_file(&self.image);
    }
}

/// Watches on a thread of its own until `stop` is raised; comes back once the first interval is over.
fn watch_apart(options: Options, stop: Arc<AtomicBool>) -> JoinHandle<Result<Seen, LiveError>> {
    let (begun, has_begun) = std::sync::mpsc::channel();
    let watching = std::thread::spawn(move || {
        watch(&options, &stop, &mut |_| {
            let _ = begun.send(());
        })
    });
    // What cannot begin ends, and its error stands in what the thread gives.
    let _ = has_begun.recv();
    watching
}

/// All samples of a direction as one.
fn sum(device: &Device, of: impl Fn(&fathom_observe::Sample) -> Option<Ops>) -> (f64, f64) {
    let ops = device.samples.iter().filter_map(of);
    ops.fold((0.0, 0.0), |sum, ops| {
        (sum.0 + ops.count, sum.1 + ops.bytes.unwrap_or(0.0))
    })
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

#[track_caller]
fn near(what: &str, seen: f64, said: f64, share: f64, more: f64) {
    assert!(
        (seen - said).abs() <= said * share + more,
        "{what}: seen {seen}, said {said}"
    );
}

/// Rates, bytes and sizes within 1 %.
#[track_caller]
fn check_amounts(device: &Device, said: &Value) {
    let traced = device.traced.as_ref().expect("traced");
    let sizes = |histogram: &Histogram| (histogram.count() as f64, histogram.sum() as f64);
    for (way, counted, traced) in [
        ("read", sum(device, |it| it.reads), sizes(&traced.read_size)),
        (
            "write",
            sum(device, |it| it.writes),
            sizes(&traced.write_size),
        ),
    ] {
        let jobs = said.as_array().unwrap();
        let all = |key: &str| jobs.iter().map(|job| number(&job[way][key])).sum::<f64>();
        let (ios, bytes) = (all("total_ios"), all("io_bytes"));
        near(&format!("{way}s counted"), counted.0, ios, 0.01, 0.0);
        near(
            &format!("bytes of {way}s counted"),
            counted.1,
            bytes,
            0.01,
            0.0,
        );
        near(&format!("{way}s traced"), traced.0, ios, 0.01, 0.0);
        near(
            &format!("bytes of {way}s traced"),
            traced.1,
            bytes,
            0.01,
            0.0,
        );
    }
}

/// From the device to fio: a system call and a wake-up.
const DISTANCE_NS: f64 = 20_000.0;
/// The same as a part of what fio says.
const DISTANCE: f64 = 0.03;

const PERCENTILES: [(f64, &str); 3] = [
    (50.0, "50.000000"),
    (90.0, "90.000000"),
    (99.0, "99.000000"),
];

/// What was seen is not what fio says.
struct Apart {
    what: String,
    /// Whether the machine did something else meanwhile, by a measure that knows nothing of what was seen.
    disturbed: bool,
}

/// At most so large a part of what fio says is its own waiting on a disturbed machine.
const WAITING: f64 = 0.25;

/// `late` is how late the machine woke a witness at the same percentile: so much of what fio says may be its own waiting
/// for a processor, which the device does not see.
fn latency_agrees(what: &str, seen: f64, said: f64, late: f64) -> Result<(), String> {
    let distance = said * DISTANCE + DISTANCE_NS;
    let waited = late.min(said * WAITING);
    if seen <= said + distance && seen >= said - distance - waited {
        return Ok(());
    }
    Err(format!("{what}: seen {seen} ns, said {said} ns"))
}

/// Percentiles of each way against what fio says of its own.
fn latencies_agree(traced: &Traced, said: &Value, late: &Histogram) -> Result<(), String> {
    for (way, histogram) in [
        ("read", &traced.read_latency),
        ("write", &traced.write_latency),
    ] {
        for (percent, key) in PERCENTILES {
            if histogram.count() == 0 {
                continue;
            }
            let said = number(&said[0][way]["clat_ns"]["percentile"][key]);
            let seen = histogram.percentile(percent) as f64;
            let late = late.percentile(percent) as f64;
            latency_agrees(&format!("{way} p{percent}"), seen, said, late)?;
        }
    }
    Ok(())
}

/// How late a thread wakes that nothing on this machine goes before: what waits between the device and fio, whatever the
/// device does. It sleeps and wakes until its end.
struct Witness {
    ended: Arc<AtomicBool>,
    thread: JoinHandle<Histogram>,
}

impl Witness {
    fn new() -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ended);
        let thread = std::thread::spawn(move || {
            let own = fs::read_link("/proc/thread-self").unwrap();
            let own = own.file_name().unwrap().to_string_lossy().into_owned();
            output("chrt", &["-f", "-p", "21", &own]);
            let mut late = Histogram::new();
            while !told.load(Ordering::Relaxed) {
                let at = Clock::now() + Nanos::from_millis(1);
                sleep_until(at);
                late.record(Clock::now().saturating_sub(at).get());
            }
            late
        });
        Self { ended, thread }
    }

    fn end(self) -> Histogram {
        self.ended.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// Runs `job` until what was seen agrees with what fio says. A machine that does other things too lets fio wait at the wrong
/// moment, which the device does not see: what is apart while the machine was disturbed is no evidence, and the load is run
/// again. Of runs that were not disturbed, three that are apart are the end.
fn until_agreed(
    bench: &Bench,
    options: &Options,
    job: &str,
    agrees: impl Fn(&Seen, &Value, &Histogram) -> Result<(), Apart>,
) {
    const MOST: usize = 12;
    let mut complaints = Vec::new();
    let mut quiet = 0;
    while complaints.len() < MOST && quiet < 3 {
        let witness = Witness::new();
        let (seen, said) = bench.watch(options, job);
        match agrees(&seen, &said, &witness.end()) {
            Ok(()) => return,
            Err(Apart { what, disturbed }) => {
                quiet += usize::from(!disturbed);
                complaints.push(format!("{what} (disturbed: {disturbed})"));
            }
        }
    }
    panic!("{complaints:#?}");
}

/// Apart in latency: disturbed where even the witness waited as long as may lie between the device and fio.
fn apart_in_time(what: &str, late: &Histogram) -> Apart {
    let late = late.percentile(99.0);
    Apart {
        what: format!("{what}, while a witness was {late} ns late at p99"),
        disturbed: late as f64 >= DISTANCE_NS,
    }
}

/// Amounts, which no other work on the machine changes, and latencies.
fn check_latencies(bench: &Bench, job: &str) {
    until_agreed(bench, &bench.options(), job, |seen, said, late| {
        let device = &seen.observation.devices[0];
        check_amounts(device, said);
        let agrees = latencies_agree(device.traced.as_ref().expect("traced"), said, late);
        agrees.map_err(|what| apart_in_time(&what, late))
    });
}

fn random_share(seen: &Seen) -> f64 {
    let traced = seen.observation.devices[0].traced.as_ref().expect("traced");
    traced.random as f64 / traced.judged as f64
}

#[test]
fn a_mixed_load_is_seen_as_fio_says() {
    let _alone = alone();
    let bench = Bench::new();
    let job = "[a]\nioengine=psync\nbs=8k\nrw=randrw\nrwmixread=70\nrate_iops=700,300\nrandrepeat=0\n\
               runtime=5\ntime_based=1\n";
    until_agreed(&bench, &bench.options(), job, |seen, said, _| {
        let list = check_mixed(&bench, seen, said);
        let agrees = mixed_rates_agree(&list.profile.volumes[0].periods[0], said);
        agrees.map_err(|what| {
            // fio's own samples of half a second: where it could not keep its rate, it made up for it later.
            let unsteady = ["read", "write"].map(|way| {
                let of = |key: &str| number(&said[0][way][key]);
                of("iops_stddev") > of("iops_mean") * 0.005
            });
            let disturbed = unsteady.contains(&true);
            Apart { what, disturbed }
        })
    });
}

/// What does not depend on when fio ran.
fn check_mixed(bench: &Bench, seen: &Seen, said: &Value) -> Checklist {
    let device = &seen.observation.devices[0];
    check_amounts(device, said);
    let share = random_share(seen);
    assert!(share > 0.99, "{share}");
    let traced = device.traced.as_ref().unwrap();
    assert_eq!(
        traced.processes.first().map(|it| it.0.as_str()),
        Some("fio"),
        "{:?}",
        traced.processes
    );
    assert_eq!((traced.lost, device.sampled), (0, None));
    let about = About {
        name: "mixed".to_owned(),
        ..About::default()
    };
    let list = Checklist::of(&seen.observation, &about, TimeZone::UTC).unwrap();
    let period = &list.profile.volumes[0].periods[0];
    assert_eq!(period.size.same(), Some(Bytes::kib(8)), "{period:?}");
    assert!(
        period.minimum_latency.p50 <= period.latency.p50,
        "{period:?}"
    );
    let text = list.profile.to_toml();
    let read = Profile::read(&text, "x").map(|it| it.0);
    assert_eq!(read.map_err(|it| it.to_string()), Ok(list.profile.clone()));
    let page = page(&seen.observation, &list, fathom_report::Width::PLAIN);
    for part in [
        bench.name(),
        "% random",
        "fio 100 %",
        "rule `one-period`",
        "latency: fine",
    ] {
        assert!(page.contains(part), "`{part}` is not in\n{page}");
    }
    list
}

/// The profile's rates, sizes and mix are those of fio, whose rate was the same in every interval.
fn mixed_rates_agree(period: &Period, said: &Value) -> Result<(), String> {
    let [reads, writes] = ["read", "write"].map(|way| number(&said[0][way]["iops"]));
    let all = reads + writes;
    let within = |what: &str, seen: f64, said: f64, share: f64| {
        let is_near = (seen - said).abs() <= said * share;
        is_near
            .then_some(())
            .ok_or_else(|| format!("{what}: seen {seen}, said {said}"))
    };
    for level in [Level::P50, Level::P90] {
        let iops = period.iops.at(level).unwrap().get() as f64;
        within(&format!("I/Os a second at {level}"), iops, all, 0.01)?;
        let bytes = period.throughput.at(level).unwrap().get() as f64;
        within(
            &format!("bytes a second at {level}"),
            bytes,
            all * 8192.0,
            0.01,
        )?;
        let share = f64::from(period.reads.at(level).unwrap().basis_points()) / 10_000.0;
        within(&format!("reads at {level}"), share, reads / all, 0.01)?;
    }
    Ok(())
}

/// Keeps every processor from sleeping, with work that gives way to any other. Ended with its value.
struct Awake(Vec<Child>);

impl Awake {
    fn new() -> Self {
        let count = std::thread::available_parallelism().unwrap().get();
        let busy = ["--idle", "0", "sh", "-c", "while :; do :; done"];
        let start = |_| Command::new("chrt").args(busy).spawn().unwrap();
        Self((0..count).map(start).collect())
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn latencies_are_those_of_fio() {
    let _alone = alone();
    let bench = Bench::new();
    // An idle processor's waking (some 20 µs in a virtual machine) is fio's time, and none of the device's.
    let _awake = Awake::new();
    // At this depth I/Os wait in the device longer than fio needs to take what is done and hand over more, small ones and
    // large ones.
    for block in ["16k", "256k"] {
        let job = format!(
            "[a]\nioengine=libaio\niodepth=8\nbs={block}\nrw=randrw\nrwmixread=70\nruntime=3\ntime_based=1\n"
        );
        check_latencies(&bench, &job);
    }
}

/// The percentiles of the I/Os of fio's log that began in one of `parts`.
fn logged_in(bench: &Bench, parts: &[(Nanos, Nanos)]) -> Histogram {
    let to_wall = wall_clock() - Clock::now().get();
    let log = fs::read_to_string(bench.folder.path().join("load_clat.1.log")).unwrap();
    let mut latencies = Histogram::new();
    for line in log.lines() {
        let mut words = line.split(", ").map(|word| word.parse::<u64>().unwrap());
        let (ended, took) = (words.next().unwrap(), words.next().unwrap());
        let begun = Nanos::new((ended * 1_000_000 - to_wall).saturating_sub(took));
        if parts.iter().any(|part| (part.0..part.1).contains(&begun)) {
            latencies.record(took);
        }
    }
    latencies
}

#[test]
fn sampled_latencies_are_those_of_fio_in_the_same_parts() {
    let _alone = alone();
    let bench = Bench::new();
    let _awake = Awake::new();
    let options = Options {
        use_most: 1e-5,
        ..bench.options()
    };
    let log = bench.folder.path().join("load");
    let job = format!(
        "[a]\nioengine=libaio\niodepth=8\nbs=256k\nrw=randrw\nrwmixread=70\nruntime=8\ntime_based=1\n\
         write_lat_log={}\nlog_unix_epoch=1\n",
        log.display()
    );
    until_agreed(&bench, &options, &job, |seen, _, late| {
        let device = &seen.observation.devices[0];
        let share = device.sampled.expect("sampled").basis_points();
        assert!((100..6_000).contains(&share), "{share}");
        let said = logged_in(&bench, &seen.traced);
        let traced = device.traced.as_ref().unwrap();
        let mut own = traced.read_latency.clone();
        own.merge(&traced.write_latency);
        // fio's log knows milliseconds: at the edges of a part some I/Os stand on the other side.
        let (count, expected) = (own.count() as f64, said.count() as f64);
        assert!(
            (count - expected).abs() <= expected * 0.03 + 20.0,
            "seen {count}, said {expected}"
        );
        for (percent, _) in PERCENTILES {
            let [seen, said] = [&own, &said].map(|it| it.percentile(percent) as f64);
            let waited = late.percentile(percent) as f64;
            latency_agrees(&format!("p{percent}"), seen, said, waited)
                .map_err(|what| apart_in_time(&what, late))?;
        }
        Ok(())
    });
}

#[test]
fn sequential_and_half_random_loads_are_told_apart() {
    let _alone = alone();
    let bench = Bench::new();
    let job = |more: &str| {
        format!(
            "[a]\nioengine=libaio\niodepth=1\nrate_iops=1500\nrandrepeat=0\nruntime=3\ntime_based=1\n{more}\n"
        )
    };
    for (more, expected) in [
        ("rw=write\nbs=64k", 0.0),
        ("rw=randread\nbs=4k\npercentage_random=30", 0.3),
    ] {
        let (seen, said) = bench.watch(&bench.options(), &job(more));
        check_amounts(&seen.observation.devices[0], &said);
        let share = random_share(&seen);
        assert!((share - expected).abs() < 0.03, "{more}: {share}");
    }
}

#[test]
fn depth_is_what_fio_keeps() {
    let _alone = alone();
    let bench = Bench::new();
    let job = "[a]\nioengine=libaio\niodepth=8\nbs=256k\nrw=randread\nruntime=3\ntime_based=1\n\
               [b]\nioengine=libaio\niodepth=4\nbs=256k\nrw=randwrite\nruntime=3\ntime_based=1\n";
    let (seen, said) = bench.watch(&bench.options(), job);
    let device = &seen.observation.devices[0];
    check_amounts(device, &said);
    let depth = &device.traced.as_ref().unwrap().depth;
    assert!(depth.len() <= 13, "{depth:?}");
    // Little: the mean depth is the sum of latencies over the time in which there was any I/O.
    let weighted: f64 = depth
        .iter()
        .enumerate()
        .map(|(place, time)| place as f64 * *time as f64)
        .sum();
    let latencies = device
        .traced
        .as_ref()
        .map(|it| it.read_latency.sum() + it.write_latency.sum());
    near(
        "depth × time",
        weighted,
        latencies.unwrap() as f64,
        0.01,
        0.0,
    );
}

/// The kernel tells the end of a flush as that of a write without data, of which there was no beginning.
#[test]
fn flushes_are_no_part_of_the_depth() {
    let _alone = alone();
    let bench = Bench::new();
    let job = "[a]\nioengine=psync\nbs=4k\nrw=randwrite\nfdatasync=1\nrate_iops=300\nruntime=2\ntime_based=1\n";
    let (seen, said) = bench.watch(&bench.options(), job);
    let traced = seen.observation.devices[0].traced.as_ref().unwrap();
    let written = number(&said[0]["write"]["total_ios"]);
    near(
        "writes",
        traced.write_latency.count() as f64,
        written,
        0.0,
        0.0,
    );
    assert!(written > 300.0 && traced.depth.len() <= 2, "{traced:?}");
    // Among the counters' writes they are, and that is told.
    near("flushes", traced.flushes as f64, written, 0.02, 2.0);
    let counted = sum(&seen.observation.devices[0], |it| it.writes).0;
    near("writes with flushes", counted, 2.0 * written, 0.02, 4.0);
    let told = seen.notes.iter().any(|note| note.contains("are flushes"));
    assert!(told, "{:?}", seen.notes);
}

#[test]
fn only_the_named_process_counts() {
    let _alone = alone();
    let bench = Bench::new();
    let options = Options {
        processes: vec![std::process::id()],
        ..bench.options()
    };
    // fio is a descendant of this process; dd through the page cache is written back by the kernel, which is not.
    let job = "[a]\nioengine=psync\nbs=4k\nrw=randread\nrate_iops=500\nruntime=3\ntime_based=1\n";
    let (seen, said) = bench.watch(&options, job);
    let device = &seen.observation.devices[0];
    let counted = sum(device, |it| it.reads);
    near(
        "reads",
        counted.0,
        number(&said[0]["read"]["total_ios"]),
        0.01,
        0.0,
    );
    // fio's reads are those of a descendant, and its counters are read with this process's own.
    let family = format!("process {} and ", std::process::id());
    let told = seen.notes.iter().find(|note| note.starts_with(&family));
    assert!(
        told.is_some_and(|note| !note.contains("caused 0 B to be read")),
        "{:?}",
        seen.notes
    );
    let workers = "what the kernel's own workers issue later";
    assert!(
        seen.notes.iter().any(|note| note.starts_with(workers)),
        "{:?}",
        seen.notes
    );
    let stranger = Options {
        processes: vec![1],
        ..bench.options()
    };
    let init = watch(&stranger, &AtomicBool::new(true), &mut |_| ()).unwrap();
    assert!(init.interrupted);
    let gone = Options {
        processes: vec![u32::MAX - 1],
        ..bench.options()
    };
    let error = watch(&gone, &AtomicBool::new(false), &mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("there is no process"), "{error}");
}

#[test]
fn sampling_leaves_no_slow_io_out() {
    let _alone = alone();
    let bench = Bench::new();
    // So little that any load is too much.
    let options = Options {
        use_most: 1e-5,
        ..bench.options()
    };
    let job = "[a]\nioengine=libaio\niodepth=8\nbs=64k\nrw=randrw\nruntime=10\ntime_based=1\n";
    let (seen, said) = bench.watch(&options, job);
    let device = &seen.observation.devices[0];
    let sampled = device.sampled.expect("sampled").basis_points();
    assert!((100..6_000).contains(&sampled), "{sampled}");
    let told = seen
        .notes
        .iter()
        .any(|note| note.contains("tracing was sampled"));
    assert!(told, "{:?}", seen.notes);
    assert!(random_share(&seen) > 0.95);
    // Rates stay those of every I/O, of which only some were traced.
    let traced = device.traced.as_ref().unwrap();
    let all = sum(device, |it| it.reads).0 + sum(device, |it| it.writes).0;
    let said = ["read", "write"].map(|way| number(&said[0][way]["total_ios"]));
    near("I/Os", all, said[0] + said[1], 0.01, 0.0);
    let count = (traced.read_size.count() + traced.write_size.count()) as f64;
    assert!(count < all * 0.6, "{count} of {all}");
    // By Little's law the latencies of the I/Os that began in the traced parts add up to the depth over their time. If the
    // slow ones, which end behind a part's end, were left out, they would not.
    let depths = traced.depth.iter().enumerate();
    let weighted: f64 = depths
        .map(|(place, time)| place as f64 * *time as f64)
        .sum();
    let latencies = (traced.read_latency.sum() + traced.write_latency.sum()) as f64;
    near("latencies", latencies, weighted, 0.1, 0.0);
}

/// Its counters stay as they were, so that nothing else shows why nothing more happens.
#[test]
fn a_device_that_is_detached_is_told() {
    let _alone = alone();
    let bench = Bench::new();
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    let options = Options {
        interval: Nanos::from_millis(200),
        ..bench.options()
    };
    let watching = watch_apart(options, stop);
    let wait = || sleep_until(Clock::now() + Nanos::from_millis(700));
    wait();
    output("losetup", &["-d", &bench.device]);
    wait();
    raised.store(true, Ordering::Relaxed);
    let seen = watching.join().unwrap().unwrap();
    output("losetup", &[&bench.device, bench.image.to_str().unwrap()]);
    let doubts = &seen.observation.doubts;
    let told = doubts.iter().filter(|it| it.contains("was detached"));
    assert_eq!(told.count(), 1, "{doubts:?}");
    assert!(doubts.iter().all(|it| !it.contains("times")), "{doubts:?}");
}

#[test]
fn a_device_may_go_and_come_back() {
    let _alone = alone();
    let bench = Bench::new();
    let image = bench.image.to_str().unwrap();
    // A partition, of 4 MiB from sector 2048 on, can be taken away and given back.
    output("losetup", &["-d", &bench.device]);
    output("losetup", &["-P", &bench.device, image]);
    let add = || output("addpart", &[&bench.device, "1", "2048", "8192"]);
    let part = format!("{}p1", bench.device);
    let read = |skip: &str| {
        let from = format!("if={part}");
        let words = [
            "bs=4k",
            "count=100",
            "iflag=direct",
            "of=/dev/null",
            "status=none",
        ];
        let mut all = vec![from.as_str(), skip];
        all.extend(words);
        output("dd", &all)
    };
    add();
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    let options = Options {
        devices: vec![part.clone()],
        interval: Nanos::from_millis(200),
        ..bench.options()
    };
    let watching = watch_apart(options, stop);
    let wait = || {
        sleep_until(Clock::now() + Nanos::from_millis(700));
    };
    wait();
    read("skip=0");
    wait();
    output("delpart", &[&bench.device, "1"]);
    wait();
    add();
    wait();
    read("skip=500");
    wait();
    raised.store(true, Ordering::Relaxed);
    let seen = watching.join().unwrap().unwrap();
    output("delpart", &[&bench.device, "1"]);
    let device = &seen.observation.devices[0];
    assert_eq!(sum(device, |it| it.reads), (200.0, 200.0 * 4096.0));
    let traced = device.traced.as_ref().unwrap();
    assert_eq!((traced.read_size.count(), traced.random), (200, 0));
    for part in ["went away", "came back"] {
        let told = seen
            .observation
            .doubts
            .iter()
            .any(|doubt| doubt.contains(part));
        assert!(told, "{part}: {:?}", seen.observation.doubts);
    }
}

#[test]
fn nothing_is_left_in_the_kernel() {
    let _alone = alone();
    let bench = Bench::new();
    let mounts = fs::read_to_string("/proc/mounts").unwrap();
    let tracefs = mounts
        .lines()
        .find(|line| line.split(' ').nth(2) == Some("tracefs"))
        .unwrap();
    let instances = Path::new(tracefs.split(' ').nth(1).unwrap()).join("instances");
    let own = || {
        let entries = fs::read_dir(&instances).unwrap().flatten();
        let prefix = format!("fathom-{}-", std::process::id());
        entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix))
            .count()
    };
    // One of a program that was killed.
    let stale = instances.join(format!("fathom-{}-0", u32::MAX - 1));
    fs::create_dir(&stale).unwrap();
    let options = Options {
        duration: Nanos::from_millis(400),
        interval: Nanos::from_millis(200),
        ..bench.options()
    };
    let mut most = 0;
    let seen = watch(&options, &AtomicBool::new(false), &mut |_| {
        most = most.max(own());
    })
    .unwrap();
    assert!(
        seen.observation.devices[0].traced.is_some(),
        "{:?}",
        seen.notes
    );
    assert_eq!((most, own(), stale.exists()), (1, 0, false));
}
