//! One run of one program: what it printed, as figures an I/O.

use std::io::Read as _;
use std::process::{Command, Stdio};

use serde_json::Value;
use wait4::Wait4 as _;

use super::cases::{Case, Data};
use super::user_samples::UserSamples;
use crate::command;

/// Figures of one run.
#[derive(Clone, Copy)]
pub struct Sample {
    pub iops: f64,
    /// User time of an I/O, ns.
    pub user_ns: f64,
    /// System time of an I/O, ns.
    pub system_ns: f64,
    /// User time of an I/O by samples, ns; where it was sampled.
    pub sampled_user_ns: Option<f64>,
    /// Time of an I/O outside system calls, ns; of our own jobs.
    pub outside_ns: Option<f64>,
    /// Median completion latency, ns; from submission on where the case asks for that.
    pub median_ns: f64,
}

impl Sample {
    /// User time of an I/O, ns, as finely as it is known.
    pub fn finest_user_ns(&self) -> f64 {
        self.sampled_user_ns.unwrap_or(self.user_ns)
    }
}

/// Runs a program that takes fio's arguments and prints fio's JSON.
pub fn measure(
    program: &mut Command,
    case: &Case,
    path: &str,
    seconds: usize,
) -> Result<Sample, String> {
    let runtime = format!("--runtime={seconds}");
    let common = [
        "--name=bench",
        "--time_based",
        "--size=1g",
        runtime.as_str(),
        "--output-format=json",
    ];
    program.args(common).args(case.arguments);
    if case.data != Data::None {
        program.arg(format!("--filename={path}"));
    }
    let output = program
        .output()
        .map_err(|error| format!("{program:?} did not start: {error}"))?;
    let document: Value = serde_json::from_slice(&output.stdout).map_err(|error| {
        format!(
            "{program:?} printed no JSON: {error}\n{}",
            String::from_utf8_lossy(&output.stderr)
        )
    })?;
    let job = &document["jobs"][0];
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let way = if number(&job["read"]["total_ios"]) > 0.0 {
        &job["read"]
    } else {
        &job["write"]
    };
    let ios = number(&way["total_ios"]).max(1.0);
    // Percent of the job's runtime in ms.
    let processor = |key: &str| number(&job[key]) * number(&job["job_runtime"]) * 1e4 / ios;
    Ok(Sample {
        iops: number(&way["iops"]),
        user_ns: processor("usr_cpu"),
        system_ns: processor("sys_cpu"),
        sampled_user_ns: None,
        outside_ns: None,
        median_ns: ["lat_ns", "clat_ns"]
            .iter()
            .find_map(|key| way[key]["percentile"]["50.000000"].as_f64())
            .unwrap_or(0.0),
    })
}

/// The same under Linux's `perf`, which samples what runs in user mode.
pub fn measure_sampled(
    program: &Command,
    case: &Case,
    path: &str,
    seconds: usize,
) -> Result<Sample, String> {
    let samples = UserSamples::beside(path);
    let mut sample = measure(&mut samples.of(program), case, path, seconds)?;
    let ios = sample.iops * seconds as f64;
    sample.sampled_user_ns = Some(samples.user_ns()? / ios.max(1.0));
    Ok(sample)
}

/// Runs one of our own jobs on the file, and reads our own record; its workers measure their time outside system calls.
pub fn native(program: &str, keys: &str, path: &str, seconds: usize) -> Result<Sample, String> {
    let workload = format!("{path}.workload.toml");
    let text = format!(
        "target = {{ path = {path:?}, size = \"1GiB\" }}\n[[stage]]\nmeasure = \"{seconds}s\"\n\
         [[stage.job]]\nname = \"bench\"\n{keys}\n"
    );
    std::fs::write(&workload, text).map_err(|error| format!("{workload}: {error}"))?;
    let words = [
        "run",
        "--json",
        "--no-record",
        "--outside-calls",
        workload.as_str(),
    ];
    let output = command::output(program, &words)?;
    std::fs::remove_file(&workload).map_err(|error| format!("{workload}: {error}"))?;
    let document: Value = serde_json::from_str(&output).map_err(|error| error.to_string())?;
    let job = &document["stages"][0]["jobs"][0];
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let ios = number(&job["read"]["ios"]).max(1.0);
    let outside = job["cpu"]["outside_calls_ns"].as_f64();
    Ok(Sample {
        iops: number(&job["read"]["iops"]),
        user_ns: number(&job["cpu"]["user_ns"]) / ios,
        system_ns: number(&job["cpu"]["system_ns"]) / ios,
        sampled_user_ns: None,
        outside_ns: outside.map(|ns| ns / ios),
        median_ns: number(&job["read"]["latency_ns"]["p50"]),
    })
}

/// Figures of fio's speed demo.
#[derive(Clone, Copy)]
pub struct Demo {
    /// The median of those it printed.
    pub iops: f64,
    /// User time of an I/O, ns.
    pub user_ns: f64,
}

/// Runs fio's speed demo at its best flags, those of `arguments` included: of a page cache it reads faster in larger batches,
/// and with or without registered buffers, depending on the processor (docs/benchmarks.md).
pub fn demo(program: &str, arguments: &[&str], path: &str, seconds: usize) -> Result<Demo, String> {
    // It prints once a second, and nothing at its end.
    let runtime = format!("-r{}", seconds.max(2));
    let best = ["-d64", "-s16", "-c16", "-p0", "-B1", "-F1", "-n1"];
    let mut command = Command::new(program);
    command.args(best).args(arguments).arg(runtime).arg(path);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let failed = |error: std::io::Error| format!("{program} (--t-io-uring): {error}");
    let mut child = command.spawn().map_err(failed)?;
    let mut text = String::new();
    if let Some(mut out) = child.stdout.take() {
        out.read_to_string(&mut text).map_err(failed)?;
    }
    let used = child.wait4().map_err(failed)?.rusage;
    // Lines such as `IOPS=1.24M, BW=4.84GiB/s, IOS/call=16/16`, one a second; its own maximum is the last.
    let lines = text.split("Maximum").next().unwrap_or_default();
    let mut seen: Vec<f64> = lines
        .split("IOPS=")
        .skip(1)
        .filter_map(|rest| scaled(rest.split([',', '\n']).next()?))
        .collect();
    seen.sort_by(f64::total_cmp);
    let iops = seen
        .get(seen.len() / 2)
        .copied()
        .ok_or_else(|| format!("{command:?} printed no IOPS:\n{text}"))?;
    let ios: f64 = seen.iter().sum();
    Ok(Demo {
        iops,
        user_ns: used.utime.as_secs_f64() * 1e9 / ios.max(1.0),
    })
}

/// `975.78K` or `1.24M` as a number.
fn scaled(text: &str) -> Option<f64> {
    let text = text.trim();
    let (digits, scale) = match text.strip_suffix('M') {
        Some(digits) => (digits, 1e6),
        None => match text.strip_suffix('K') {
            Some(digits) => (digits, 1e3),
            None => (text, 1.0),
        },
    };
    digits.parse::<f64>().ok().map(|number| number * scale)
}

#[cfg(test)]
mod tests {
    use super::scaled;

    #[test]
    fn the_demos_figures_are_read() {
        assert_eq!(scaled("975.78K"), Some(975_780.0));
        assert_eq!(scaled("1.24M"), Some(1_240_000.0));
        assert_eq!(scaled("12"), Some(12.0));
        assert_eq!(scaled("fast"), None);
    }
}
