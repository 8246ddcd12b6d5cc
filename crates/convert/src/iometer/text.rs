//! The text of a configuration, in the order and columns of Iometer 1.1.0.

use std::fmt::Write as _;

use super::{Hand, Icf, Worker};

/// What a file begins and ends with.
const VERSION: &str = "Version 1.1.0 \n";

/// Name of the specification that does nothing.
pub(super) const IDLE: &str = "Idle";

/// Longest line of a comment, in characters: Iometer reads 199 bytes of a line.
const COMMENT_MAX: usize = 120;

/// A whole file. Comments stand between the version and the first section.
pub(super) fn file(comments: &str, body: &str) -> String {
    format!("{VERSION}{comments}{body}{VERSION}")
}

/// Comment lines, none of them too long.
pub(super) fn wrapped(comments: &str) -> String {
    let mut text = String::new();
    for line in comments.lines() {
        let mut rest = line;
        let mut room = COMMENT_MAX;
        while let Some((most, _)) = rest.char_indices().nth(room) {
            let blank = rest[..most].rfind(' ').filter(|at| *at > room / 2);
            let (now, later) = rest.split_at(blank.unwrap_or(most));
            let _ = write!(text, "{now}\n'     ");
            rest = later.trim_start();
            room = COMMENT_MAX - 6;
        }
        let _ = writeln!(text, "{rest}");
    }
    text
}

/// The sections.
pub(super) fn body(icf: &Icf, source: &str) -> String {
    let mut text = String::new();
    setup(&mut text, icf, source);
    specs(&mut text, icf);
    managers(&mut text, icf);
    text
}

/// A line that begins a section, drawn out to the width that Iometer gives it.
fn section(text: &mut String, name: &str) {
    let _ = writeln!(text, "{:=<80}", format!("'{name} "));
}

fn setup(text: &mut String, icf: &Icf, source: &str) {
    let source = super::names::one_line(source, 80);
    let (hours, minutes, seconds) = (
        icf.run_time / 3600,
        icf.run_time / 60 % 60,
        icf.run_time % 60,
    );
    section(text, "TEST SETUP");
    let _ = writeln!(
        text,
        "'Test Description\n\tFrom {source}\n\
         'Run Time\n'\thours      minutes    seconds\n\t{hours:<10} {minutes:<10} {seconds}\n\
         'Ramp Up Time (s)\n\t{}\n\
         'Default Disk Workers to Spawn\n\tNUMBER_OF_CPUS\n\
         'Default Network Workers to Spawn\n\t0\n\
         'Record Results\n\tALL\n\
         'Worker Cycling\n'\tstart      step       step type\n\t1          1          LINEAR\n\
         'Disk Cycling\n'\tstart      step       step type\n\t1          1          LINEAR\n\
         'Queue Depth Cycling\n'\tstart      end        step       step type\n\
         \t1          32         2          EXPONENTIAL\n\
         'Test Type\n\tNORMAL\n'END test setup",
        icf.ramp_up
    );
}

fn specs(text: &mut String, icf: &Icf) {
    section(text, "ACCESS SPECIFICATIONS");
    let name = |text: &mut String, name: &str| {
        let _ = writeln!(
            text,
            "'Access specification name,default assignment\n\t{name},NONE\n\
             'size,% of size,% reads,% random,delay,burst,align,reply"
        );
    };
    let idles = |worker: &Worker| worker.specs.contains(&None);
    if icf.managers.iter().any(|one| one.workers.iter().any(idles)) {
        name(text, IDLE);
        let _ = writeln!(text, "\t0,100,100,0,0,1,0,0");
    }
    for spec in &icf.specs {
        name(text, &spec.name);
        for line in &spec.lines {
            let numbers: Vec<String> = line.iter().map(u64::to_string).collect();
            let _ = writeln!(text, "\t{}", numbers.join(","));
        }
    }
    let _ = writeln!(text, "'END access specifications");
}

fn managers(text: &mut String, icf: &Icf) {
    section(text, "MANAGER LIST");
    for (id, manager) in (1..).zip(&icf.managers) {
        let _ = writeln!(
            text,
            "'Manager ID, manager name\n\t{id},{}\n'Manager network address\n\t",
            manager.name
        );
        for one in &manager.workers {
            worker(text, one, icf);
        }
        let _ = writeln!(text, "'End manager");
    }
    let _ = writeln!(text, "'END manager list");
}

fn worker(text: &mut String, Worker { hand, specs }: &Worker, icf: &Icf) {
    let Hand {
        name,
        target,
        depth,
        max_size,
        start,
        pattern,
        seed,
    } = hand;
    let seed = seed.map_or("DISABLED,0".to_owned(), |seed| format!("ENABLED,{seed}"));
    let _ = writeln!(
        text,
        "'Worker\n\t{name}\n'Worker type\n\tDISK\n\
         'Default target settings for worker\n\
         'Number of outstanding IOs,test connection rate,transactions per connection,use fixed seed,fixed seed value\n\
         \t{depth},DISABLED,1,{seed}\n\
         'Disk maximum size,starting sector,Data pattern\n\t{max_size},{start},{pattern}\n\
         'End default target settings for worker\n'Assigned access specs"
    );
    for spec in specs {
        let name = spec.map_or(IDLE, |spec| &icf.specs[spec].name);
        let _ = writeln!(text, "\t{name}");
    }
    let _ = writeln!(
        text,
        "'End assigned access specs\n'Target assignments\n'Target\n\t{target}\n\
         'Target type\n\tDISK\n'End target\n'End target assignments\n'End worker"
    );
}
