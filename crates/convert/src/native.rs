//! Writing of Fathom's own file, which says everything.

use fathom_workload::{Workload, native};

use crate::Converted;

/// The workload as a native file.
pub fn convert(workload: &Workload, source: &str) -> Converted {
    let text = format!(
        "{}\n{}",
        crate::back::header("#", source, &[]),
        native::write(workload)
    );
    Converted {
        text,
        losses: Vec::new(),
    }
}
