//! Jobs without an end, with one before their first I/O, or one that nobody lives to see.

use fathom_units::Nanos;

use crate::Job;

use super::Found;

pub(super) fn check(job: &Job, found: &mut Found) {
    let limits = &job.limits;
    match limits.runtime {
        None if limits.time_based => {
            let message = "it starts over when done, but has no time after which it ends";
            found.add("measure", message, "give it a time, such as `60s`");
        }
        Some(Nanos::ZERO) => {
            found.add(
                "measure",
                "its measured time is 0",
                "give a time such as `60s`",
            );
        }
        _ => {}
    }
    if limits.ios == Some(0) {
        found.add("measure", "it may do 0 I/Os", "allow at least 1");
    }
    let block = job.block.largest(job.mix);
    if let Some(bytes) = limits
        .bytes
        .filter(|bytes| *bytes < block || bytes.get() == 0)
    {
        let message = format!("it may move {bytes}, less than one block of {block}");
        found.add(
            "measure",
            message,
            "allow more bytes or use a smaller block",
        );
    }
    let times = [
        limits.start_delay,
        limits.warmup,
        limits.runtime.unwrap_or_default(),
    ];
    // A century in ns still leaves room to add.
    if times.into_iter().any(|time| time.as_secs_f64() > 3.2e9) {
        found.add(
            "measure",
            "one of its times is over 100 years",
            "give a shorter one",
        );
    }
}
