//! Targets without a path, or without room for a block.

use fathom_units::{Bytes, group_digits};

use crate::{Job, Place, Target};

use super::Found;

pub(super) fn check(target: &Target, job: &Job, found: &mut Found) {
    let path = target.place.path();
    if path.is_empty() || path.contains('\0') {
        let message = "a target's path is empty or holds a zero byte";
        found.add("target", message, "name a file, a device or a directory");
    }
    let Some(length) = target.length else {
        if matches!(target.place, Place::FreshFileIn(_)) {
            let message = format!("the fresh file in `{path}` has no size");
            found.add("target", message, "give a size, such as `1GiB`");
        }
        return;
    };
    let block = job.block.largest(job.mix);
    if length == Bytes::ZERO && target.offset > Bytes::ZERO {
        let message = format!(
            "nothing of `{path}` is left to use: this begins {} into it, at or past the end of what is used",
            target.offset
        );
        found.add("target", message, "begin earlier, or give a larger size");
    } else if length == Bytes::ZERO {
        found.add("target", format!("`{path}` has a size of 0"), "give a size");
    } else if length < block {
        let rounded = length.to_string();
        let shown = if rounded == block.to_string() {
            format!("{} B", group_digits(length.get()))
        } else {
            rounded
        };
        let message = format!("its blocks of {block} do not fit into the {shown} of `{path}`");
        found.add("target", message, "use a smaller block or a larger size");
    }
    let end = target.offset.checked_add(length);
    if end.is_none_or(|end| end.get() > i64::MAX as u64) {
        let message = format!("the used part of `{path}` ends past 2^63 bytes");
        found.add("target", message, "give a smaller offset or size");
    }
}
