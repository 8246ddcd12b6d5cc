//! How large the trees of a parameter file are, as Vdbench tells before the first run.

use std::collections::BTreeMap;

use fathom_dialects::vdbench::output::Report;
use fathom_dialects::vdbench::{RunKind, VdbenchInput};
use fathom_units::group_digits;
use fathom_workload::FileSet;

use super::Files;

/// Directories, files and bytes.
type Size = [u64; 3];

/// A line for each anchor, as its FSD's first run has it, and one for all together.
pub(super) fn note(input: &VdbenchInput, report: &Report, files: &mut Files<'_>) {
    let now = fathom_rawio::wall_clock();
    for line in lines(input) {
        report.note(files, now, &line);
    }
}

fn lines(input: &VdbenchInput) -> Vec<String> {
    let mut anchors: BTreeMap<usize, (&str, Size)> = BTreeMap::new();
    let on_files = |kind: RunKind| kind == RunKind::FileSystem;
    for run in input.runs.iter().filter(|run| on_files(run.kind)) {
        let stage = input.workload.stages.get(run.stage);
        let jobs = stage.into_iter().flat_map(|stage| &stage.jobs);
        for (place, job) in run.jobs.iter().zip(jobs) {
            let target = job.targets.first();
            if let Some(set) = target.and_then(|target| target.place.file_set()) {
                let of = || (set.anchor.as_str(), size(set));
                anchors.entry(place.sd).or_insert_with(of);
            }
        }
    }
    let mut lines: Vec<String> = anchors
        .values()
        .map(|(anchor, [directories, of_files, bytes])| {
            format!(
                "Anchor size: anchor={anchor}: dirs: {:>12}; files: {:>12}; bytes: {:>10} ({})",
                group_digits(*directories),
                group_digits(*of_files),
                short(*bytes),
                group_digits(*bytes)
            )
        })
        .collect();
    if anchors.len() > 1 {
        let sum = |at: usize| {
            let sizes = anchors.values().map(|(_, size)| size[at]);
            sizes.fold(0, u64::saturating_add)
        };
        lines.push(format!(
            "Estimated totals for all {} anchors: dirs: {}; files: {}; bytes: {} ",
            anchors.len(),
            group_digits(sum(0)),
            group_digits(sum(1)),
            short(sum(2))
        ));
    }
    lines
}

fn size(set: &FileSet) -> Size {
    [set.directory_count(), set.file_count(), set.bytes().get()]
}

/// Bytes in Vdbench's words: in full below 100,000, then in the largest unit that leaves a whole.
fn short(bytes: u64) -> String {
    const UNITS: [(u64, char); 5] = [
        (1 << 50, 'p'),
        (1 << 40, 't'),
        (1 << 30, 'g'),
        (1 << 20, 'm'),
        (1 << 10, 'k'),
    ];
    if bytes < 100_000 {
        return bytes.to_string();
    }
    let fitting = UNITS.iter().find(|(unit, _)| bytes >= *unit);
    let (unit, letter) = fitting.copied().unwrap_or((1, ' '));
    // Halves are rounded up, as Java does.
    let thousandths = (u128::from(bytes) * 1000 + u128::from(unit) / 2) / u128::from(unit);
    format!("{}.{:03}{letter}", thousandths / 1000, thousandths % 1000)
}

#[cfg(test)]
mod tests {
    use std::io;

    use fathom_dialects::fio::{FileStatus, Files};
    use fathom_dialects::vdbench;

    use super::*;

    /// One parameter file, whatever its name.
    struct Text(&'static str);

    impl Files for Text {
        fn read_text(&self, _: &str) -> io::Result<String> {
            Ok(self.0.to_owned())
        }

        fn status(&self, _: &str) -> FileStatus {
            FileStatus::Missing
        }
    }

    #[track_caller]
    fn check(text: &'static str, expected: &[&str]) {
        let words = ["-f", "p"].map(str::to_owned);
        assert_eq!(
            lines(&vdbench::read(&words, &Text(text)).unwrap()),
            expected
        );
    }

    /// What 5.04.07 printed for these.
    #[test]
    fn anchors_are_told_in_the_words_of_5_04_07() {
        check(
            "fsd=fsd1,anchor=/fa,depth=2,width=2,files=5,size=64k\n\
             fwd=fwd1,fsd=fsd1,operation=read\n\
             rd=rd1,fwd=fwd1,fwdrate=200,format=yes,elapsed=5\n",
            &[
                "Anchor size: anchor=/fa: dirs:            6; files:           20; bytes:     1.250m (1,310,720)",
            ],
        );
        // The first of a loop counts; FSDs stand in their own order, not in that of their names or of their FWDs.
        check(
            "fsd=zz,anchor=/fa1,depth=1,width=1,files=4,size=4k\n\
             fsd=aa,anchor=/fa2,depth=1,width=1,files=3,size=1m\n\
             fwd=x,fsd=aa,operation=read\nfwd=b,fsd=zz,operation=read\n\
             rd=rd1,fwd=(x,b),fwdrate=100,format=yes,elapsed=3,forfiles=(3,4)\n",
            &[
                "Anchor size: anchor=/fa1: dirs:            1; files:            3; bytes:      12288 (12,288)",
                "Anchor size: anchor=/fa2: dirs:            1; files:            3; bytes:     3.000m (3,145,728)",
                "Estimated totals for all 2 anchors: dirs: 2; files: 6; bytes: 3.012m ",
            ],
        );
        check(
            "sd=sd1,lun=/x,size=1m\nwd=w,sd=sd1\nrd=r,wd=w,iorate=max,elapsed=2\n",
            &[],
        );
        assert_eq!(short(102_400), "100.000k");
        assert_eq!(short(8_192_000), "7.813m");
    }
}
