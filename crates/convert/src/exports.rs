//! Exports of NBD servers, which fio alone knows beside us.

use fathom_workload::{Backend, Workload};

use crate::Dialect;
use crate::loss::{Loss, Place, Weight};

/// That a dialect has no exports, where a workload is on some.
pub fn lost(workload: &Workload, to: Dialect) -> Option<Loss> {
    if matches!(to, Dialect::Fio | Dialect::Native) {
        return None;
    }
    let (_, job) = workload
        .jobs()
        .find(|(_, job)| job.backend == Backend::Nbd)?;
    let path = job.targets.first()?.place.path();
    let name = to.name();
    Some(Loss {
        weight: Weight::Lost,
        place: Place::Workload,
        key: "backend".to_owned(),
        message: format!(
            "{name} reaches no exports of NBD servers, and takes `{path}` for a file: attach the export with nbd-client, and name the block device"
        ),
    })
}

#[cfg(test)]
mod tests {
    use fathom_workload::native;

    use super::*;
    use crate::convert;

    const TEXT: &str = "[target]\npath = \"nbd+unix:///a?socket=/run/s\"\nsize = \"1MiB\"\n\n[[stage]]\nname = \"a\"\nmeasure = \"1s\"\n";

    #[track_caller]
    fn check(to: Dialect, is_lossy: bool, holds: &str) {
        let text = format!("{TEXT}\n[[stage.job]]\nname = \"a\"\n");
        let (workload, _) = native::read(&text, "a.toml").unwrap();
        let converted = convert(&workload, to, "a.toml");
        let untold = converted.losses.iter().any(|loss| loss.key == "backend");
        assert_eq!(untold, is_lossy, "{:?}", converted.losses);
        assert!(converted.text.contains(holds), "{}", converted.text);
    }

    #[test]
    fn exports_go_to_fio_alone() {
        check(Dialect::Fio, false, "uri=nbd+unix:///a?socket=/run/s\n");
        check(Dialect::Fio, false, "ioengine=nbd\n");
        check(Dialect::Native, false, "backend = \"nbd\"");
        check(Dialect::Diskspd, true, "nbd+unix:///a?socket=/run/s");
        check(Dialect::Vdbench, true, "nbd+unix:///a?socket=/run/s");
        check(Dialect::Iometer, true, "");
    }
}
