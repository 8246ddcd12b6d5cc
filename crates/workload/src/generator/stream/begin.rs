//! The beginning of a stream: which of the ways to find places its job asks for, and where each starts.

use super::ends::ends;
use super::order::order;
use super::{Run, WorkerStream};
use crate::generator::conditioning::ConditioningWalk;
use crate::generator::course::Course;
use crate::generator::lines::LineWalk;
use crate::generator::picker::Picker;
use crate::generator::regions::{Stride, regions};
use crate::generator::restarts::Restarts;
use crate::generator::rng::{Purpose, Xoshiro256};
use crate::generator::sizes::{Directions, Sizes};
use crate::generator::stretch::Stretch;
use crate::generator::walk::Walk;
use crate::generator::{Rejection, SharedCursor, StreamError, StreamKey, TargetRange};
use crate::{Conditioning, Job};

impl WorkerStream {
    /// The stream of the worker named by `key` on `targets`, the resolved ranges of the job's targets in order.
    ///
    /// `shared` is the position that all workers of the job share; it is used for [`crate::SequentialScope::Shared`] alone.
    ///
    /// # Errors
    /// A job or range on which no I/O is possible, named in the error.
    pub fn new(
        job: &Job,
        key: StreamKey,
        targets: &[TargetRange],
        shared: &SharedCursor,
    ) -> Result<Self, StreamError> {
        let directions = Directions::new(job, key)?;
        let sizes = Sizes::new(job, key)?;
        let regions = regions(job, targets)?;
        let alignment = job
            .block
            .alignment
            .unwrap_or_else(|| job.block.smallest(job.mix));
        if alignment.get() == 0 {
            return Err(StreamError::new(job, Rejection::ZeroAlignment));
        }
        let stride = Stride::new(alignment.get());
        let order = order(job, key, &sizes, &regions, shared);
        let ends = ends(job, &sizes, &regions, &order, stride)?;
        let mut stream = Self {
            picker: Picker::new(job.file_choice, regions.len() as u32, key),
            regions,
            directions,
            sizes,
            offsets: Xoshiro256::keyed(key, Purpose::Offset),
            order,
            run: Run::default(),
            stride,
            next_index: 0,
            ends,
            walk: None,
            lines: None,
            course: None,
            conditioning: None,
            stretch: Stretch::empty(),
            restarts: Restarts::default(),
        };
        if !job.features.lines.is_empty() {
            stream.lines = Some(Box::new(LineWalk::new(job, key, targets)?));
            stream.ends.ios_bound = None;
            return Ok(stream);
        }
        match &job.features.placement {
            Some(rules) if let Some(conditioning) = &rules.conditioning => {
                stream.condition(job, conditioning, key, targets)?;
            }
            Some(rules) if Course::is_of(rules) => {
                let course = Course::new(job, rules, key, (targets, shared));
                stream.ends.pass_bytes = course.bytes_per_pass();
                stream.ends.ios_bound = None;
                stream.course = Some(Box::new(course));
            }
            Some(rules) => {
                let walk = Walk::new(job, rules, key, targets)?;
                stream.ends.pass_bytes = walk.bytes_per_round();
                stream.ends.ios_bound = None;
                stream.walk = Some(Box::new(walk));
            }
            None => stream.start_round(),
        }
        Ok(stream)
    }

    /// Has the stream write what conditions the flash behind the first of `targets`.
    fn condition(
        &mut self,
        job: &Job,
        rules: &Conditioning,
        key: StreamKey,
        targets: &[TargetRange],
    ) -> Result<(), StreamError> {
        let no_targets = || StreamError::new(job, Rejection::NoTargets);
        let range = *targets.first().ok_or_else(no_targets)?;
        let walk = ConditioningWalk::new(job, rules, key, range);
        let walk = walk.map_err(|reason| StreamError::new(job, reason))?;
        self.ends.pass_bytes = walk.bytes();
        self.ends.ios_bound = Some(walk.ios());
        self.conditioning = Some(Box::new(walk));
        Ok(())
    }
}
