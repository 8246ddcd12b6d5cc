//! Files that were written before a run which then measured nothing.
//!
//! What a run lays out under a name stays, so that the next run finds it. Who stopped a run before its first figure may not
//! know that anything was written at all, and is told where it is.

use fathom_record::StageResult;
use fathom_units::Bytes;

use crate::preflight::{Plan, layout_range};
use crate::store::Store;
use crate::targets::Kind;

/// Most files that are named; of more, the number is told.
const NAMED_MOST: usize = 4;

/// What is to be said where `results` hold no I/O though files were laid out; `None` where there is nothing to say.
pub(crate) fn note(plan: &Plan, store: &Store, results: &[StageResult]) -> Option<String> {
    let mut workers = results.iter().flat_map(|result| &result.workers);
    if workers.any(|worker| worker.operations() > 0) {
        return None;
    }
    let objects = plan.targets.objects.iter().enumerate();
    let left = objects.filter_map(|(index, object)| {
        let range = layout_range(object)?;
        let Kind::File { full, .. } = &object.kind else {
            return None;
        };
        // Temporary files go with the run, and jobs may have theirs removed.
        let stays = store.fresh(index).is_none() && full.exists();
        stays.then(|| (object.path.as_str(), range.end - range.start))
    });
    told(&left.collect::<Vec<_>>())
}

/// As [`note`], of files and how many bytes of each were written.
fn told(left: &[(&str, u64)]) -> Option<String> {
    let written = Bytes::new(left.iter().map(|(_, size)| size).sum());
    let names = left.iter().take(NAMED_MOST);
    let mut names: Vec<String> = names.map(|(path, _)| format!("`{path}`")).collect();
    let more = left.len() - names.len();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    let last = names.pop()?;
    let stay = if names.is_empty() {
        format!("{last} stays")
    } else {
        format!("{} and {last} stay", names.join(", "))
    };
    Some(format!(
        "nothing was measured, but {stay}: {written} were written there before the run, which the next one need not write again; \
         remove what none will use"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(left: &[(&str, u64)], expected: Option<&str>) {
        let begins = told(left).map(|text| text.split(" before").next().unwrap().to_owned());
        assert_eq!(begins.as_deref(), expected);
    }

    #[test]
    fn files_that_stay_are_named() {
        check(&[], None);
        let one = "nothing was measured, but `a` stays: 1 MiB were written there";
        check(&[("a", 1 << 20)], Some(one));
        let few = "nothing was measured, but `a`, `b` and `c` stay: 7 KiB were written there";
        check(&[("a", 1024), ("b", 2048), ("c", 4096)], Some(few));
        let many = "nothing was measured, but `a`, `b`, `c`, `d` and 2 more stay: 6 KiB were written there";
        let names = ["a", "b", "c", "d", "e", "f"];
        check(&names.map(|name| (name, 1024)), Some(many));
    }
}
