//! How watching ends: what was traced is laid beside the samples, and what it cost, what is unknown and what is doubtful is
//! put into words.

use fathom_units::{counted, counted_ios, group_digits};

use super::{Seen, Watcher, own_use};
use crate::samples::{Device, Sample, Traced, Unknown};
use crate::shares::percent;

/// What counters alone cannot know.
const UNTRACED: [Unknown; 4] = [
    Unknown {
        figure: "latency, each I/O (50th, 90th, 99th percentile)",
        reason: "counters give the sum of an interval, and an average hides the slow ones",
    },
    Unknown {
        figure: "minimum latency",
        reason: "counters give the sum of an interval, in which the fastest I/O does not show",
    },
    Unknown {
        figure: "% random, % sequential",
        reason: "counters do not say where I/Os begin",
    },
    Unknown {
        figure: "I/O size, each",
        reason: "counters give the bytes of an interval, and an average hides their distribution",
    },
];

/// Counters and tracepoints count the same I/Os; where they do not, a driver takes I/O around the kernel's request queue, or
/// events are missing.
fn disagreement(device: &Device, traced: &Traced) -> Option<String> {
    let count: f64 = device.samples.iter().filter_map(Sample::ios).sum();
    let seen = traced.read_size.count() + traced.write_size.count() + traced.flushes;
    // I/Os under way at either end are in one of the two alone.
    let differ = (count - seen as f64).abs() > count * 0.01 + 1_000.0;
    differ.then(|| {
        format!(
            "of `{}` the counters show {} and the tracepoints {}: what is said of single I/Os is of those",
            device.name,
            counted_ios(count.round() as u64),
            group_digits(seen)
        )
    })
}

/// Flushes that the counters have among the writes, where they are enough to change rates and the mean size.
fn flushes(device: &Device, traced: &Traced) -> Option<String> {
    let count: f64 = device.samples.iter().filter_map(Sample::ios).sum();
    (traced.flushes as f64 > count * 0.01).then(|| {
        format!(
            "of `{}` {} of {} {}: the kernel counts them as writes, of no bytes, so that they are in the \
             rates and shares and make the mean size smaller, and in no latency of single I/Os",
            device.name,
            group_digits(traced.flushes),
            counted_ios(count.round() as u64),
            if traced.flushes == 1 { "is a flush" } else { "are flushes" }
        )
    })
}

impl Watcher<'_> {
    pub(super) fn end_tracing(&mut self) {
        let at = self
            .begun
            .1
            .saturating_add_unsigned(self.last.0.saturating_sub(self.begun.0).get());
        self.close_stretch(at);
        let Some(tracer) = self.tracer.take() else {
            return;
        };
        let (totals, cost) = (tracer.totals(), tracer.cost_of_event);
        self.traced = tracer.parts(self.last.0);
        self.by_kernel = tracer.by_kernel();
        let watched = self
            .last
            .0
            .saturating_sub(self.begun.0)
            .as_secs_f64()
            .max(1e-9);
        let sampled = tracer
            .is_sampling()
            .then(|| percent(totals.traced.as_secs_f64() / watched));
        let spent = totals.events as f64 * cost.as_secs_f64() / watched;
        self.notes.push(format!(
            "the tracepoints used an estimated {} of a processor: {}, and recording one takes {cost} here as \
             measured at the start",
            percent(spent),
            counted(totals.events, ("event", "events")),
        ));
        if let Some(share) = sampled {
            self.notes.push(format!(
                "tracing was sampled: in {share} of the time, since all of it used more than {} of a \
                 processor; rates and throughput are of all I/Os, shares and latencies of those",
                percent(self.options.use_most)
            ));
        }
        if totals.lost > 0 {
            let lost = counted(totals.lost, ("event was", "events were"));
            self.doubts.add(format!(
                "{lost} lost by the kernel's buffers; I/Os around that are left out"
            ));
        }
        if totals.cut > 0 {
            self.doubts.add(format!(
                "{} had not ended a second after their part of the time: what they took is not known",
                counted_ios(totals.cut)
            ));
        }
        for (device, traced) in self.seen.devices.iter_mut().zip(tracer.finish()) {
            if sampled.is_none() && self.options.processes.is_empty() {
                self.doubts.extend(disagreement(device, &traced));
                self.notes.extend(flushes(device, &traced));
            }
            device.traced = Some(traced);
            device.sampled = sampled;
        }
    }

    pub(super) fn finish(mut self, interrupted: bool) -> Seen {
        let watched = self.last.0.saturating_sub(self.begun.0);
        let tracing = self.tracer.is_some();
        self.end_tracing();
        let used = own_use().saturating_sub(self.own_begun).as_secs_f64()
            / watched.as_secs_f64().max(1e-9);
        self.notes.insert(
            0,
            format!(
                "observing used {} of a processor, {} in its busiest interval",
                percent(used),
                percent(self.used_most)
            ),
        );
        self.tell_processes(tracing);
        if let Some(why) = &self.no_trace {
            self.notes.push(format!("I/Os were not traced: {why}"));
            self.seen.unknown.extend(UNTRACED);
        }
        self.seen.unknown.push(Unknown {
            figure: "transactions a second",
            reason: "no counter of storage sees a transaction; only its application can count them",
        });
        let names: Vec<_> = self
            .chosen
            .devices
            .iter()
            .map(|it| format!("`{}`", it.name))
            .collect();
        let ways = if tracing {
            "counters and block tracepoints"
        } else {
            "counters"
        };
        let count = self.seen.machine.samples.len() as u64;
        self.seen.source = format!(
            "{} watched live for {watched} by the kernel's {ways}, {}",
            names.join(", "),
            counted(count, ("interval", "intervals"))
        );
        self.seen.doubts = self.doubts.told();
        Seen {
            observation: self.seen,
            notes: self.notes,
            interrupted,
            traced: self.traced,
        }
    }

    fn tell_processes(&mut self, tracing: bool) {
        self.notes.extend(self.moved.told());
        if !self.options.processes.is_empty() && !tracing {
            self.doubts.add(
                "without tracing the figures are those of the whole devices, whoever used them"
                    .to_owned(),
            );
        } else if !self.options.processes.is_empty() {
            self.notes.push(format!(
                "what the kernel's own workers issue later (buffered writes, I/Os that waited in its queue) is not among the \
                 figures: they issued {}, for whichever processes",
                counted_ios(self.by_kernel)
            ));
        }
    }
}
