//! Crowded addresses, rates that change, SDs that are joined, and curves on files.

use fathom_units::Nanos;
use fathom_workload::generator::{SharedCursor, StreamKey, TargetRange, WorkerStream};
use fathom_workload::{
    Access, Distribution, FileTask, Job, Pacing, RateFrom, RateRounding, RateShares, RateSteps,
};

use super::super::run::RunRate;
use super::{SD_WD, read, read_with};

#[track_caller]
fn jobs(text: &str) -> Vec<Job> {
    let input = read(text);
    fathom_workload::validate(&input.workload).unwrap();
    input.workload.stages.into_iter().next().unwrap().jobs
}

/// Targets and offsets of the first I/Os of a job.
fn ios(job: &Job, count: usize) -> Vec<(u32, u64)> {
    let key = StreamKey {
        seed: 3,
        job: 0,
        worker: 0,
        salt: 0,
    };
    let ranges = job.targets.iter().map(|target| TargetRange {
        offset: target.offset.get(),
        length: target.length.unwrap().get(),
    });
    let ranges: Vec<TargetRange> = ranges.collect();
    let mut stream = WorkerStream::new(job, key, &ranges, &SharedCursor::new()).unwrap();
    let next = |_| stream.next_io().map(|io| (io.target, io.offset));
    (0..count).map_while(next).collect()
}

/// The share of `ios` that begin below `place`.
fn below(ios: &[(u32, u64)], place: u64) -> f64 {
    ios.iter().filter(|(_, at)| *at < place).count() as f64 / ios.len() as f64
}

const MIB: u64 = 1 << 20;

#[test]
fn a_hot_band_is_a_range_that_is_hit_at_its_start() {
    let wd = |rest: &str| {
        let text = format!(
            "sd=s,lun=/f,size=10g\nwd=w,sd=s,{rest},xfersize=4k\nrd=r,wd=w,iorate=max,elapsed=9\n"
        );
        jobs(&text).remove(0)
    };
    let band = wd("hotband=(10,20)");
    assert_eq!(
        (
            band.targets[0].offset.get(),
            band.targets[0].length.unwrap().get()
        ),
        (1 << 30, 1 << 30)
    );
    let reads = ios(&band, 50_000);
    assert!(reads.iter().all(|(_, at)| (1 << 30..2 << 30).contains(at)));
    // More than half of the reads fall on 64 of 1,024 MB, at its start.
    let hot = below(&reads, (1 << 30) + 64_000_000);
    assert!((0.56..0.64).contains(&hot), "{hot}");
    // Writes are a hundredth of the band further on.
    let writes = ios(&wd("rdpct=0,hotband=(1g,2g)"), 50_000);
    let skipped = below(&writes, (1 << 30) + (10 * MIB));
    assert!(skipped < 0.03, "{skipped}");
    // A sequential workload goes through the band from its start.
    let plain = wd("seekpct=0,hotband=(10,20)");
    assert!(plain.features.placement.is_none());
    assert_eq!(ios(&plain, 2), [(0, 1 << 30), (0, (1 << 30) + 4096)]);
}

#[test]
fn poisson_seeks_crowd_at_the_start() {
    let text =
        |seek: &str| format!("sd=s,lun=/f,size=1g\nwd=w,sd=s,{seek}\nrd=r,wd=w,iorate=max\n");
    let half = |seek: &str| {
        let job = jobs(&text(seek)).remove(0);
        assert!(matches!(job.access, Access::Random { .. }));
        below(&ios(&job, 50_000), (0.2156 * (1u64 << 30) as f64) as u64)
    };
    for (seek, share) in [
        ("seekpct=poisson", 0.5),
        ("seekpct=(poisson,3)", 0.5),
        ("seekpct=(pois,10)", 0.884),
    ] {
        let found = half(seek);
        assert!((found - share).abs() < 0.015, "{seek}: {found}");
    }
    let looped = read(&text("seekpct=100").replace("iorate=max", "iorate=max,seekpct=(poisson,3)"));
    assert_eq!(looped.runs[0].loops_label(), "seekpct=(poisson,3)");
    for wrong in [
        "(poisson,0)",
        "(poisson,x)",
        "(poisson,1,2)",
        "(poisson,inf)",
    ] {
        let refused = read_with(&text(&format!("seekpct={wrong}")), "").unwrap_err();
        assert!(refused.to_string().contains("p:2:"), "{refused}");
    }
}

fn steps(job: &Job) -> Vec<(Option<u64>, u64)> {
    let RateSteps { steps, .. } = job.features.rate_steps.as_deref().unwrap();
    let rate = |rate: Pacing| match rate {
        Pacing::Iops(iops) => iops.get(),
        Pacing::Bytes(bytes) => bytes.get(),
    };
    let steps = steps.iter();
    steps
        .map(|step| (step.rate.map(rate), step.length.get() / 1_000_000_000))
        .collect()
}

#[test]
fn rates_may_change_while_a_run_lasts() {
    let text = |rd: &str| format!("{SD_WD}rd=rd1,wd=wd1,elapsed=60,{rd}\n");
    let spread = read(&text(
        "iorate=(100,10,1000,5,0,3),distribution=(d,variable)",
    ));
    assert_eq!(spread.runs.len(), 1);
    assert_eq!(spread.runs[0].rate, RunRate::Varying(1000));
    assert_eq!(spread.runs[0].rate.label(None), "Variable");
    let job = &spread.workload.stages[0].jobs[0];
    assert_eq!(steps(job), [(Some(100), 10), (Some(1000), 5), (None, 3)]);
    assert!(!job.features.rate_steps.as_deref().unwrap().together);
    let spikes = jobs(&text("iorate=(100,10,1000,5),dist=spike")).remove(0);
    assert!(spikes.features.rate_steps.as_deref().unwrap().together);
    // A third of 100 is no whole number: bytes divide more finely.
    let three = "sd=s,lun=/f*,size=1g,count=(1,3)\nwd=w,sd=s*\nrd=r,wd=w,elapsed=60,iorate=(100,10,0,5),dist=v\n";
    let shares = jobs(three);
    assert_eq!(steps(&shares[0]), [(Some(136_533), 10), (None, 5)]);
    for (rd, message) in [
        ("iorate=max,dist=variable", "without a proper iorate="),
        (
            "iorate=(100,10,50),dist=variable",
            "without a proper iorate=",
        ),
        (
            "iorate=(100,61),dist=variable",
            "must be shorter than elapsed time (60)",
        ),
        (
            "iorate=(100,3601),elapsed=4000,dist=variable",
            "no more than 3600 seconds",
        ),
        ("iorate=(0,10),dist=spike", "no rate is above 0"),
        ("iorate=(0,10)", "a rate of 0"),
        ("iorate=100,dist=x", "`distribution=x` is not done here"),
    ] {
        let refused = read_with(&text(rd), "").unwrap_err().to_string();
        assert!(
            refused.contains(message) && refused.contains("p:3:"),
            "{refused}"
        );
    }
}

#[test]
fn joined_sds_are_one() {
    let text = |wd: &str, rd: &str| {
        format!(
            "concatenatesds=yes\nsd=a,lun=/a,size=3m\nsd=b,lun=/b,size=1m\nwd=w,sd=*,{wd}\nrd=r,wd=w,iorate=max,elapsed=9{rd}\n"
        )
    };
    let only = |wd: &str| {
        let mut jobs = jobs(&text(wd, ""));
        assert_eq!(jobs.len(), 1);
        jobs.remove(0)
    };
    let random = only("threads=12");
    assert_eq!(
        (random.name.as_str(), random.depth, random.targets.len()),
        ("a+1", 12, 2)
    );
    let walked = ios(&random, 40_000);
    let first = walked.iter().filter(|(target, _)| *target == 0).count();
    assert!(first.abs_diff(30_000) < 400, "{first}");
    // From three quarters of the whole on: the second SD alone.
    let part = only("threads=1,range=(75,100),seekpct=0");
    assert_eq!(
        (part.targets.len(), part.targets[0].place.path()),
        (1, "/b")
    );
    let wrapped = only("threads=1,range=(75,125)");
    let parts = wrapped.targets.iter();
    let parts: Vec<(&str, u64)> = parts
        .map(|target| (target.place.path(), target.length.unwrap().get()))
        .collect();
    assert_eq!(parts, [("/b", MIB), ("/a", MIB)]);
    let pass = only("threads=2,seekpct=eof,rdpct=0,xfersize=64k");
    let written = ios(&pass, 100);
    assert_eq!((written.len(), written[48]), (64, (1, 0)));
    let band = only("threads=2,hotband=(50,100),rdpct=100");
    let Distribution::ZonedAbsolute(zones) =
        &band.features.placement.as_deref().unwrap().distribution[0]
    else {
        panic!("no zones");
    };
    assert_eq!(
        zones.iter().map(|zone| zone.size.get()).sum::<u64>(),
        2 * MIB
    );
    let streams = jobs(&text("threads=4,streams=4,seekpct=0", ""));
    let starts: Vec<(&str, u64)> = streams
        .iter()
        .map(|job| {
            (
                job.targets[0].place.path(),
                job.targets[0].offset.get() / MIB,
            )
        })
        .collect();
    assert_eq!(starts, [("/a", 0), ("/a", 1), ("/a", 2), ("/b", 0)]);
    // The RD's threads are those of all workloads together.
    let shared = "concatenatesds=yes\nsd=a,lun=/a,size=3m\nsd=b,lun=/b,size=1m\nwd=v,sd=*\nwd=w,sd=*\nrd=r,wd=*,iorate=max,elapsed=9,threads=5\n";
    let depths: Vec<u32> = jobs(shared).iter().map(|job| job.depth).collect();
    assert_eq!(depths, [3, 2]);
    let refused = read_with(&text("rdpct=50", ""), "")
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("each WD must request a threads="),
        "{refused}"
    );
    assert!(refused.contains("p:4:"), "{refused}");
    let strided = read_with(&text("threads=1,seekpct=100,stride=(1m,1m)", ""), "").unwrap_err();
    assert!(strided.to_string().contains("joined"), "{strided}");
}

#[test]
fn a_curve_on_files_follows_the_requests_of_its_first_run() {
    let text = "fsd=f,anchor=/a,depth=1,width=1,files=9,size=64k\n\
                fwd=default,fsd=f,xfersize=4k,fileselect=random,fileio=random,threads=2\n\
                fwd=x,operation=read,skew=70\nfwd=y,operation=getattr,skew=30\n\
                rd=r,fwd=*,fwdrate=curve,curve=(50,100),elapsed=9,stopcurve=4\n";
    let input = read(text);
    fathom_workload::validate(&input.workload).unwrap();
    let names: Vec<&str> = input.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["r", "r_(50%)", "r_(100%)"]);
    assert_eq!(input.runs[0].rate, RunRate::ControlledCurve);
    assert!(input.runs.iter().all(|run| run.stopcurve == Some(4.0)));
    let from = |percent| RateFrom {
        stage: 0,
        percent,
        rounding: RateRounding::UpToHundreds,
        shares: RateShares::AsGiven,
    };
    let stages = &input.workload.stages;
    assert_eq!(stages[1].rate_from, Some(from(50.0)));
    assert_eq!(stages[2].rate_from, Some(from(100.0)));
    let point = stages[1].at_rate(1000, &stages[1].rate_weights());
    let rates = point.jobs.iter().map(|job| {
        let work = job.features.file_work.as_deref().unwrap();
        (work.task, work.rate.unwrap().rate.get())
    });
    let expected = [(FileTask::Read, 700), (FileTask::GetAttributes, 300)];
    assert_eq!(rates.collect::<Vec<_>>(), expected);
    assert_eq!(stages[1].jobs[0].limits.runtime, Some(Nanos::from_secs(9)));
}
