//! What a job does beyond plain I/O: hits on a part of its SD, and what it writes.

use fathom_units::Bytes;
use fathom_workload::{Distribution, Features, FileHandling, Filling, Placement, Zone};

use super::super::contents;
use super::super::expand::Expander;
use super::super::sections::{Sd, Seek};
use super::{Settings, Spec, crowds};

impl Expander<'_> {
    /// What is written, compressible by a loop's factor where one is given.
    pub(in crate::vdbench) fn filling_of(&self, compratio: Option<f64>) -> Option<Filling> {
        let filling = self.storage.filling.clone();
        let Some(ratio) = compratio else {
            return filling;
        };
        Some(Filling {
            compress: contents::compressible(ratio),
            ..filling.unwrap_or_default()
        })
    }

    /// Hits on a part of the SD, and what written data is like.
    pub(super) fn features(
        &mut self,
        sd: &Sd,
        spec: Spec<'_>,
        settings: &Settings<'_>,
        (length, block): (Option<Bytes>, u64),
    ) -> Option<Features> {
        let mut features = Features {
            files: FileHandling {
                must_exist: sd.size.is_none(),
                ..FileHandling::default()
            },
            ..Features::default()
        };
        if spec.rdpct < 100.0 {
            features.filling = self.filling_of(settings.compratio).map(Box::new);
        }
        let hits = spec.rhpct > 0.0 || spec.whpct > 0.0;
        if spec.wd.stride.is_some() {
            self.check_stride(spec, hits)?;
            return Some(features);
        }
        features.placement = match spec.seek {
            Seek::Poisson(_) if hits || spec.wd.hotband.is_some() => {
                let hint = "leave out one of them";
                return self.refuse_placement(
                    spec,
                    "`seekpct=poisson` beside hits or a hot band is not done here",
                    hint,
                );
            }
            Seek::Poisson(midpoint) => {
                let (length, block) = self.known_part(sd, (length, block))?;
                let crowd = crowds::poisson(length, block, midpoint);
                Some(placed([crowd.clone(), crowd]))
            }
            _ if spec.wd.hotband.is_some() && spec.seek != Seek::Percent(0.0) => {
                Some(self.hot_band(sd, spec, hits, (length, block))?)
            }
            _ if hits => Some(self.hits(sd, spec, settings, length)?),
            _ => None,
        };
        Some(features)
    }

    /// A stride is in the place of seeks, of which every I/O has one here.
    fn check_stride(&mut self, spec: Spec<'_>, hits: bool) -> Option<()> {
        if spec.seek.is_in_order() {
            let what = "stride=(min,max) not supported when doing pure sequential I/O (seek=eof or seek=seq)";
            let hint =
                "write `seekpct=100`: each I/O begins so many bytes behind the end of the last";
            return self.refuse_placement(spec, what, hint);
        }
        if hits || spec.wd.hotband.is_some() || spec.seek != Seek::Percent(100.0) {
            let what = "`stride=` is done for `seekpct=100` without hits and hot bands alone";
            return self.refuse_placement(spec, what, "leave out one of them");
        }
        Some(())
    }

    pub(super) fn refuse_placement<T>(
        &mut self,
        spec: Spec<'_>,
        what: &str,
        hint: &str,
    ) -> Option<T> {
        let message = format!("wd={}: {what}", spec.wd.name);
        self.values.error(spec.wd.at, message, hint);
        None
    }

    /// Length of the part of an SD that is used, and its largest transfer, where crowded addresses need them.
    fn known_part(&mut self, sd: &Sd, (length, block): (Option<Bytes>, u64)) -> Option<(u64, u64)> {
        let Some(length) = length.map(Bytes::get) else {
            let message = format!(
                "sd={}: addresses that crowd in a part of it are asked for, and its size is not known",
                sd.name
            );
            let hint = "add `size=` to the `sd=`";
            self.values.error(sd.at, message, hint);
            return None;
        };
        Some((length, block))
    }

    /// Random addresses within a hot band.
    fn hot_band(
        &mut self,
        sd: &Sd,
        spec: Spec<'_>,
        hits: bool,
        part: (Option<Bytes>, u64),
    ) -> Option<Box<Placement>> {
        if hits || spec.seek != Seek::Percent(100.0) {
            let what =
                "a hot band is done for random workloads without `rhpct=` and `whpct=` alone";
            return self.refuse_placement(spec, what, "use `seekpct=100`, and leave those out");
        }
        let (length, block) = self.known_part(sd, part)?;
        if length < crowds::BAND_LEAST {
            let what = format!(
                "Minimum hotband size of 1,000,000 bytes is required: on sd={} it is {length} bytes",
                sd.name
            );
            return self.refuse_placement(
                spec,
                &what,
                "use a wider `hotband=`, or a larger `size=`",
            );
        }
        let crowd = |writes| crowds::hot_band(length, block, writes);
        Some(placed([crowd(false), crowd(true)]))
    }

    /// Hits on the area at an SD's start that caches are taken to hold.
    fn hits(
        &mut self,
        sd: &Sd,
        spec: Spec<'_>,
        settings: &Settings<'_>,
        length: Option<Bytes>,
    ) -> Option<Box<Placement>> {
        if spec.seek != Seek::Percent(100.0) {
            let what = "hits (`rhpct=`, `whpct=`) are done for random workloads alone";
            return self.refuse_placement(spec, what, "use `seekpct=100`");
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
        Some(placed([zones(spec.rhpct), zones(spec.whpct)]))
    }
}

/// Where reads and writes fall.
fn placed([reads, writes]: [Distribution; 2]) -> Box<Placement> {
    Box::new(Placement {
        distribution: [reads, writes, Distribution::Uniform],
        ..Placement::default()
    })
}
