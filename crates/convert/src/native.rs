//! Writing of Fathom's own file, which says everything.

use fathom_workload::{Workload, native};

use crate::{Converted, Origin};

/// The workload as a native file.
pub fn convert(workload: &Workload, origin: Origin<'_>) -> Converted {
    let text = format!(
        "{}\n{}",
        crate::back::header("#", origin, &[]),
        native::write(workload)
    );
    Converted {
        text,
        losses: Vec::new(),
    }
}
