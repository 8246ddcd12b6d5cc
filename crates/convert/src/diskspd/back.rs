//! Reading back of command lines.

use fathom_diagnostics::Diagnostics;
use fathom_dialects::diskspd;
use fathom_dialects::fio::SystemFiles;
use fathom_workload::Workload;

/// What DISKSPD's reader makes of the lines: a stage each.
pub fn read(lines: &[Vec<String>]) -> Result<Workload, Diagnostics> {
    let mut read = Workload {
        stages: Vec::new(),
        seed: 0,
    };
    for words in lines {
        let mut line = diskspd::read(words, 0, &SystemFiles)?.workload;
        read.stages.append(&mut line.stages);
        read.seed = line.seed;
    }
    Ok(read)
}
