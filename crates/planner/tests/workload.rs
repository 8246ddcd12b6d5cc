//! The workload of a plan is the need: what its jobs do together, each on files that there is room for.

use std::collections::BTreeMap;

use fathom_catalog::Catalog;
use fathom_planner::{Family, Offer, Plan, Prove, Request, plan};
use fathom_profile::Profile;
use fathom_workload::{Arrival, Job, Pacing, Workload, native};

/// The plan for one volume, without proofs.
#[track_caller]
fn planned(volume: &str, only: (Family, &str), machines: u32) -> Plan {
    let text = format!("name = \"a\"\n[[volume]]\nname = \"data\"\n{volume}");
    let (profile, _) = Profile::read(&text, "a.profile.toml").expect("a profile");
    let request = Request {
        families: vec![only.0],
        only: vec![only.1.to_owned()],
        machines: Some(machines),
        prove: Prove::Never,
        offers: 1,
        ..Request::default()
    };
    plan(&profile, &request, None, Catalog::builtin()).expect("a plan")
}

#[track_caller]
fn read(text: &str) -> Workload {
    let read = native::read(text, "a.workload.toml");
    read.unwrap_or_else(|errors| panic!("{errors}\n{text}")).0
}

/// I/Os a second that a job asks for.
fn rate(job: &Job) -> u64 {
    match job.arrival {
        Arrival::Open {
            rate: Pacing::Iops(rate),
            ..
        } => rate.get() * u64::from(job.workers),
        _ => panic!("no open loop: {job:?}"),
    }
}

/// Every file that jobs use, of each host's disks or of what all mount, with its length.
fn files<'j>(jobs: impl Iterator<Item = &'j Job>, is_shared: bool) -> BTreeMap<String, u64> {
    let targets = jobs.flat_map(|job| {
        let host = job.host.clone().filter(|_| !is_shared).unwrap_or_default();
        let targets = job.targets.iter();
        targets.map(move |it| {
            let length = it.length.map_or(0, fathom_units::Bytes::get);
            (format!("{host}:{}", it.place.path()), length)
        })
    });
    targets.collect()
}

/// Directories that lie on one volume or share each, or on the disks of one machine, with the bytes in them.
fn used(files: &BTreeMap<String, u64>) -> BTreeMap<&str, u64> {
    let mut used = BTreeMap::new();
    for (path, length) in files {
        let (directory, _) = path.rsplit_once('/').unwrap_or_default();
        *used.entry(directory).or_default() += length;
    }
    used
}

/// What the jobs of every machine do together is the need; their files take half of what is bought, at most.
#[track_caller]
fn check_all(offer: &Offer, jobs: &[Job], (iops, size, reads): (u64, u64, u64)) {
    let storage = &offer.candidate.volumes[0];
    let is_shared = storage.disks().is_none();
    assert_eq!(jobs.iter().map(rate).sum::<u64>(), iops, "{jobs:?}");
    for job in jobs {
        let single = job.block.single_size(job.mix).map(fathom_units::Bytes::get);
        assert_eq!(single, Some(size), "{job:?}");
        let share = u64::from(job.mix.read.basis_points());
        let writes = u64::from(job.mix.write.basis_points());
        assert_eq!((share, writes), (reads, 10_000 - reads), "{job:?}");
        assert!(rate(job) > 0, "{job:?}");
    }
    let all = files(jobs.iter(), is_shared);
    let disks = if is_shared { 1 } else { storage.count() };
    let bought = storage.size().get() * u64::from(disks);
    for (directory, bytes) in used(&all) {
        assert!(
            (1..=bought / 2).contains(&bytes),
            "{directory}: {bytes} of {bought}"
        );
    }
}

/// Volumes of a profile and what of them is bought, with the machines and the files of each that must be used.
#[track_caller]
fn check(figures: (u64, u64, u64), only: (Family, &str), machines: u32, files_of_each: usize) {
    check_space(figures, "", only, machines, [files_of_each; 2]);
}

/// The same with a line of the volume's own, and the files of the proof and of the real thing.
#[track_caller]
fn check_space(
    figures: (u64, u64, u64),
    capacity: &str,
    only: (Family, &str),
    machines: u32,
    expected: [usize; 2],
) {
    let (iops, size, reads) = figures;
    let volume = format!(
        "{capacity}[[volume.period]]\nname = \"peak\"\niops = {iops}\nsize = \"{size}B\"\nreads = \"{}%\"\n",
        reads as f64 / 100.0
    );
    let plan = planned(&volume, only, machines);
    let offer = plan.offers.first().unwrap_or_else(|| panic!("{plan}"));
    assert_eq!(offer.candidate.machines, machines);
    let proof = read(&offer.workload);
    check_all(offer, &proof.stages[0].jobs, figures);
    let real: Vec<Job> = (1..=machines)
        .filter_map(|machine| {
            let text = offer.workload_of(&plan.need, machine);
            // Machines that have nothing to do have an empty stage.
            text.contains("[[stage.job]]").then(|| read(&text))
        })
        .flat_map(|mut workload| workload.stages.remove(0).jobs)
        .collect();
    check_all(offer, &real, figures);
    for job in &real {
        assert_eq!(job.targets.len(), 1, "a job for each file: {job:?}");
    }
    let both = [&proof.stages[0].jobs, &real];
    let found = both.map(|jobs| files(jobs.iter(), true).len());
    assert_eq!(found, expected, "{}", offer.workload);
}

#[test]
fn the_jobs_of_a_plan_do_together_what_is_needed() {
    let (premium, nfs, smb) = (Family::Premium, Family::Nfs, Family::Smb);
    check((16_000, 8192, 7000), (premium, "P30"), 1, 1);
    // A third is no whole number.
    check((16_000, 8192, 7000), (premium, "P30"), 3, 3);
    check((2, 4096, 10_000), (premium, "P10"), 1, 1);
    // One of three machines has nothing to do.
    check((2, 4096, 10_000), (premium, "P10"), 3, 2);
    // 15,000 MiB/s are more than a volume does: all machines use a file of their own on each of two.
    check((60_000, 256 << 10, 10_000), (nfs, "nfs-ultra"), 1, 2);
    check((60_000, 256 << 10, 10_000), (nfs, "nfs-ultra"), 3, 6);
    // A file does 8,000 I/Os a second: six, or as many as machines.
    check((40_001, 8192, 5050), (smb, "ssd-v2"), 1, 6);
    check((40_001, 8192, 5050), (smb, "ssd-v2"), 2, 6);
    check((40_001, 8192, 5050), (smb, "ssd-v2"), 4, 8);
    // 20 TiB are five files of 4 TiB. Two I/Os a second are those of two jobs, and not of five.
    let capacity = "capacity = \"20TiB\"\n";
    check_space((2, 8192, 5000), capacity, (smb, "ssd-v2"), 1, [5, 2]);
    // Several channels, driven by two threads on two files at least.
    check((9_600, 64 << 10, 0), (smb, "ssd-v2"), 1, 2);
}
