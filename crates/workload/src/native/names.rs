//! Names for what has none: the native file wants one of each stage and job, and other tools do not.

use crate::Workload;

/// The workload as [`super::read`] takes it, with a name for each stage and job; with the names that jobs were given.
pub fn named(workload: &Workload) -> (Workload, Vec<String>) {
    let is_none = |name: &str| name.trim().is_empty();
    let mut named = workload.clone();
    for place in 0..named.stages.len() {
        if is_none(&named.stages[place].name) {
            let is_free = |name: &String| named.stages.iter().all(|stage| stage.name != *name);
            let numbers = place + 1..;
            let mut names = numbers.map(|number| format!("stage {number}"));
            named.stages[place].name = names.find(is_free).unwrap_or_default();
        }
    }
    let mut given = Vec::new();
    let jobs = named.stages.iter_mut().flat_map(|stage| &mut stage.jobs);
    for (number, job) in (1..).zip(jobs) {
        if is_none(&job.name) {
            job.name = format!("job {number}");
            given.push(job.name.clone());
        }
    }
    (named, given)
}

/// The workload as a native file that [`super::read`] takes, whoever wrote it.
pub fn write_named(workload: &Workload) -> String {
    super::write(&named(workload).0)
}

#[cfg(test)]
mod tests {
    use super::named;
    use crate::native::{read, write};
    use crate::preset;

    #[test]
    fn what_has_no_name_gets_one() {
        let mut workload = preset("quick", "/unused").unwrap();
        let mut second = workload.stages[0].clone();
        workload.stages.truncate(1);
        workload.stages[0].name = "stage 2".to_owned();
        second.name = " ".to_owned();
        let mut other = second.jobs[0].clone();
        other.name = String::new();
        second.jobs = vec![second.jobs[0].clone(), other];
        second.jobs[0].name = "kept".to_owned();
        workload.stages.push(second);
        let number = workload.stages[0].jobs.len() + 2;
        let (named, given) = named(&workload);
        assert_eq!(given, [format!("job {number}")]);
        assert_eq!(named.stages[1].name, "stage 3");
        assert_eq!(named.stages[1].jobs[0].name, "kept");
        let (again, _) = read(&write(&named), "t").unwrap();
        assert_eq!(again, named);
    }
}
