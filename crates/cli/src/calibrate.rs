//! `fathom calibrate`: a design fitted to a measured run.

use fathom_calibrate::{CalibrateError, Task};
use fathom_catalog::Catalog;
use fathom_record::RunKind;
use fathom_session::{Code, Console as _, Failure, NewFile, map_paths, named_record, print_json};
use fathom_workload::native;

use crate::args::CalibrateArgs;
use crate::finish::stopped_by_signals;
use crate::predict::read_design;
use crate::terminal::TERMINAL;

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
    let written = args.output.display();
    if args.json {
        print_json(&calibration.to_json(&task, &written.to_string()), &TERMINAL)?;
    } else {
        let text = calibration.to_text();
        TERMINAL.show(&format!("{text}written to `{written}`\n"));
    }
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
