//! What parameters become in the workload model.

use fathom_units::Bytes;
use fathom_workload::generator::{SharedCursor, StreamKey, TargetRange, WorkerStream};
use fathom_workload::{Access, Arrival, Caching, Job, OpenSync, Pacing, Poisson};

use jiff::tz::TimeZone;

use super::super::RunRate;
use super::super::output::layout;
use super::{SD_WD, read};

/// The jobs of the first run.
#[track_caller]
fn jobs(text: &str) -> Vec<Job> {
    read(text).workload.stages.remove(0).jobs
}

/// The only job of a WD with these parameters on an SD of 1 GiB.
#[track_caller]
fn job(wd: &str) -> Job {
    let text = format!(
        "sd=sd1,lun=/f,size=1g,openflags=o_direct\nwd=wd1,sd=sd1{wd}\nrd=rd1,wd=wd1,iorate=max\n"
    );
    jobs(&text).remove(0)
}

/// The first I/Os of a job, as offsets.
fn offsets(job: &Job, count: usize) -> Vec<u64> {
    let key = StreamKey {
        seed: 1,
        job: 0,
        worker: 0,
        salt: 0,
    };
    let ranges: Vec<TargetRange> = job
        .targets
        .iter()
        .map(|target| TargetRange {
            offset: target.offset.get(),
            length: target.length.unwrap().get(),
        })
        .collect();
    let mut stream = WorkerStream::new(job, key, &ranges, &SharedCursor::new()).unwrap();
    (0..count)
        .map_while(|_| stream.next_io())
        .map(|io| io.offset)
        .collect()
}

/// `flatfile.html` names the threads of an RD alone, as 5.04.07 does.
#[test]
fn threads_of_a_run_on_files_are_those_of_its_rd() {
    let input = read(
        "fsd=f,anchor=/t,depth=1,width=1,files=3\nfwd=w,fsd=f,operation=read,threads=2\n\
         rd=r,fwd=w,fwdrate=max,format=no,elapsed=2\nrd=s,fwd=w,fwdrate=max,format=no,elapsed=2,threads=(1,4)\n",
    );
    let threads: Vec<_> = input.runs.iter().map(|run| run.facts.threads).collect();
    assert_eq!(threads, [None, Some(1), Some(4)]);
}

#[test]
fn an_sd_has_one_position_however_many_threads_it_has() {
    let text = "sd=s,lun=/f,size=10500,openflags=o_direct\nwd=w,sd=s,seekpct=0,rdpct=0,xfersize=1k\nrd=r,wd=w,iorate=max,threads=26\n";
    let job = jobs(text).remove(0);
    assert_eq!((job.workers, job.depth), (1, 26));
    // One stream over the whole blocks, from 0, and from the start again at the end.
    let expected: Vec<u64> = (0..10).chain(0..3).map(|block| block * 1024).collect();
    assert_eq!(offsets(&job, 13), expected);
}

#[test]
fn eof_is_one_pass() {
    let text = "sd=s,lun=/f,size=16m\nwd=w,sd=s,rdpct=0,seekpct=eof,xfersize=64k\nrd=r,wd=w,iorate=max,elapsed=259200,forthreads=1\n";
    let input = read(text);
    assert!(input.runs[0].until_eof);
    let job = &input.workload.stages[0].jobs[0];
    assert_eq!(offsets(job, 1000).len(), 256);
    assert_eq!((job.limits.time_based, job.limits.warmup.get()), (false, 0));
}

#[test]
fn seeks_sizes_and_shares_are_taken() {
    assert!(matches!(job("").access, Access::Random { run: 1, .. }));
    assert!(matches!(
        job(",seekpct=seq").access,
        Access::Sequential { .. }
    ));
    assert!(
        matches!(job(",seekpct=30").access, Access::Mixed { random } if random.basis_points() == 3000)
    );
    assert_eq!(job(",rdpct=65").mix.read.basis_points(), 6500);
    assert_eq!(job(",wrpct=65").mix.read.basis_points(), 3500);
    let sizes = |job: &Job| -> Vec<(u64, u32)> {
        job.block
            .read
            .iter()
            .map(|entry| (entry.size.get(), entry.weight))
            .collect()
    };
    assert_eq!(
        sizes(&job(",xfersize=(8k,50,64k,50)")),
        [(8192, 5000), (65536, 5000)]
    );
    assert_eq!(
        sizes(&job(",xfersize=(4k,12k,4k)")),
        [(4096, 1), (8192, 1), (12288, 1)]
    );
    let nonzero = job(",seekpct=seqnz");
    let walked = offsets(&nonzero, 1 << 18);
    assert!(
        walked[0] > 0 && walked.contains(&0),
        "it starts elsewhere and wraps"
    );
    // From the end of an I/O, as 5.04.07 was seen to.
    assert_eq!(
        offsets(&job(",xfersize=4k,seekpct=100,stride=(64k,64k)"), 4),
        [0, 68 << 10, 136 << 10, 204 << 10]
    );
    let streams = jobs(
        "sd=s,lun=/f,size=1g\nwd=w,sd=s,seekpct=0,streams=4\nrd=r,wd=w,iorate=max,threads=6\n",
    );
    let parts: Vec<(u64, u32)> = streams
        .iter()
        .map(|job| (job.targets[0].offset.get() >> 28, job.depth))
        .collect();
    assert_eq!(parts, [(0, 2), (1, 2), (2, 1), (3, 1)]);
}

#[test]
fn parts_of_storage_are_kept_to() {
    let target = |sd: &str, wd: &str| {
        let text = format!("sd=s,lun=/f,size=1m{sd}\nwd=w,sd=s{wd}\nrd=r,wd=w,iorate=max\n");
        let job = jobs(&text).remove(0);
        let targets = job
            .targets
            .iter()
            .map(|target| (target.offset.get(), target.length.map_or(0, Bytes::get)));
        targets.collect::<Vec<_>>()
    };
    assert_eq!(target("", ",xfersize=3k"), [(0, 341 * 3072)]);
    // An offset leaves the end where it was; streams go by the size alone.
    assert_eq!(target(",offset=512k", ""), [(512 << 10, 512 << 10)]);
    assert_eq!(
        target(",offset=64k", ",xfersize=48k"),
        [(64 << 10, 19 * (48 << 10))]
    );
    assert_eq!(
        target(",offset=512k", ",seekpct=0,streams=2"),
        [(0, 512 << 10)]
    );
    assert_eq!(target("", ",range=(50,75)"), [(512 << 10, 256 << 10)]);
    assert_eq!(target(",range=(64k,128k)", ""), [(64 << 10, 64 << 10)]);
    assert_eq!(
        target("", ",range=(75,125),seekpct=0"),
        [(768 << 10, 256 << 10), (0, 256 << 10)]
    );
    // All of an SD whose size is not known is no part of it.
    let text = "sd=s,lun=/f\nwd=w,sd=s,range=(0,100)\nrd=r,wd=w,iorate=max\n";
    assert_eq!(jobs(text)[0].targets[0].length, None);
    // Block 0 of a device is left alone.
    let text = "sd=s,lun=/dev/sdx,size=1m,openflags=o_direct\nwd=w,sd=s,xfersize=64k\nrd=r,wd=w,iorate=max\n";
    assert_eq!(jobs(text)[0].targets[0].offset.get(), 64 << 10);
    assert_eq!(jobs(text)[0].caching, Caching::Direct);
}

#[test]
fn threads_of_an_sd_are_shared_by_all_who_use_it() {
    let depths = |text: &str| -> Vec<u32> { jobs(text).iter().map(|job| job.depth).collect() };
    let two = "hd=a\nhd=b\nsd=s,lun=/f,size=1g,threads=9\nwd=w1,sd=s\nwd=w2,sd=s,rdpct=0\nrd=r,wd=w*,iorate=max\n";
    // Hosts get 5 and 4, their workloads 3 + 2 and 2 + 2.
    assert_eq!(depths(two), [3, 2, 2, 2]);
    let in_order =
        "hd=a\nhd=b\nsd=s,lun=/f,size=1g,threads=9\nwd=w1,sd=s,seekpct=0\nrd=r,wd=w*,iorate=max\n";
    assert_eq!(depths(in_order), [9]);
    assert_eq!(depths(&format!("{SD_WD}rd=r,wd=wd1,iorate=max")), [8]);
}

/// I/Os a second of each job, from its own kind of rate.
fn rates(jobs: &[Job]) -> Vec<f64> {
    let rate = |job: &Job| match job.arrival {
        Arrival::Open {
            rate: Pacing::Iops(rate),
            ..
        } => rate.get() as f64,
        Arrival::Open {
            rate: Pacing::Bytes(rate),
            ..
        } => rate.get() as f64 / job.block.largest(job.mix).get() as f64,
        Arrival::Closed => 0.0,
    };
    jobs.iter().map(rate).collect()
}

#[test]
fn rates_are_split_over_workloads_then_storage() {
    let sds = "sd=a,lun=/a,size=1g\nsd=b,lun=/b,size=1g\nsd=c,lun=/c,size=1g\n";
    let all = jobs(&format!(
        "{sds}wd=w1,sd=*,skew=70\nwd=w2,sd=a\nrd=r,wd=w*,iorate=3000\n"
    ));
    assert_eq!(rates(&all), [700.0, 700.0, 700.0, 900.0]);
    // Less than one I/O a second for each, and still what was asked for.
    let few = rates(&jobs(&format!("{sds}wd=w1,sd=*\nrd=r,wd=w*,iorate=1\n")));
    assert!((few.iter().sum::<f64>() - 1.0).abs() < 0.001, "{few:?}");
    let own = jobs(&format!(
        "{sds}wd=w1,sd=a,iorate=100,priority=1\nwd=w2,sd=b,priority=2\nrd=r,wd=w*,iorate=500\n"
    ));
    // The rate of the run is that of all.
    assert_eq!(rates(&own), [100.0, 400.0]);
    let gaps = |word: &str| match jobs(&format!("{SD_WD}rd=r,wd=wd1,iorate=100{word}"))[0].arrival {
        Arrival::Open { poisson, .. } => poisson,
        Arrival::Closed => panic!("closed"),
    };
    assert_eq!(gaps(""), Poisson::Exponential);
    assert_eq!(gaps(",distribution=u"), Poisson::Uniform);
    assert_eq!(gaps(",distribution=d"), Poisson::Fixed);
    // Full speed with shares is kept to them.
    let shared = jobs(&format!(
        "{sds}wd=w1,sd=a,skew=75\nwd=w2,sd=b,skew=25\nrd=r,wd=w*,iorate=max\n"
    ));
    let weights: Vec<u32> = shared
        .iter()
        .map(|job| job.features.flow.map_or(0, |flow| flow.weight))
        .collect();
    assert_eq!(weights, [750_000, 250_000]);
}

#[test]
fn the_first_interval_is_left_out_without_a_warm_up() {
    let times = |words: &str| {
        let job = jobs(&format!("{SD_WD}rd=r,wd=wd1,iorate=max,{words}")).remove(0);
        (
            job.limits.warmup.as_secs_f64(),
            job.limits.runtime.unwrap().as_secs_f64(),
        )
    };
    assert_eq!(times("elapsed=60,interval=5"), (5.0, 55.0));
    assert_eq!(times("elapsed=600,warmup=60"), (60.0, 600.0));
    // What may be over within the first interval would not be measured at all.
    assert_eq!(times("elapsed=60,maxdata=1m"), (0.0, 60.0));
    assert_eq!(times("elapsed=60,maxdataread=1m,warmup=5"), (5.0, 60.0));
}

#[test]
fn shares_asked_for_count_rates_of_workloads() {
    let check = |wds: [&str; 3], rate: &str, expected: &[f64]| {
        let wds = wds.iter().enumerate();
        let wds = wds.map(|(number, more)| format!("wd=w{number},sd=s{more}\n"));
        let wds: String = wds.collect();
        let text = format!("sd=s,lun=/f,size=1g\n{wds}rd=r,wd=w*,iorate={rate}");
        let input = read(&text);
        let (directory, program) = (String::new(), (String::new(), 1));
        let of = (&input, &input.workload);
        let layout = layout(of, directory, TimeZone::UTC, program);
        let skews = layout.runs[0].skews.iter().map(|(_, percent)| *percent);
        assert_eq!(skews.collect::<Vec<f64>>(), expected, "{text}");
    };
    let own = ",iorate=500,priority=1";
    let by = [",priority=2", ",priority=3"];
    check([own, by[0], by[1]], "2000", &[25.0, 37.5, 37.5]);
    check([own, by[0], by[1]], "max", &[0.0, 50.0, 50.0]);
    let all = ["1", "2", "3"].map(|number| format!(",iorate={number}00,priority={number}"));
    let all = [all[0].as_str(), &all[1], &all[2]];
    check(all, "9000", &[100.0 / 6.0, 200.0 / 6.0, 50.0]);
    check([",skew=20", "", ""], "1500", &[20.0, 40.0, 40.0]);
}

/// Among priorities nobody waits for anybody.
#[test]
fn priorities_keep_no_shares() {
    let flows = |words: [&str; 2]| -> Vec<bool> {
        let [first, second] = words;
        let text = format!(
            "sd=s,lun=/f,size=1g\nwd=w1,sd=s,{first}\nwd=w2,sd=s,{second}\nrd=r,wd=w*,iorate=max"
        );
        let input = read(&text);
        assert_eq!(input.runs[0].rate, RunRate::Controlled, "{text}");
        let jobs = &input.workload.stages[0].jobs;
        jobs.iter().map(|job| job.features.flow.is_some()).collect()
    };
    assert_eq!(flows(["skew=70", "rdpct=100"]), [true, true]);
    assert_eq!(flows(["priority=1", "priority=2"]), [false, false]);
    assert_eq!(flows(["iorate=5,priority=1", "priority=2"]), [false, false]);
}

#[test]
fn all_jobs_of_a_run_are_measured_from_one_moment() {
    let text =
        "sd=s,lun=/f,size=1g\nwd=w1,sd=s,seekpct=eof\nwd=w2,sd=s\nrd=r,wd=w*,iorate=max,elapsed=9";
    let warmups = |more: &str| -> Vec<u64> {
        let jobs = jobs(&format!("{text}{more}"));
        let warmups = jobs
            .iter()
            .map(|job| job.limits.warmup.get() / 1_000_000_000);
        warmups.collect()
    };
    assert_eq!(warmups(""), [0, 0]);
    assert_eq!(warmups(",warmup=3"), [3, 3]);
}

#[test]
fn maxdata_ends_a_run() {
    let bytes = |words: &str| {
        jobs(&format!("{SD_WD}rd=r,wd=wd1,iorate=max,{words}"))[0]
            .limits
            .bytes
    };
    assert_eq!(bytes("maxdata=5g"), Some(Bytes::gib(5)));
    assert_eq!(bytes("maxdata=2"), Some(Bytes::gib(2)));
    assert_eq!(bytes("maxdatawritten=1g"), None);
    // What a warm-up moves does not count, so it must not end a job.
    let text = format!("{SD_WD}rd=r,wd=wd1,iorate=max,warmup=5,maxdata=5g");
    let input = read(&text);
    let limits = &input.workload.stages[0].jobs[0].limits;
    assert_eq!((limits.bytes, limits.time_based), (None, true));
    let warned = &input.warnings.0[0];
    assert!(
        warned.message.contains("`maxdata=` behind a warm-up"),
        "{warned}"
    );
}

#[test]
fn maxdata_is_shared_out_as_the_jobs_move_it() {
    let check = |wds: &[&str], words: &str, expected: &[u64]| {
        let wds = wds.iter().enumerate();
        let wds = wds.map(|(number, words)| format!("wd=w{number},sd=s{number},{words}\n"));
        let wds: String = wds.collect();
        let sds = "sd=s0,lun=/f,size=1g\nsd=s1,lun=/g,size=1g\n";
        let jobs = jobs(&format!("{sds}{wds}rd=r,wd=w*,{words}"));
        let bytes = jobs.iter().map(|job| job.limits.bytes.unwrap().get());
        assert_eq!(bytes.collect::<Vec<_>>(), expected, "{words}");
    };
    let mib = |count: u64| count << 20;
    check(
        &["skew=75", "skew=25"],
        "iorate=max,maxdata=8m",
        &[mib(6), mib(2)],
    );
    check(
        &["xfersize=4k", "xfersize=12k"],
        "iorate=100,maxdata=8m",
        &[mib(2), mib(6)],
    );
    // Of what is read alone; the other workload goes on for as long.
    check(
        &["rdpct=0", "rdpct=100"],
        "iorate=100,maxdataread=8m",
        &[mib(8), mib(8)],
    );
    check(
        &["rdpct=0", "rdpct=100"],
        "iorate=100,maxdata=8m,maxdatawritten=2m",
        &[mib(2), mib(2)],
    );
    let own = ["iorate=300,priority=1", "priority=2"];
    check(&own, "iorate=400,maxdata=8m", &[mib(6), mib(2)]);
}

#[test]
fn written_data_and_flags_are_what_was_asked_for() {
    let text = "compratio=4\ndedupratio=2\nsd=s,lun=/f,size=1g,openflags=(o_direct,o_sync,fsync)\nwd=w,sd=s,rdpct=0\nrd=r,wd=w,iorate=max\n";
    let job = jobs(text).remove(0);
    assert_eq!(
        (job.caching, job.sync.open, job.sync.on_close),
        (Caching::Direct, OpenSync::Dsync, true)
    );
    let filling = job.features.filling.unwrap();
    assert_eq!(
        (filling.compress, filling.dedupe.unwrap().percent),
        (75, 50)
    );
    let raw = "sd=s,lun=/f,size=1g,openflags=0x5000\nwd=w,sd=s\nrd=r,wd=w,iorate=max,openflags=o_direct\n";
    assert_eq!(
        jobs(raw)[0].sync.open,
        OpenSync::None,
        "the RD's flags count"
    );
}

#[test]
fn sets_of_storage_are_gone_through() {
    let text = "sd=a,lun=/a,size=1g\nsd=b,lun=/b,size=1g\nsd=c,lun=/c,size=1g\nwd=w,sd=*\nrd=r,wd=w,iorate=max,sd=";
    let used = |set: &str| -> Vec<usize> {
        read(&format!("{text}{set}"))
            .runs
            .iter()
            .map(|run| run.jobs.len())
            .collect()
    };
    assert_eq!(used("single"), [1, 1, 1]);
    assert_eq!(used("range"), [1, 2, 3]);
    assert_eq!(used("setsof2"), [2, 1]);
    // They are sets of all SDs, whichever the workload names, and Vdbench's names of runs tell which.
    let text = "sd=a,lun=/a,size=1g\nsd=b,lun=/b,size=1g\nsd=c,lun=/c,size=1g\nwd=w,sd=b\nwd=v\nrd=r,iorate=max,wd=";
    let called = |rd: &str| -> Vec<String> {
        let input = read(&format!("{text}{rd}"));
        input.runs.iter().map(|run| run.name.clone()).collect()
    };
    assert_eq!(called("w,sd=single"), ["r_a", "r_b", "r_c"]);
    assert_eq!(called("v,sd=setsof2"), ["r_a_b", "r_c"]);
    assert_eq!(called("v,sd=range"), ["r_a-a", "r_a-b", "r_a-c"]);
}
