//! The table of comparisons: parameters that both programs get, and what is to be reached.

use std::path::Path;

use super::lines::Columns;
use crate::bench::cases::Data;

/// The files that stand for disks; `FOLDER/` before a name in the parameters is where they are.
pub const DISKS: [&str; 2] = ["disk1", "disk2"];

/// A comparison.
pub struct Case {
    pub name: &'static str,
    /// Vdbench's parameters; `FOLDER` stands for the folder of the files, `SECONDS` for the run's length.
    pub lines: &'static [&'static str],
    pub columns: Columns,
    pub data: Data,
    /// The rate, at least this many times Vdbench's.
    pub rate: f64,
    /// Processor time of an I/O, at most this many times Vdbench's.
    pub processor: f64,
}

impl Case {
    /// The file that both programs read.
    pub fn parameters(&self, folder: &Path, seconds: usize) -> String {
        let folder = folder.display().to_string();
        let seconds = seconds.to_string();
        let lines = self.lines.iter().map(|line| {
            let line = line.replace("FOLDER", &folder);
            line.replace("SECONDS", &seconds) + "\n"
        });
        lines.collect()
    }
}

pub const CASES: [Case; 7] = [
    Case {
        name: "disk, 4 KiB random reads, 32 threads",
        lines: &[
            "sd=sd1,lun=FOLDER/disk1,openflags=o_direct,threads=32",
            "wd=wd1,sd=sd1,xfersize=4k,rdpct=100",
            "rd=rd1,wd=wd1,iorate=max,elapsed=SECONDS,interval=1",
        ],
        data: Data::Direct,
        columns: Columns::Disks,
        rate: 0.99,
        processor: 0.80,
    },
    Case {
        name: "disk, 4 KiB random, 70 % reads, 32 threads",
        lines: &[
            "sd=sd1,lun=FOLDER/disk1,openflags=o_direct,threads=32",
            "wd=wd1,sd=sd1,xfersize=4k,rdpct=70",
            "rd=rd1,wd=wd1,iorate=max,elapsed=SECONDS,interval=1",
        ],
        data: Data::Direct,
        columns: Columns::Disks,
        rate: 0.99,
        processor: 0.80,
    },
    Case {
        name: "two disks, skew 90 and 10, 70 % reads",
        lines: &[
            "sd=sd1,lun=FOLDER/disk1,openflags=o_direct",
            "sd=sd2,lun=FOLDER/disk2,openflags=o_direct",
            "wd=wd1,sd=sd1,xfersize=4k,rdpct=70,skew=90",
            "wd=wd2,sd=sd2,xfersize=4k,rdpct=70,skew=10",
            "rd=rd1,wd=wd*,iorate=max,elapsed=SECONDS,interval=1",
        ],
        data: Data::Direct,
        columns: Columns::Disks,
        rate: 0.99,
        processor: 0.80,
    },
    Case {
        name: "page cache, 4 KiB random reads, 8 threads",
        lines: &[
            "sd=sd1,lun=FOLDER/disk1",
            "wd=wd1,sd=sd1,xfersize=4k,rdpct=100",
            "rd=rd1,wd=wd1,iorate=max,elapsed=SECONDS,interval=1",
        ],
        data: Data::Hot,
        columns: Columns::Disks,
        rate: 1.0,
        processor: 0.80,
    },
    Case {
        name: "page cache, two SDs, skew 70 and 30",
        lines: &[
            "sd=sd1,lun=FOLDER/disk1",
            "sd=sd2,lun=FOLDER/disk2",
            "wd=wd1,sd=sd1,xfersize=4k,rdpct=100,skew=70",
            "wd=wd2,sd=sd2,xfersize=4k,rdpct=100,skew=30",
            "rd=rd1,wd=wd*,iorate=max,elapsed=SECONDS,interval=1",
        ],
        data: Data::Hot,
        columns: Columns::Disks,
        rate: 1.0,
        processor: 0.80,
    },
    Case {
        name: "page cache, 4 KiB random writes, 8 threads",
        lines: &[
            "sd=sd1,lun=FOLDER/disk1",
            "wd=wd1,sd=sd1,xfersize=4k,rdpct=0",
            "rd=rd1,wd=wd1,iorate=max,elapsed=SECONDS,interval=1",
        ],
        data: Data::Hot,
        columns: Columns::Disks,
        rate: 1.0,
        processor: 0.80,
    },
    Case {
        name: "files, 4 KiB random reads, two FWDs",
        lines: &[
            "fsd=fsd1,anchor=FOLDER/files1,depth=1,width=2,files=20,size=1m",
            "fsd=fsd2,anchor=FOLDER/files2,depth=1,width=2,files=20,size=1m",
            "fwd=default,operation=read,xfersize=4k,fileio=random,fileselect=random,threads=2",
            "fwd=fwd1,fsd=fsd1",
            "fwd=fwd2,fsd=fsd2",
            "rd=rd1,fwd=fwd*,fwdrate=max,format=yes,elapsed=SECONDS,interval=1",
        ],
        data: Data::None,
        columns: Columns::Files,
        rate: 1.0,
        processor: 0.80,
    },
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::CASES;

    #[test]
    fn parameters_name_files_and_time() {
        for case in CASES {
            let text = case.parameters(Path::new("/somewhere"), 7);
            assert!(text.contains("=/somewhere/"), "{text}");
            assert!(text.contains("elapsed=7,interval=1\n"), "{text}");
            assert!(
                !text.contains("FOLDER") && !text.contains("SECONDS"),
                "{text}"
            );
        }
    }
}
