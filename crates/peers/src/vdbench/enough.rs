//! Ends runs of `maxdata=` for whoever runs or predicts a parameter file without Vdbench's own output.

use fathom_dialects::vdbench::{MaxData, Run};
use fathom_engine::StopFlag;
use fathom_record::{Event, EventSink, IntervalStats, Phase};
use fathom_session::{Input, Spoken};
use fathom_units::Nanos;
use fathom_workload::{Direction, Stage, SweepPoint};

/// Below this `maxdata=` is a multiple of the size of all SDs.
const MULTIPLE: f64 = 100.0;

/// A consumer of events that ends a run when it has moved enough. What each job is to move ends a run without a warm-up earlier;
/// what a warm-up moves does not count, and no job knows how much that is.
pub struct Enough<'a> {
    runs: &'a [Run],
    /// Index of the stage that each stage was made from: a sweep makes several of one.
    bases: Vec<usize>,
    stop: StopFlag,
    /// Bytes read and written so far in the present run.
    moved: [u64; 2],
    /// Whether that is enough.
    is_over: bool,
}

impl<'a> Enough<'a> {
    /// For the runs of `input`, where it is of Vdbench; `stop` ends them.
    pub fn new(input: &'a Input, stop: StopFlag) -> Self {
        let runs = match &input.spoken {
            Spoken::Vdbench(spoken) => spoken.runs.as_slice(),
            _ => &[],
        };
        Self {
            runs,
            bases: bases(&input.workload.stages, points_of_each(&input.sweep)),
            stop,
            moved: [0; 2],
            is_over: false,
        }
    }

    fn interval(&mut self, stage: usize, phase: Phase, interval: &IntervalStats) {
        let base = self.bases.get(stage);
        let Some(run) = self.runs.iter().find(|run| Some(&run.stage) == base) else {
            return;
        };
        if phase != Phase::Measure && run.warmup > 0 {
            return;
        }
        for (moved, direction) in self
            .moved
            .iter_mut()
            .zip([Direction::Read, Direction::Write])
        {
            let stats = interval.directions[direction as usize].as_ref();
            *moved = moved.saturating_add(stats.map_or(0, |stats| stats.bytes));
        }
        // Vdbench looks where its interval ends.
        let step = Nanos::from_secs(run.interval.max(1)).get();
        let past = interval.at.get() % step;
        let is_end = past.min(step - past) < interval.length.get() / 2;
        if is_end && has_enough(&run.maxdata, run.facts.lun_bytes, self.moved) {
            self.is_over = true;
            self.stop.end_stage();
        }
    }
}

impl EventSink for Enough<'_> {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::StageStarted { .. } => (self.moved, self.is_over) = ([0; 2], false),
            Event::Interval {
                index,
                phase,
                interval,
            } => self.interval(*index, *phase, interval),
            _ => {}
        }
    }

    fn ends_stage(&mut self) -> bool {
        self.is_over
    }
}

/// How many points a sweep makes of each measured stage; 1 without a sweep. Its points are the same for each.
fn points_of_each(sweep: &[SweepPoint]) -> usize {
    let Some((first, rest)) = sweep.split_first() else {
        return 1;
    };
    1 + rest.iter().take_while(|it| it.base == first.base).count()
}

/// For each stage the index of that from which a sweep made it; what is discarded is not swept.
fn bases(stages: &[Stage], points: usize) -> Vec<usize> {
    let (mut base, mut made) = (0, 0);
    let of_each = stages.iter().map(|stage| {
        let own = base;
        made += 1;
        if stage.discard || made == points {
            (base, made) = (base + 1, 0);
        }
        own
    });
    of_each.collect()
}

/// Whether a run has moved what `maxdata=` and its kin allow.
pub fn has_enough(maxdata: &MaxData, size: u64, [read, written]: [u64; 2]) -> bool {
    let limit = |value: f64| {
        if value < MULTIPLE {
            value * size as f64
        } else {
            value
        }
    };
    let reached =
        |value: Option<f64>, moved: u64| value.is_some_and(|value| moved as f64 >= limit(value));
    reached(maxdata.both, read + written)
        || reached(maxdata.read, read)
        || reached(maxdata.written, written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_of_a_sweep_know_what_they_were_made_from() {
        let stage = |name: &str, discard| Stage {
            name: name.to_owned(),
            jobs: Vec::new(),
            cooldown: Nanos::ZERO,
            repeats: 1,
            discard,
            rate_from: None,
        };
        let stages = [
            ("format", true),
            ("a", false),
            ("a", false),
            ("b", false),
            ("b", false),
        ];
        let stages = stages.map(|(name, discard)| stage(name, discard));
        assert_eq!(bases(&stages, 2), [0, 1, 1, 2, 2]);
        assert_eq!(bases(&stages, 1), [0, 1, 2, 3, 4]);
        let point = |base: &str| SweepPoint {
            stage: String::new(),
            base: Some(base.to_owned()),
            depth: None,
            block: None,
            threads: None,
            outstanding: 1,
        };
        let points = ["a", "a", "a", "b", "b", "b"].map(point);
        assert_eq!([points_of_each(&points), points_of_each(&[])], [3, 1]);
    }

    #[test]
    fn maxdata_is_bytes_or_a_multiple_of_all_storage() {
        let check = |both: Option<f64>, read: Option<f64>, moved: [u64; 2], expected: bool| {
            let maxdata = MaxData {
                both,
                read,
                written: None,
            };
            assert_eq!(
                has_enough(&maxdata, 1 << 20, moved),
                expected,
                "{maxdata:?} {moved:?}"
            );
        };
        check(None, None, [u64::MAX / 2; 2], false);
        check(Some(2.0), None, [1 << 20, (1 << 20) - 1], false);
        check(Some(2.0), None, [1 << 20, 1 << 20], true);
        check(Some(4096.0), None, [4095, 0], false);
        check(Some(4096.0), None, [4000, 96], true);
        check(None, Some(1.0), [1 << 20, 0], true);
        check(None, Some(1.0), [0, 1 << 30], false);
    }
}
