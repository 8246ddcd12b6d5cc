//! From what was served to a record, as every other run leaves one.

use fathom_model::Design;
use fathom_record::{
    Check, CpuRecord, EmulationRecord, JobRecord, Record, RunKind, SCHEMA, StageRecord,
    StageResult, latency_record, stage_record, verdict,
};
use fathom_stats::Histogram;
use fathom_units::{Nanos, counted_ios};
use fathom_workload::{Stage, native};

use crate::exports::ExportTable;
use crate::live::STAGE;

/// How far served storage was from the model, and what of that is allowed.
#[derive(Debug)]
pub(crate) struct Emulation {
    pub error: Histogram,
    pub bound: Option<Nanos>,
    pub path: Nanos,
    pub cpu: CpuRecord,
    /// I/Os for which this machine had no room.
    pub without_room: u64,
}

/// A stage with a job for each export: what clients did, as far as a workload can say it. The mix and the sizes are theirs.
pub(crate) fn stage(exports: &ExportTable) -> Result<Stage, String> {
    use std::fmt::Write as _;
    let mut text = format!("[[stage]]\nname = \"{STAGE}\"\n");
    for export in &exports.exports {
        let name = serde_json::Value::from(export.name.as_str());
        let path = serde_json::Value::from(format!("nbd:{}", export.name));
        // What is smaller than the usual block has one block, of any size.
        let block = if export.size < 4096 {
            format!("block = \"{}B\"\ncaching = \"buffered\"\n", export.size)
        } else {
            String::new()
        };
        let _ = write!(
            text,
            "[[stage.job]]\nname = {name}\ntarget = {{ path = {path}, size = \"{}B\" }}\n{block}\
             mix = {{ read = \"50%\", write = \"40%\", trim = \"10%\" }}\nmeasure = \"1s\"\n",
            export.size
        );
    }
    let (mut workload, _) = native::read(&text, STAGE).map_err(|error| error.to_string())?;
    Ok(workload.stages.remove(0))
}

/// The record of the one stage.
pub(crate) fn stage_of(stage: &Stage, result: &StageResult, emulation: &Emulation) -> StageRecord {
    let mut record = stage_record(stage, result);
    let used = |job: &JobRecord| {
        let moved = job.read.is_some() || job.write.is_some() || job.trim.is_some();
        moved || job.sync.is_some() || !job.errors.is_empty()
    };
    // A stage without jobs is one that was cut off.
    if record.jobs.iter().any(used) {
        record.jobs.retain(used);
    }
    record.emulation = Some(EmulationRecord {
        error_ns: latency_record(&emulation.error),
        error_bound_ns: emulation.bound.map(Nanos::get),
        path_ns: emulation.path.get(),
        cpu: emulation.cpu,
    });
    record
}

/// Where no bound was asked for, the largest part of all latency that may be emulation error: more than the noise of most
/// comparisons with a prediction.
const SHARE_MOST: f64 = 0.1;

/// The check that what was served is what the model says; all I/Os took `latency_ns` together.
pub(crate) fn check(emulation: &Emulation, latency_ns: f64) -> Check {
    let error = &emulation.error;
    let (p50, p99) = (
        Nanos::new(error.percentile(50.0)),
        Nanos::new(error.percentile(99.0)),
    );
    let most = Nanos::new(error.max());
    let share = if latency_ns > 0.0 {
        error.count() as f64 * error.mean() / latency_ns
    } else {
        0.0
    };
    let passed = match emulation.bound {
        Some(bound) => p99 <= bound,
        None => share <= SHARE_MOST,
    };
    let bound = emulation.bound.map_or_else(
        || "no bound was asked for".to_owned(),
        |bound| format!("at most {bound} was asked for"),
    );
    let evidence = if error.count() == 0 {
        "no I/O took time in the model".to_owned()
    } else {
        let percent = share * 100.0;
        format!(
            "answers were later than the model by {p50} at the median, {p99} at the 99th percentile ({bound}), {most} at \
             most; that is {percent:.1} % of all latency"
        )
    };
    let remedy = "leave a processor free for the server, serve a design with lower limits, or allow more with `--max-error`";
    Check {
        id: "emulation-error".to_owned(),
        passed,
        evidence,
        remedy: if passed {
            String::new()
        } else {
            remedy.to_owned()
        },
    }
}

/// Name of the check that [`room_check`] gives.
pub(crate) const ROOM: &str = "backing-room";

/// The check that every I/O had room on this machine for its bytes, which `backing` has: `mem`, or a directory.
pub(crate) fn room_check(without_room: u64, backing: &str) -> Check {
    let (place, remedy) = if backing == "mem" {
        (
            "in the memory for volumes".to_owned(),
            "give more by `--memory`, or keep the bytes in files with `--backing DIR`".to_owned(),
        )
    } else {
        (
            format!("in `{backing}`"),
            format!(
                "free space on the file system of `{backing}`, or name another directory with `--backing`"
            ),
        )
    };
    let passed = without_room == 0;
    let many = counted_ios(without_room);
    Check {
        id: ROOM.to_owned(),
        passed,
        evidence: if passed {
            "this machine had room for every write".to_owned()
        } else {
            format!(
                "{many} found no room {place} and failed, where the design's storage has room: this machine was measured, \
                 not the design"
            )
        },
        remedy: if passed { String::new() } else { remedy },
    }
}

/// The latency that clients saw, of all I/Os together.
pub(crate) fn latency_ns(stage: &StageRecord) -> f64 {
    let total = &stage.total;
    let ways = [&total.read, &total.write, &total.trim, &total.sync];
    let ways = ways.into_iter().flatten();
    ways.map(|way| way.ios as f64 * way.latency_ns.mean).sum()
}

/// What is known of the run beside its stage.
pub(crate) struct Session<'a> {
    pub title: String,
    pub stored: bool,
    pub started_unix_ns: u64,
    pub environment: serde_json::Value,
    pub design: &'a Design,
    pub notes: Vec<String>,
}

/// The record of a session.
pub(crate) fn record(
    session: Session<'_>,
    stage: StageRecord,
    result: StageResult,
    checks: Vec<Check>,
) -> Record {
    Record {
        schema: SCHEMA.to_owned(),
        title: session.title,
        stored: session.stored,
        tool: fathom_session::tool(),
        kind: RunKind::Serve,
        started_unix_ns: session.started_unix_ns,
        // What clients did was no workload of ours.
        workload: serde_json::Value::Null,
        design: session.design.to_json(),
        environment: session.environment,
        sweep: None,
        verdict: verdict(&checks, &[result]),
        stages: vec![stage],
        checks,
        notes: session.notes,
        interrupted: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A check of 100 I/Os, each of which took a millisecond, `error` of it without need.
    fn checked(error: Nanos, bound: Option<Nanos>) -> Check {
        let mut histogram = Histogram::new();
        for _ in 0..100 {
            histogram.record(error.get());
        }
        let emulation = Emulation {
            error: histogram,
            bound,
            path: Nanos::ZERO,
            cpu: CpuRecord::default(),
            without_room: 0,
        };
        check(&emulation, 100e6)
    }

    #[test]
    fn io_without_room_fails_with_what_to_do_about_its_backing() {
        assert!(room_check(0, "mem").passed && room_check(0, "/d").remedy.is_empty());
        let in_memory = room_check(1, "mem");
        assert!(!in_memory.passed && in_memory.remedy.contains("`--memory`"));
        assert!(
            in_memory
                .evidence
                .starts_with("1 I/O found no room in the memory")
        );
        let in_files = room_check(1234, "/d");
        assert!(!in_files.passed && in_files.remedy.contains("file system of `/d`"));
        assert!(
            in_files
                .evidence
                .starts_with("1,234 I/Os found no room in `/d`")
        );
    }

    #[test]
    fn much_error_fails_without_a_bound_and_a_bound_decides_alone() {
        let (few, many) = (Nanos::from_micros(90), Nanos::from_micros(150));
        assert!(checked(few, None).passed);
        let failed = checked(many, None);
        assert!(!failed.passed && !failed.remedy.is_empty());
        let evidence = "(no bound was asked for)";
        assert!(failed.evidence.contains(evidence), "{failed:?}");
        assert!(failed.evidence.ends_with("% of all latency"), "{failed:?}");
        assert!(checked(many, Some(Nanos::from_millis(1))).passed);
        assert!(!checked(few, Some(Nanos::from_micros(50))).passed);
    }
}
