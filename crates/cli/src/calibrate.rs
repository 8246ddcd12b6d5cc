//! `fathom calibrate`: a design fitted to a measured run.

use std::fmt::Write as _;
use std::path::Path;

use fathom_calibrate::{CalibrateError, Calibration, Fit, Task};
use fathom_catalog::Catalog;
use fathom_record::RunKind;
use fathom_session::{Code, Console as _, Failure, NewFile, map_paths, named_record};
use fathom_workload::native;

use crate::args::CalibrateArgs;
use crate::finish::stopped_by_signals;
use crate::predict::read_design;

/// Fits, writes the new design, and shows what was fitted.
pub fn calibrate(args: &CalibrateArgs) -> Result<Code, Failure> {
    let stop = stopped_by_signals()?;
    // The fit takes a while; what would refuse its result is told first.
    let output = NewFile::at(&args.output)?;
    let (design_name, design) = read_design(&args.on)?;
    let (record_name, record) = named_record(&args.record)?;
    match record.kind {
        RunKind::Run => {}
        RunKind::Predict => {
            crate::tell(
                "note: this record is a prediction; a fit to it says nothing of real storage",
            );
        }
        RunKind::Serve => {
            let message = format!(
                "`{}` was served: it has no workload to predict",
                args.record
            );
            return Err(Failure::new(Code::Input, message)
                .hint("name a run of `fathom run`; `fathom runs` lists the stored runs"));
        }
    }
    let mut workload = native::from_json(&record.workload, "the record's workload")?;
    map_paths(&args.maps, &mut workload)?;
    let task = Task {
        record: &record,
        workload: &workload,
        design: &design,
        design_name: &design_name,
        record_name: &record_name,
    };
    let calibration =
        fathom_calibrate::calibrate(&task, Catalog::builtin(), &|| stop.is_requested())
            .map_err(failure)?;
    output.write(&calibration.design)?;
    crate::terminal::TERMINAL.show(&told(&calibration, &args.output));
    Ok(Code::Success)
}

fn failure(error: CalibrateError) -> Failure {
    let hint = error.hint();
    let failure = match error {
        CalibrateError::Input(complaints) => complaints.into(),
        CalibrateError::Stopped => Failure::new(Code::Interrupted, error),
        other => Failure::new(Code::Input, other),
    };
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn told(calibration: &Calibration, path: &Path) -> String {
    let mut text = String::new();
    for fit in &calibration.fits {
        text.push_str(&in_words(fit));
    }
    for sentence in &calibration.whole {
        let _ = writeln!(text, "{sentence}");
    }
    for sentence in &calibration.left_out {
        let _ = writeln!(text, "not fitted: {sentence}");
    }
    let _ = writeln!(text, "written to `{}`", path.display());
    text
}

const POOR_FIT: &str = "\
  POOR FIT: the measured latency is no log-normal one (several loads mixed, or
  other work on the storage), or the design has not the limits of what was
  measured; measure again, at one small depth and longer
";

fn in_words(fit: &Fit) -> String {
    let [p50, p99] = fit.measured;
    let error = fit.error;
    let percent = |share: f64| format!("{:+.1} %", share * 100.0);
    let mut text = format!("{}\n", fit.volumes.join(", "));
    let _ = writeln!(text, "  measured       p50 {p50}, p99 {p99}");
    let _ = writeln!(
        text,
        "  media latency  median {}, p99 {}",
        fit.median, fit.p99
    );
    let _ = writeln!(
        text,
        "  fit            p50 {}, p99 {}, at most {} (p{})",
        percent(error.p50),
        percent(error.p99),
        percent(error.most),
        error.most_at
    );
    if error.is_poor() {
        text.push_str(POOR_FIT);
    }
    text
}
