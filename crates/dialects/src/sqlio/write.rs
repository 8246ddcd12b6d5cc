//! The output of SQLIO 1.5.SG.

use std::fmt::Write as _;

use fathom_record::StageResult;
use fathom_stats::Histogram;

use super::settings::{Buffering, Order, Settings};

/// Buckets of a millisecond; the last has all above.
const BUCKETS: usize = 25;

/// What a run yields beyond its input.
#[derive(Debug)]
pub struct SqlioRun<'a> {
    /// What was measured.
    pub result: &'a StageResult,
    /// Size of each file in bytes, in order.
    pub sizes: &'a [u64],
}

/// The whole output of a run.
pub fn write_text(settings: &Settings, run: &SqlioRun<'_>) -> String {
    let mut text = String::from("sqlio v1.5.SG\n");
    if settings.latency {
        // The clock counts nanoseconds.
        text.push_str("using system counter for latency timings, 1000000000 counts per second\n");
    }
    parameters(&mut text, settings, run.sizes);
    text.push_str("initialization done\nCUMULATIVE DATA:\nthroughput metrics:\n");
    let _ = writeln!(text, "IOs/sec:{:>9}", ios_per_sec(run.result));
    let _ = writeln!(text, "MBs/sec:{:>9}", mib_per_sec(run.result));
    if settings.latency {
        latencies(&mut text, &latency(run.result));
    }
    text
}

fn parameters(text: &mut String, settings: &Settings, sizes: &[u64]) {
    if let Some(file) = &settings.parameters {
        let _ = writeln!(text, "parameter file used: {file}");
        let mut first = 0;
        for target in &settings.targets {
            let (threads, mask) = (target.threads, target.mask);
            let last = first + threads - 1;
            let _ = writeln!(
                text,
                "\tfile {} with {threads} threads ({first}-{last}) using mask 0x{mask:X} ({mask})",
                target.path
            );
            first = last + 1;
        }
    }
    let plural = |count: u32| if count == 1 { "" } else { "s" };
    let (threads, seconds) = (settings.thread_count(), settings.seconds);
    let way = if settings.writes {
        "writing"
    } else {
        "reading"
    };
    let to = if settings.writes { "to" } else { "from" };
    let names: Vec<&str> = settings.targets.iter().map(|it| it.path.as_str()).collect();
    let files = plural(names.len() as u32);
    let _ = writeln!(
        text,
        "{threads} thread{} {way} for {seconds} secs {to} file{files} {}",
        plural(threads),
        names.join(", ")
    );
    let block = settings.block_kib;
    let _ = match settings.order {
        Order::Random => writeln!(text, "\tusing {block}KB random IOs"),
        Order::Sequential => writeln!(text, "\tusing {block}KB sequential IOs"),
        Order::Stripes(blocks) => {
            let stripe = u64::from(block) * u64::from(blocks);
            let run = settings.run;
            writeln!(
                text,
                "\tusing {block}KB IOs over {stripe}KB stripes with {run} IOs per run"
            )
        }
    };
    if let Some(depth) = settings.outstanding {
        let what = "enabling multiple I/Os per thread with";
        let _ = writeln!(text, "\t{what} {depth} outstanding");
    }
    if settings.origins.contains_key(&'B') {
        let how = match settings.buffering {
            Buffering::None => "not use file nor disk caches (as is default)",
            Buffering::All => "use both file and disk caches",
            Buffering::Hardware => "use hardware disk cache (but not file cache)",
            Buffering::Software => "use software file cache (but not disk cache)",
        };
        let _ = writeln!(text, "\tbuffering set to {how}");
    }
    for (index, target) in settings.targets.iter().enumerate() {
        let size = sizes.get(index).copied().unwrap_or(0) >> 20;
        let (kind, size) = match target.size_mib {
            Some(mib) => ("specified", mib),
            None => ("current", size),
        };
        let _ = writeln!(
            text,
            "using {kind} size: {size} MB for file: {}",
            target.path
        );
    }
}

fn latencies(text: &mut String, latency: &Histogram) {
    text.push_str("latency metrics:\n");
    let whole = |nanos: u64| nanos / 1_000_000;
    let _ = writeln!(text, "Min_Latency(ms): {}", whole(latency.min()));
    let _ = writeln!(text, "Avg_Latency(ms): {}", average_of(latency));
    let _ = writeln!(text, "Max_Latency(ms): {}", whole(latency.max()));
    text.push_str("histogram:\nms:");
    for bucket in 0..BUCKETS - 1 {
        let width = if bucket == 0 { 2 } else { 3 };
        let _ = write!(text, "{bucket:>width$}");
    }
    text.push_str(" 24+\n%:");
    let mut counts = [0u64; BUCKETS];
    for (nanos, count) in latency.nonzero() {
        let bucket = usize::try_from(whole(nanos)).unwrap_or(BUCKETS);
        counts[bucket.min(BUCKETS - 1)] += count;
    }
    let total = latency.count().max(1);
    for count in counts {
        let percent = u128::from(count) * 100 / u128::from(total);
        let _ = write!(text, "{percent:>3}");
    }
    text.push('\n');
}

/// Latencies of all I/Os.
fn latency(result: &StageResult) -> Histogram {
    let mut all = Histogram::new();
    for stats in of_all(result) {
        all.merge(&stats.latency);
    }
    all
}

fn of_all(result: &StageResult) -> impl Iterator<Item = &fathom_record::OpStats> {
    let workers = result.workers.iter();
    workers.flat_map(|worker| worker.directions.iter().flatten())
}

fn rate(result: &StageResult, count: f64) -> String {
    let seconds = result.measured.as_secs_f64();
    let rate = if seconds > 0.0 { count / seconds } else { 0.0 };
    format!("{rate:.2}")
}

/// I/Os a second, with two decimals.
pub fn ios_per_sec(result: &StageResult) -> String {
    let ios: u64 = of_all(result).map(|stats| stats.latency.count()).sum();
    rate(result, ios as f64)
}

/// MiB a second, with two decimals.
pub fn mib_per_sec(result: &StageResult) -> String {
    let bytes: u64 = of_all(result).map(|stats| stats.bytes).sum();
    rate(result, bytes as f64 / f64::from(1 << 20))
}

/// Whole milliseconds of the mean latency.
pub fn average_ms(result: &StageResult) -> u64 {
    average_of(&latency(result))
}

fn average_of(latency: &Histogram) -> u64 {
    if latency.count() == 0 {
        return 0;
    }
    (latency.mean() / 1e6) as u64
}

/// What `-?` prints: the options that are spoken, in Fathom's own words.
pub fn usage() -> &'static str {
    "\
Usage: fathom sqlio [options] [file ...]
Each option and its value are one word: -b8, or \"-b 8\" with quotes. Without a file, testfile.dat is used.

  -k<R|W>         read or write (R)
  -t<n>           threads (1)
  -s<s>           seconds (30)
  -d<letters>     the files on each of these drives
  -R<list>        disks by number and drives by letter, without a file system
  -f<n>           blocks from one I/O to the next (64);  -frandom;  -fsequential
  -o<n>           I/Os outstanding per thread and file; without it one at a time
  -b<KB>          size of an I/O (2)
  -i<n>           I/Os of a run (64)
  -L<S|P>         latencies
  -B<N|Y|H|S>     caches: none, all, the disk's, the system's (N)
  -S<n>           first block
  -p<cpu>, -a[R]<mask>  processors
  -F<file>        files from a parameter file: file threads [mask [MB]]

Beside these: --map FROM=TO for paths of Windows, --destroy-data=NAME, --record.
"
}
