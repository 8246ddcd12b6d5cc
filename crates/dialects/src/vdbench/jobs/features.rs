//! What a job does beyond plain I/O: hits on a part of its SD, and what it writes.

use fathom_units::Bytes;
use fathom_workload::{Distribution, Features, FileHandling, Placement, Zone};

use super::super::contents;
use super::super::expand::Expander;
use super::super::sections::{Sd, Seek};
use super::{Settings, Spec};

impl Expander<'_> {
    /// Hits on a part of the SD, and what written data is like.
    pub(super) fn features(
        &mut self,
        sd: &Sd,
        spec: Spec<'_>,
        settings: &Settings<'_>,
        length: Option<Bytes>,
    ) -> Option<Features> {
        let mut features = Features {
            files: FileHandling {
                must_exist: sd.size.is_none(),
                ..FileHandling::default()
            },
            ..Features::default()
        };
        if spec.rdpct < 100.0 {
            let mut filling = self.storage.filling.clone();
            if let Some(ratio) = settings.compratio {
                let mut own = filling.unwrap_or_default();
                own.compress = contents::compressible(ratio);
                filling = Some(own);
            }
            features.filling = filling.map(Box::new);
        }
        let hits = spec.rhpct > 0.0 || spec.whpct > 0.0;
        if hits {
            if spec.seek != Seek::Percent(100.0) {
                let message = format!(
                    "wd={}: hits (`rhpct=`, `whpct=`) are done for random workloads alone",
                    spec.wd.name
                );
                self.values.error(spec.wd.at, message, "use `seekpct=100`");
                return None;
            }
            let area = settings.hitarea.unwrap_or(sd.hitarea);
            let Some(length) = length
                .map(Bytes::get)
                .filter(|length| *length > area && area > 0)
            else {
                let message = format!(
                    "sd={}: hits need `size=`, and a hit area smaller than it",
                    sd.name
                );
                self.values
                    .error(sd.at, message, "add `size=`, or give a smaller `hitarea=`");
                return None;
            };
            let zones = |percent: f64| {
                let hits = (percent.round() as u32).min(100);
                Distribution::ZonedAbsolute(vec![
                    Zone {
                        access: hits,
                        size: Bytes::new(area),
                    },
                    Zone {
                        access: 100 - hits,
                        size: Bytes::new(length - area),
                    },
                ])
            };
            features.placement = Some(Box::new(Placement {
                distribution: [zones(spec.rhpct), zones(spec.whpct), Distribution::Uniform],
                ..Placement::default()
            }));
        }
        Some(features)
    }
}
