//! Files of all ages and shapes: what they come to, and what is told of them.

mod any;
mod lines;
mod reading;
mod results;
mod wrong;

use std::io;

use fathom_units::Bytes;
use fathom_workload::Job;

use super::*;
use crate::fio::FileStatus;

const SETUP: &str = "'TEST SETUP ====\n'Test Description\n\ttwo mixes\n'Run Time\n'\thours      minutes    seconds\n\t0          1          30\n'Ramp Up Time (s)\n\t5\n'Default Disk Workers to Spawn\n\tNUMBER_OF_CPUS\n'Default Network Workers to Spawn\n\t0\n'Record Results\n\tALL\n'Worker Cycling\n'\tstart step step type\n\t1 1 LINEAR\n'Disk Cycling\n'\tstart step step type\n\t1 1 LINEAR\n'Queue Depth Cycling\n'\tstart end step step type\n\t2 8 2 EXPONENTIAL\n'Test Type\n\tNORMAL\n'END test setup\n";

const SPECS: &str = "'ACCESS SPECIFICATIONS ====\n'Access specification name,default assignment\n\tmail,NONE\n'size,% of size,% reads,% random,delay,burst,align,reply\n\t4096,60,80,100,0,1,0,0\n\t32768,40,10,0,5,8,4096,512\n'Access specification name,default assignment\n\t8 KiB reads,NONE\n'size,% of size,% reads,% random,delay,burst,align,reply\n\t8192,100,100,100,0,1,8192,0\n'END access specifications\n";

/// One manager with two workers, on two targets and on one.
const MANAGERS: &str = "'MANAGER LIST ====\n'Manager ID, manager name\n\t1,BOX\n'Manager network address\n\n'Worker\n\tWorker 1\n'Worker type\n\tDISK\n'Default target settings for worker\n'Number of outstanding IOs,test connection rate,transactions per connection,use fixed seed,fixed seed value\n\t16,DISABLED,1,ENABLED,77\n'Disk maximum size,starting sector,Data pattern\n\t2097152,2048,2\n'End default target settings for worker\n'Assigned access specs\n\tmail\n\t8 KiB reads\n'End assigned access specs\n'Target assignments\n'Target\n\tD: \"data\"\n'Target type\n\tDISK\n'End target\n'Target\n\tPHYSICALDRIVE:2\n'Target type\n\tDISK\n'End target\n'End target assignments\n'End worker\n'Worker\n\tWorker 2\n'Worker type\n\tDISK\n'Default target settings for worker\n'Number of outstanding IOs,test connection rate,transactions per connection\n\t4,DISABLED,1\n'Disk maximum size,starting sector\n\t0,0\n'End default target settings for worker\n'Assigned access specs\n\tIdle\n\t8 kib READS\n'End assigned access specs\n'Target assignments\n'Target\n\t/mnt/data\n'Target type\n\tDISK\n'End target\n'End target assignments\n'End worker\n'End manager\n'END manager list\n";

fn whole() -> String {
    format!(
        "Version 1.1.0 \n{SETUP}'RESULTS DISPLAY ====\n'Bar chart 1 statistic\n\tIOPS\n'END results display\n{SPECS}{MANAGERS}Version 1.1.0 \n"
    )
}

#[track_caller]
fn parse(text: &str) -> IometerInput {
    match read_text("test.icf", text, 3) {
        Ok(input) => input,
        Err(complaints) => panic!("{complaints}\n{text}"),
    }
}

fn jobs(input: &IometerInput, stage: usize) -> &[Job] {
    &input.workload.stages[stage].jobs
}

/// Stages with their jobs' names, depths and paths.
fn shape(input: &IometerInput) -> Vec<String> {
    let stages = input.workload.stages.iter();
    let shown = stages.map(|stage| {
        let jobs = stage.jobs.iter();
        let jobs =
            jobs.map(|job| format!("{} {} {}", job.name, job.depth, job.targets[0].place.path()));
        format!("{}: {}", stage.name, jobs.collect::<Vec<_>>().join(", "))
    });
    shown.collect()
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace()
        .map(|word| word.replace('_', " "))
        .collect()
}

/// A machine with one file to read and a few things to do I/O on.
struct Machine1(String);

impl Files for Machine1 {
    fn read_text(&self, path: &str) -> io::Result<String> {
        if path == "a.icf" {
            Ok(self.0.clone())
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    fn status(&self, path: &str) -> FileStatus {
        match path {
            "/mnt/data" | "/mnt/empty" | "beside" | "./beside" => FileStatus::Directory,
            "/mnt/data/iobw.tst" | "/srv/file" | "./beside/iobw.tst" | "image" | "./image" => {
                FileStatus::Regular(Bytes::mib(64))
            }
            "/dev/sdb" => FileStatus::Special(Some(Bytes::gib(4))),
            _ => FileStatus::Missing,
        }
    }
}

#[track_caller]
fn line(text: &str, words_after: &str) -> Result<IometerInput, String> {
    let machine = Machine1(text.to_owned());
    read(&words(words_after), &machine, 3).map_err(|complaints| complaints.to_string())
}
