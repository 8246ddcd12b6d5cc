//! The bytes that a job uses of each of its targets, and whether they can be used as it wants.

use fathom_diagnostics::Diagnostics;
use fathom_units::Bytes;
use fathom_workload::generator::TargetRange;
use fathom_workload::{Caching, Direction, ExistingFiles, FileOperation, Job, Target, Workload};

use super::{Kind, Object, Targets};
use crate::complaints::{Complaint, Complaints};
use crate::exports::{self};

/// Second pass, when the sizes of all objects are known.
pub(super) fn find_ranges(workload: &Workload, targets: &mut Targets, problems: &mut Diagnostics) {
    for (index, (_, job)) in workload.jobs().enumerate() {
        let objects = targets.jobs[index].objects.clone();
        let mut complaints = Complaints::of(job);
        for (target, object) in job.targets.iter().zip(objects) {
            let object = &targets.objects[object];
            match range_of(job, target, object) {
                Ok(range) => targets.jobs[index].ranges.push(range),
                Err(problem) => complaints.add(target, problem),
            }
        }
        complaints.tell(problems);
    }
}

fn range_of(job: &Job, target: &Target, object: &Object) -> Result<TargetRange, Complaint> {
    let complain = |what: String| Complaint::new(what);
    let of_names = job
        .features
        .operation
        .is_some_and(FileOperation::is_of_names);
    if of_names || job.features.file_work.is_some() {
        // One operation a target: its length stands for one block, wherever that is.
        let length = job.block.largest(job.mix).get();
        return Ok(TargetRange { offset: 0, length });
    }
    let size = object.size();
    let offset = target.offset.get();
    if size == 0 {
        let problem = complain("it holds no bytes, and no size is given".to_owned());
        return Err(problem.hint("give a size, or name a target that holds data"));
    }
    if offset >= size {
        let size = Bytes::new(size);
        let problem = complain(format!(
            "the offset ({}) lies past its end ({size})",
            target.offset
        ));
        return Err(problem.hint("use a smaller offset, or a larger target"));
    }
    let rest = size - offset;
    let length = target.length.map_or(rest, Bytes::get);
    // As in fio, which knows how much a server has before it works out how much there is to do.
    let is_cut = matches!(object.kind, Kind::Export(_)) && job.existing == ExistingFiles::AsPeer;
    let length = if is_cut { length.min(rest) } else { length };
    if length == 0 {
        let problem = complain("a length of zero leaves nothing to do".to_owned());
        return Err(problem.hint("give a size above 0, or none for all that is behind the offset"));
    }
    if offset.saturating_add(length) > size {
        let (end, size) = (Bytes::new(offset.saturating_add(length)), Bytes::new(size));
        let problem = complain(format!("it has {size}, but {end} are asked for"));
        return Err(problem.hint("use a smaller size or offset, or a larger target"));
    }
    let largest = job.block.largest(job.mix).get();
    if length < largest {
        let (length, largest) = (Bytes::new(length), Bytes::new(largest));
        let problem = complain(format!(
            "{length} of it are used, less than one block of {largest}"
        ));
        return Err(problem.hint("use a smaller block, or a larger target"));
    }
    match &object.kind {
        Kind::Export(export) => exports::check(job, target, export)?,
        _ => check_alignment(job, target, object)?,
    }
    Ok(TargetRange { offset, length })
}

/// Direct I/O on a block device must be in whole sectors; a trim must be of a device, in whole sectors too.
fn check_alignment(job: &Job, target: &Target, object: &Object) -> Result<(), Complaint> {
    let trims = job.moves(Direction::Trim);
    let Kind::Device { sector, .. } = object.kind else {
        let is_file = !matches!(object.kind, Kind::Nothing { .. })
            && job.features.operation != Some(FileOperation::Allocate);
        return if trims && is_file {
            let problem = Complaint::new("only block devices can be trimmed");
            Err(problem.hint("name a block device, or leave the trims out"))
        } else {
            Ok(())
        };
    };
    if job.caching == Caching::Buffered && !trims {
        return Ok(());
    }
    let smallest = job.block.smallest(job.mix).get();
    let step = job.block.alignment.map_or(smallest, Bytes::get);
    for (what, number) in [
        ("the smallest block", smallest),
        ("the largest block", job.block.largest(job.mix).get()),
        ("the alignment", step),
        ("the offset", target.offset.get()),
    ] {
        if number % sector != 0 {
            let what = format!(
                "{what} ({}) is no multiple of its sector ({})",
                Bytes::new(number),
                Bytes::new(sector)
            );
            return Err(Complaint::new(what));
        }
    }
    Ok(())
}
