//! Jobs that are alike but for their random numbers, and names of jobs, in each dialect.

use fathom_workload::{Workload, native};

use super::{Dialect, body, convert, one_job, told};

/// fio's clones, as its reader makes them: jobs of one name, each with its random numbers.
fn clones(keys: &str) -> Workload {
    let mut workload = one_job(keys);
    let jobs = &mut workload.stages[0].jobs;
    for salt in 1..=3 {
        let mut clone = jobs[0].clone();
        clone.salt = salt;
        jobs.push(clone);
    }
    jobs.remove(0);
    workload
}

#[test]
fn clones_on_one_target_name_it_once() {
    #[track_caller]
    fn check(to: Dialect, keys: &str, paths: usize, says: &str) {
        let converted = convert(&clones(keys), to, "test");
        let text = body(&converted.text);
        assert_eq!(text.matches("/d/f").count(), paths, "{text}");
        assert!(text.contains(says), "no {says} in {text}");
        let note = "note: job `a`: workers: 3 jobs that are alike but for their random numbers become as many workers of one";
        let is_told = told(&converted).iter().any(|line| line == note);
        assert_eq!(is_told, paths == 1, "{}", converted.text);
        // One note tells of their number, and nothing tells of it again.
        let of_number = |line: &&String| line.contains("workers") || line.contains(": depth:");
        let lines = told(&converted);
        let lines = lines.iter().filter(of_number).count();
        assert_eq!(lines, usize::from(paths == 1), "{}", converted.text);
    }
    let random = "access = \"independent\"\ndepth = 8";
    check(Dialect::Diskspd, random, 1, "-t3 -o8");
    check(Dialect::Vdbench, random, 1, "threads=24");
    // Threads of Vdbench go through a file together, and those of DISKSPD each for itself.
    let in_order = "access = \"sequential\"";
    check(Dialect::Diskspd, in_order, 1, "-t3 -o1");
    check(
        Dialect::Vdbench,
        in_order,
        3,
        "wd=wd3,sd=sd3,xfersize=4k,rdpct=100,seekpct=0",
    );
    // What workers would share, clones have for themselves.
    let paced = "arrival = { rate = \"100/s\" }";
    check(
        Dialect::Vdbench,
        &format!("access = \"independent\"\n{paced}"),
        3,
        "iorate=",
    );
}

#[test]
fn vdbench_s_workloads_have_the_names_of_their_jobs() {
    let mut workload = clones("access = \"independent\"");
    for (job, name) in workload.stages[0]
        .jobs
        .iter_mut()
        .zip(["reader", "a b", "x"])
    {
        job.name = name.to_owned();
    }
    let converted = convert(&workload, Dialect::Vdbench, "test");
    for wd in [
        "wd=reader,sd=sd1",
        "wd=wd2,sd=sd2",
        "wd=x,sd=sd3",
        "wd=(reader,wd2,x)",
    ] {
        assert!(converted.text.contains(wd), "{}", converted.text);
    }
    let note = "note: job `reader`: name: `reader` becomes `reader/sd1`: a job is called by its WD and SD, in letters, digits and `_`";
    assert!(
        told(&converted).iter().any(|line| line == note),
        "{}",
        converted.text
    );
}

#[test]
fn a_native_file_keeps_all_names() {
    let workload = clones("");
    let converted = convert(&workload, Dialect::Native, "test");
    assert_eq!(told(&converted), <[String; 0]>::default());
    let (again, _) = native::read(&converted.text, "test").unwrap();
    assert_eq!(again, workload);
    let mut nameless = workload.clone();
    nameless.stages[0].name = String::new();
    nameless.stages[0].jobs[1].name = String::new();
    let converted = convert(&nameless, Dialect::Native, "test");
    let note = "note: job `job 2`: name: it had no name, and takes this one";
    assert_eq!(told(&converted), [note]);
    let (again, _) = native::read(&converted.text, "test").unwrap();
    let names: Vec<&str> = again.jobs().map(|(_, job)| job.name.as_str()).collect();
    assert_eq!(names, ["a", "job 2", "a"]);
    assert_eq!(again.stages[0].name, "stage 1");
}
