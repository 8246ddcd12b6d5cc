//! fio's engine that burns processors beside the I/O of other jobs (`cpuio`), as work of the workload model.
//!
//! Such a job has no files, and of its options those alone count that are about its processors, times and results: fio sets its
//! pauses itself, and takes all that is about I/O without a look at it.

use fathom_units::{Bytes, Nanos, Percent};
use fathom_workload::{Place, ProcessorWork, Target};

use super::blocks::smallest_block;
use super::settings::{ProcessorSettings, Settings};
use super::table;

/// What stands in place of a file's name.
const NO_FILE: &str = "processors";

/// Whether the job works in place of I/O.
pub fn works(settings: &Settings) -> bool {
    table::find_engine(&settings.engine).is_some_and(table::EngineRow::works)
}

/// What the job does in place of I/O; `None`: it does I/O.
pub fn work(settings: &Settings) -> Option<ProcessorWork> {
    let ProcessorSettings {
        load,
        burst,
        kind,
        ends_with_io,
    } = settings.control.processor;
    works(settings).then(|| ProcessorWork {
        share: Percent::whole(load).unwrap_or(Percent::ALL),
        burst,
        kind,
        ends_with_io,
    })
}

/// The settings without what is about I/O.
pub fn without_io(settings: Settings) -> Settings {
    let mut control = settings.control;
    control.trace.write = None;
    let plain = Settings::default();
    control.handling = plain.control.handling.clone();
    control.making = plain.control.making;
    Settings {
        name: settings.name,
        description: settings.description,
        number_ios: settings.number_ios,
        engine: settings.engine,
        depth: settings.depth,
        clones: settings.clones,
        loops: settings.loops,
        runtime: settings.runtime,
        time_based: settings.time_based,
        ramp: settings.ramp,
        start_delay: settings.start_delay,
        stonewall: settings.stonewall,
        new_group: settings.new_group,
        group_reporting: settings.group_reporting,
        thread: settings.thread,
        repeatable: settings.repeatable,
        seed: settings.seed,
        percentiles: settings.percentiles,
        significant_figures: settings.significant_figures,
        kb_base: settings.kb_base,
        shows_bits: settings.shows_bits,
        control,
        unified: settings.unified,
        stats: settings.stats,
        log: settings.log,
        sources: settings.sources,
        ..plain
    }
}

/// The one target of such a job, which is nothing.
pub fn target(settings: &Settings) -> Target {
    Target {
        place: Place::Path(NO_FILE.to_owned()),
        offset: Bytes::ZERO,
        length: Some(Bytes::new(smallest_block(settings))),
    }
}

/// The option that such a job cannot be run with, and what to do.
pub fn problem(settings: &Settings) -> Option<(&'static str, String, &'static str)> {
    if !works(settings) {
        return None;
    }
    if settings.control.processor.load == 0 {
        let message = "it is to burn processors, and not told how much of each (`cpuload`)";
        return Some(("cpuload", message.to_owned(), "give cpuload= in percent"));
    }
    if settings.control.processor.burst == Nanos::ZERO {
        let message = "`cpuchunks=0` leaves nothing to be done between its pauses";
        return Some(("cpuchunks", message.to_owned(), "give it in microseconds"));
    }
    settings.control.trace.read.is_some().then(|| {
        let message = "engine `cpuio` does no I/O that a trace could say".to_owned();
        ("read_iolog", message, "take another engine")
    })
}
