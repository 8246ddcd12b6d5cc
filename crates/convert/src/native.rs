//! Writing of Fathom's own file, which says everything.

use fathom_workload::{Workload, native};

use crate::loss::{Loss, Place, Weight};
use crate::{Converted, Origin};

/// The workload as a native file.
pub fn convert(workload: &Workload, origin: Origin<'_>) -> Converted {
    let (workload, names) = native::named(workload);
    let losses: Vec<Loss> = names.into_iter().map(nameless).collect();
    let text = format!(
        "{}\n{}",
        crate::back::header("#", origin, &losses),
        native::write(&workload)
    );
    Converted { text, losses }
}

/// A job that had no name, which fio takes and a native file does not.
fn nameless(name: String) -> Loss {
    Loss {
        weight: Weight::Differs,
        place: Place::Jobs(vec![name]),
        key: "name".to_owned(),
        message: "it had no name, and takes this one".to_owned(),
    }
}
