//! One run of fio on one server, and one prediction: their figures.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::place::{Place, text};
use super::servers::Running;
use super::witness::{self, Disturbance, Witness};
use crate::command;

/// Entries that fio's log has room for: as many as it allows.
const LOG_ENTRIES: u32 = 1 << 20;

/// What fio does.
pub struct Job {
    pub way: &'static str,
    pub block: &'static str,
    pub streams: &'static [Stream],
    /// Whether latencies are taken from a log of every I/O: fio's own percentiles are in steps of 1.5 %.
    pub exact: bool,
}

/// One connection and its depth.
pub struct Stream {
    pub export: &'static str,
    pub depth: u32,
}

/// What one stream has reached.
#[derive(Clone, Copy, Default)]
pub struct Reached {
    pub ios: f64,
    pub iops: f64,
    pub bytes_per_sec: f64,
    pub mean_ns: f64,
    /// p1, p50, p99.
    pub percentiles_ns: [f64; 3],
}

/// Figures of one run.
#[derive(Clone)]
pub struct Sample {
    pub streams: Vec<Reached>,
    /// Processor time of the server, ns an I/O.
    pub processor_ns: f64,
    /// None of a prediction.
    pub machine: Option<Disturbance>,
}

impl Sample {
    /// For the raw data.
    pub fn json(&self) -> Value {
        let streams = self.streams.iter().map(|it| {
            json!({
                "ios": it.ios,
                "iops": it.iops,
                "bytes_per_sec": it.bytes_per_sec,
                "mean_ns": it.mean_ns,
                "p1_p50_p99_ns": it.percentiles_ns,
            })
        });
        json!({
            "streams": streams.collect::<Vec<_>>(),
            "server_processor_ns_per_io": self.processor_ns,
            "machine": self.machine.as_ref().map(Disturbance::json),
        })
    }
}

const PERCENTILES: [f64; 3] = [1.0, 50.0, 99.0];

/// Runs the job on a server while a witness looks at the machine.
pub fn measure(job: &Job, seconds: u64, server: &Running, place: &Place) -> Result<Sample, String> {
    let (result, log) = (place.at("fio.json"), place.at("fio"));
    let mut fio = Command::new("fio");
    fio.arg(format!("--output={}", result.display()));
    fio.args(["--output-format=json", "--time_based", "--size=1g"]);
    fio.args(["--randrepeat=0", "--norandommap=1"]);
    fio.args(["--lat_percentiles=1", "--clat_percentiles=0"]);
    fio.arg("--percentile_list=1:50:99");
    fio.arg(format!("--runtime={seconds}"));
    fio.arg(format!("--rw={}", job.way));
    fio.arg(format!("--bs={}", job.block));
    for (index, stream) in job.streams.iter().enumerate() {
        fio.arg(format!("--name=stream{index}"));
        fio.args(server.target(stream.export));
        fio.arg(format!("--iodepth={}", stream.depth));
        if job.exact {
            fio.arg(format!("--write_lat_log={}{index}", log.display()));
            // One log, with its room from the start: fio stops to get more otherwise.
            fio.args(["--disable_slat=1", "--disable_clat=1"]);
            fio.arg(format!("--log_entries={LOG_ENTRIES}"));
        }
    }
    let said = place.at("fio.log");
    let open =
        || std::fs::File::create(&said).map_err(|error| format!("{}: {error}", said.display()));
    fio.stdin(Stdio::null()).stdout(open()?).stderr(open()?);
    let before = witness::used_ns(server.process()).ok_or("the server has ended")?;
    let witness = Witness::new();
    let mut child = fio.spawn().map_err(|error| format!("fio: {error}"))?;
    place.note(&child)?;
    let status = child.wait().map_err(|error| format!("fio: {error}"))?;
    let machine = witness.end(&[server.process()]);
    let after = witness::used_ns(server.process()).ok_or("the server has ended")?;
    if !status.success() {
        return Err(format!("{fio:?} failed: {status}\n{}", text(&said)));
    }
    let mut streams = read(&result)?;
    if streams.len() != job.streams.len() {
        return Err(format!("{fio:?} told of {} jobs", streams.len()));
    }
    for (index, stream) in streams.iter_mut().enumerate().filter(|_| job.exact) {
        stream.percentiles_ns = logged(&log.display().to_string(), index)?;
    }
    let ios: f64 = streams.iter().map(|stream| stream.ios).sum();
    Ok(Sample {
        streams,
        processor_ns: (after - before) / ios.max(1.0),
        machine: Some(machine),
    })
}

/// fio's JSON document; messages may stand before it.
fn read(path: &Path) -> Result<Vec<Reached>, String> {
    let said = text(path);
    let document = said.find('{').map_or("", |begin| &said[begin..]);
    let document: Value = serde_json::from_str(document)
        .map_err(|error| format!("fio printed no JSON: {error}\n{said}"))?;
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let jobs = document["jobs"].as_array().map_or(&[][..], Vec::as_slice);
    let reached = jobs.iter().map(|job| {
        let reads = number(&job["read"]["total_ios"]) > 0.0;
        let way = &job[if reads { "read" } else { "write" }];
        let at = |percentile: f64| &way["lat_ns"]["percentile"][format!("{percentile:.6}")];
        Reached {
            ios: number(&way["total_ios"]),
            iops: number(&way["iops"]),
            bytes_per_sec: number(&way["bw_bytes"]),
            mean_ns: number(&way["lat_ns"]["mean"]),
            percentiles_ns: PERCENTILES.map(|percentile| number(at(percentile))),
        }
    });
    Ok(reached.collect())
}

/// Exact percentiles of one stream's log of every I/O, whose files are removed.
fn logged(prefix: &str, index: usize) -> Result<[f64; 3], String> {
    // Jobs count from one.
    let path = format!("{prefix}{index}_lat.{}.log", index + 1);
    let latencies = latencies(&text(path.as_ref()));
    let _ = std::fs::remove_file(&path);
    if latencies.is_empty() {
        return Err(format!("fio left no log {path}"));
    }
    Ok(PERCENTILES.map(|percentile| nearest_rank(&latencies, percentile)))
}

/// Latencies of a log with lines such as `12, 573253, 0, 4096, 0` (ms, ns, direction, bytes, offset), in order of size.
fn latencies(log: &str) -> Vec<u64> {
    let of_line = |line: &str| line.split(',').nth(1)?.trim().parse().ok();
    let mut latencies: Vec<u64> = log.lines().filter_map(of_line).collect();
    latencies.sort_unstable();
    latencies
}

/// The least value that at least so many percent of the values do not exceed.
fn nearest_rank(sorted: &[u64], percentile: f64) -> f64 {
    let rank = (sorted.len() as f64 * percentile / 100.0).ceil() as usize;
    let value = sorted.get(rank.max(1) - 1).or(sorted.last());
    value.copied().unwrap_or(0) as f64
}

/// The same job in virtual time on a design, for as long as the figures that are wanted are of.
pub fn predict(
    fathom: &Path,
    design: &str,
    job: &Job,
    seconds: u64,
    place: &Place,
) -> Result<Sample, String> {
    use std::fmt::Write as _;
    let mut words = format!(
        "[global]\nioengine=libaio\ndirect=1\nsize=1g\ntime_based\nruntime={seconds}\nrw={}\nbs={}\n",
        job.way, job.block
    );
    for stream in job.streams {
        let Stream { export, depth } = stream;
        writeln!(words, "[{export}]\nfilename=/{export}/x\niodepth={depth}")
            .map_err(|error| error.to_string())?;
    }
    let paths = [("predicted.design.toml", design), ("job.ini", &words)];
    for (name, words) in paths {
        std::fs::write(place.at(name), words).map_err(|error| format!("{name}: {error}"))?;
    }
    let [design, job] = paths.map(|(name, _)| place.at(name).display().to_string());
    let words = ["predict", "--quiet", "--json", "--no-record", "--on"];
    let words = [&words[..], &[&design, &job]].concat();
    let record = command::output(&fathom.display().to_string(), &words)?;
    let record: Value = serde_json::from_str(&record).map_err(|error| error.to_string())?;
    let jobs = record["stages"][0]["jobs"].as_array();
    let reached = jobs.into_iter().flatten().map(|job| Reached {
        ios: job["read"]["ios"].as_f64().unwrap_or(0.0),
        iops: job["read"]["iops"].as_f64().unwrap_or(0.0),
        ..Reached::default()
    });
    Ok(Sample {
        streams: reached.collect(),
        processor_ns: 0.0,
        machine: None,
    })
}

#[cfg(test)]
mod tests {
    use super::{latencies, nearest_rank};

    #[test]
    fn percentiles_are_values_of_the_log() {
        let log = "0, 300, 0, 4096, 0\n1, 100, 0, 4096, 0\nno line\n1, 200, 0, 4096, 0\n";
        let sorted = latencies(log);
        assert_eq!(sorted, [100, 200, 300]);
        let at = |percentile| nearest_rank(&sorted, percentile) as u64;
        assert_eq!([at(1.0), at(50.0), at(99.0)], [100, 200, 300]);
        assert_eq!(nearest_rank(&[], 50.0) as u64, 0);
    }
}
