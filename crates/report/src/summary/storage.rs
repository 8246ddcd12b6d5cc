//! Every job and every part of the storage that had I/O: what the full summary adds.

use fathom_record::{JobRecord, Record, before_colon};
use fathom_units::{Nanos, counted, group_digits};

use super::stage_in_words;
use crate::format::share;
use crate::lines::Lines;
use crate::parts::parts_of;

/// What Fathom itself took of an I/O, where that was measured.
fn outside_calls(job: &JobRecord) -> String {
    let (Some(time), Some(calls)) = (job.cpu.outside_calls_ns, job.cpu.io_calls) else {
        return String::new();
    };
    let ways = [&job.read, &job.write, &job.trim, &job.sync];
    let ios: u64 = ways.into_iter().flatten().map(|it| it.ios).sum();
    if ios == 0 || calls == 0 {
        return String::new();
    }
    let (of_io, each) = (time / ios, ios as f64 / calls as f64);
    format!(
        ", {} an I/O outside system calls ({each:.1} I/Os each)",
        Nanos::new(of_io)
    )
}

/// Adds a block for each stage.
pub(super) fn write_storage(text: &mut Lines, record: &Record) {
    for stage in &record.stages {
        text.push_str("\n");
        let heading = format!(
            "{} ({})",
            stage_in_words(stage),
            Nanos::new(stage.measured_ns)
        );
        text.line("", &heading, 2);
        for job in &stage.jobs {
            let workers = counted(job.workers.into(), ("worker", "workers"));
            let (user, system) = (job.cpu.user_ns, job.cpu.system_ns);
            // A prediction uses no processor time.
            let cpu = if user + system > 0 {
                format!(", {} user {} system", Nanos::new(user), Nanos::new(system))
            } else {
                String::new()
            };
            let line = format!(
                "{}: {workers}, depth {:.1} of {:.0} each{cpu}{}",
                before_colon(&job.name),
                job.depth_achieved,
                job.depth_wanted,
                outside_calls(job)
            );
            text.line("  ", &line, 4);
        }
        for (name, part) in parts_of(stage) {
            let depth = part
                .depth
                .map_or(String::new(), |depth| format!(", depth {depth:.1}"));
            let busy = part
                .busy_share
                .map_or(String::new(), |busy| format!(", busy {}", share(busy)));
            let hits = part.hit_share.map_or(String::new(), |hits| {
                format!(", cache hits {}", share(hits))
            });
            let memory = part.memory_share.map_or(String::new(), |memory| {
                format!(", {} from memory", share(memory))
            });
            let ios = group_digits(part.ios);
            let line = format!(
                "{} {}: {ios} I/Os{depth}{busy}{hits}{memory}",
                part.kind,
                before_colon(name)
            );
            text.line("  ", &line, 4);
        }
    }
}
