//! Reading back of a job file, on a machine that has no files but traces.

use std::io::{self, BufRead};

use fathom_diagnostics::Diagnostics;
use fathom_dialects::fio::{self, FileStatus, Files, ReadContext, SystemFiles};
use fathom_units::Bytes;
use fathom_workload::Workload;

struct OneText<'a>(&'a str);

impl Files for OneText<'_> {
    fn read_text(&self, path: &str) -> io::Result<String> {
        match path {
            "-" => Ok(self.0.to_owned()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn status(&self, _: &str) -> FileStatus {
        FileStatus::Missing
    }

    /// Files and sizes of a replay are those of its trace.
    fn open(&self, path: &str) -> io::Result<Box<dyn BufRead + Send>> {
        SystemFiles.open(path)
    }
}

/// What fio's reader makes of `text`, but for directories: which are missing only the machine that runs the job knows.
pub fn read(text: &str) -> Result<Workload, Diagnostics> {
    let context = ReadContext {
        files: &OneText(text),
        environment: |_| None,
        entropy: 0,
        page_size: Bytes::kib(4),
        processors: 1,
        memory_mib: 0,
        clock: |_| None,
    };
    let mut read = fio::read(&["-".to_owned()], &context)?.workload;
    for job in read.stages.iter_mut().flat_map(|stage| &mut stage.jobs) {
        job.features.files.make_parents = false;
    }
    Ok(read)
}

/// `read` with jobs that make directories as those of the same name in `original` do: fio makes them without being told to.
pub fn with_directories_of(original: &Workload, mut read: Workload) -> Workload {
    for job in read.stages.iter_mut().flat_map(|stage| &mut stage.jobs) {
        let mut originals = original.jobs().map(|(_, own)| own);
        job.features.files.make_parents =
            originals.any(|own| own.name == job.name && own.features.files.make_parents);
    }
    read
}
