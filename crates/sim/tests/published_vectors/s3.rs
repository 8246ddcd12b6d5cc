//! Performance of shares over SMB (S3-*), predicted from the files of `examples/smb-files`.

use fathom_catalog::{Catalog, Era};
use fathom_model::{ClientId, IoKind, Layout, MetadataOp, Request, Storage};
use fathom_units::{Bytes, Nanos};
use fathom_workload::{FileOperation, Workload};

use super::support::*;

/// The cases.
pub const VECTORS: &[Vector] = &[
    ("S3-01", || {
        let row = Catalog::builtin()
            .vm(Era::CURRENT, "Standard_D32s_v3")
            .expect("a row");
        let bits = f64::from(row.network_mbps.expect("a network")) * 1e6;
        within("GiB/s", bits / 8.0 / GIB, 1.86, EXACT);
    }),
    ("S3-02", || {
        // Two shares, since one has not the channels for it.
        let both = |way| of_two_shares(way).total_bytes() / GIB;
        within("GiB/s written", both("write"), 1.863, EXACT);
        assert!(both("read") > 2.0 * 1.863);
    }),
    ("S3-03", || {
        for stage in ["read 4KiB", "read 64KiB", "read 1MiB"] {
            let read = ten_files(4, stage);
            let block = read.all().bytes as f64 / read.all().ios as f64;
            within(
                "throughput",
                read.total_bytes(),
                read.total_iops() * block,
                1e-9,
            );
        }
    }),
    // Until throughput is at its limit.
    ("S3-04", || {
        for way in ["read", "write"] {
            let of = |block| ten_files(4, &format!("{way} {block}"));
            let (small, middle, large) = (of("4KiB"), of("64KiB"), of("1MiB"));
            assert!(middle.total_bytes() > 2.0 * small.total_bytes(), "{way}");
            assert!(large.total_bytes() > 0.99 * middle.total_bytes(), "{way}");
            for (less, more) in [(&small, &middle), (&middle, &large)] {
                assert!(more.mean_ms() > less.mean_ms(), "{way}");
                assert!(more.total_iops() < less.total_iops(), "{way}");
            }
        }
    }),
    ("S3-05", || {
        let share = |model, channels| {
            share(&format!(
                "model = \"{model}\"\nsize = \"1TiB\"\nchannels = {channels}"
            ))
        };
        read_design(&share("ssd-v1", 4));
        assert!(complaints(&share("ssd-v1", 5)).contains('4'));
        assert!(complaints(&share("hdd-v2", 2)).contains("SSD"));
    }),
    ("S3-06", || {
        for stage in [
            "read 4KiB",
            "read 64KiB",
            "read 1MiB",
            "write 4KiB",
            "write 64KiB",
            "write 1MiB",
        ] {
            gain(stage, 2.0, 4.0);
        }
    }),
    // A file's own limits bind before one channel's where it reads; where it writes, channels gain.
    ("S3-07", || {
        let write = |channels| single_file(channels, "many threads write 64KiB");
        let (one, four) = (write(1), write(4));
        assert!(four.total_bytes() > 1.3 * one.total_bytes());
        four.iops(8_000.0, EXACT);
        let read = single_file(4, "many threads read 64KiB");
        read.iops(8_000.0, EXACT);
    }),
    ("S3-08", || {
        let of = |channels| single_file(channels, "many threads write 4KiB").total_iops();
        within(
            "IOPS of small I/O in one file",
            of(4) / of(1),
            0.9,
            MEASURED,
        );
    }),
    ("S3-09", || {
        for way in ["read", "write"] {
            let of =
                |channels| single_file(channels, &format!("one thread {way} 4KiB")).total_iops();
            within("IOPS of one thread", of(4) / of(1), 0.9, MEASURED);
        }
    }),
    // Small reads gain more: 20,000 IOPS of one channel, and 80,000 of ten files.
    ("S3-10", || {
        gain("read 64KiB", 2.0, 3.0);
        gain("read 1MiB", 2.0, 3.0);
    }),
    ("S3-11", || {
        for stage in ["write 4KiB", "write 64KiB", "write 1MiB"] {
            gain(stage, 3.0, 4.0);
        }
    }),
    ("S3-12", || {
        let read = ten_files(4, "read 1MiB").total_bytes() / GIB;
        assert!(read > 2.7, "{read} GiB/s");
    }),
    ("S3-13", || {
        let write = ten_files(4, "write 1MiB").total_bytes() / GIB;
        assert!(write <= 1.863, "{write} GiB/s");
        within(
            "GiB/s of two shares",
            of_two_shares("write").total_bytes() / GIB,
            1.863,
            EXACT,
        );
    }),
    ("S3-14", || {
        for channels in [1, 4] {
            let design = read_design(&example_text(&channels_file(channels)));
            assert_eq!(design.vms[0].size.name, "Standard_D32s_v3");
            assert_eq!(design.smb[0].channels, channels);
        }
        let workload = example_workload(SINGLE_FILE);
        let mut many = 0;
        for stage in &workload.stages {
            let job = &stage.jobs[0];
            assert_eq!(job.targets[0].length, Some(Bytes::gib(128)));
            if stage.name.starts_with("many") {
                assert_eq!(job.depth, 10);
                many += 1;
            }
        }
        assert_eq!(many, 4);
    }),
    ("S3-15", || {
        let workload = example_workload(DISKSPD);
        let stage = &workload.stages[1];
        assert_eq!(stage.jobs.len(), 10);
        assert_eq!(stage.cooldown, Nanos::from_secs(5));
        let mut outstanding = 0;
        for (index, job) in stage.jobs.iter().enumerate() {
            assert_eq!(job.targets[0].place.path(), format!("z:\\write{index}.dat"));
            assert_eq!(job.targets[0].length, Some(Bytes::gib(2)));
            assert_eq!(job.block.write[0].size, Bytes::kib(4));
            assert_eq!(job.limits.warmup, Nanos::from_secs(300));
            assert_eq!(job.limits.runtime, Some(Nanos::from_secs(60)));
            outstanding += job.workers * job.depth;
        }
        // The text beside the command says a depth of 10.
        assert_eq!(outstanding, 640);
    }),
    ("S3-16", || {
        let workload = example_workload(DISKSPD);
        let discarded: Vec<_> = workload.stages.iter().map(|stage| stage.discard).collect();
        assert_eq!(discarded, [true, false]);
        let what = |stage: usize| {
            let jobs = workload.stages[stage].jobs.iter();
            let what = jobs.map(|job| (job.targets.clone(), job.block.clone(), job.mix, job.depth));
            what.collect::<Vec<_>>()
        };
        assert_eq!(what(0), what(1));
    }),
    ("S3-17", || {
        let one = share("model = \"ssd-v1\"\nsize = \"30TiB\"");
        let two = one.replace("on = [\"client\"]", "on = [\"client\", \"second\"]");
        let two = format!("{two}\n[[vm]]\nname = \"second\"\nsize = \"Standard_D32s_v3\"\n");
        let alone = run(&one, &files("client", "read"));
        let together = run(
            &two,
            &[files("client", "read"), files("second", "read")].concat(),
        );
        within(
            "gain of a second client",
            together.total_bytes() / alone.total_bytes(),
            2.0,
            EXACT,
        );
    }),
    ("S3-18", || {
        let mean = |cache| metadata(cache, "create", 1).mean_ms();
        assert!(
            mean("on") <= 0.7 * 1.001 * mean("off"),
            "{} and {}",
            mean("on"),
            mean("off")
        );
    }),
    ("S3-19", || {
        for operation in ["create", "delete"] {
            let rate = |cache| metadata(cache, operation, 64).total_iops();
            assert!(
                rate("on") >= 1.6 * rate("off"),
                "{operation}: {} and {}",
                rate("on"),
                rate("off")
            );
        }
    }),
    ("S3-21", || {
        let workload = example_workload(METADATA);
        let operations: Vec<_> = workload
            .stages
            .iter()
            .map(|stage| stage.jobs[0].features.operation)
            .collect();
        assert!(operations.contains(&Some(FileOperation::Create)));
        assert!(operations.contains(&Some(FileOperation::Delete)));
    }),
    ("S3-23", || {
        assert_eq!(handles_granted("", 2_001), 2_000);
        assert_eq!(handles_granted("handles = 10000", 10_001), 10_000);
    }),
];

const GIB: f64 = 1_073_741_824.0;
const DISKSPD: &str = "smb-files/diskspd.workload.toml";
const TEN_FILES: &str = "smb-files/ten-files.workload.toml";
const SINGLE_FILE: &str = "smb-files/single-file.workload.toml";
const METADATA: &str = "smb-files/metadata.workload.toml";

/// A client and a share on `z:`.
fn share(keys: &str) -> String {
    format!(
        "[[vm]]\nname = \"client\"\nsize = \"Standard_D32s_v3\"\n\n[[smb]]\nname = \"share\"\ndrive = \"z:\"\n\
         rtt = \"300us\"\nlatency = \"none\"\non = [\"client\"]\n{keys}\n"
    )
}

/// Large I/O on ten files of a client, as many on each of its drives.
fn files(host: &str, way: &str) -> Vec<String> {
    of_drive(host, way, 'z')
}

fn of_drive(host: &str, way: &str, drive: char) -> Vec<String> {
    let one = |index: u32| {
        format!(
            "[[stage.job]]\nname = \"{host}-{drive}-{index}\"\nhost = \"{host}\"\nmix = \"{way}\"\nblock = \"1MiB\"\n\
             target = {{ path = '{drive}:\\{host}{index}.dat', size = \"2GiB\" }}\ndepth = 32\n"
        )
    };
    (0..10).map(one).collect()
}

/// A client with two shares of four channels each.
#[track_caller]
fn of_two_shares(way: &str) -> Predicted {
    let keys = "model = \"ssd-v1\"\nsize = \"30TiB\"\nchannels = 4";
    let first = share(keys);
    let at = first.find("[[smb]]").expect("a share");
    let second = first[at..]
        .replace("\"share\"", "\"other\"")
        .replace("\"z:\"", "\"y:\"");
    let jobs = [of_drive("client", way, 'z'), of_drive("client", way, 'y')].concat();
    run(&format!("{first}\n{second}"), &jobs)
}

fn channels_file(channels: u32) -> String {
    let plural = if channels == 1 { "" } else { "s" };
    format!("smb-files/share-{channels}-channel{plural}.design.toml")
}

/// One stage of an example, shortened.
#[track_caller]
fn stage_of(workload: &str, stage: &str, design: &str) -> Predicted {
    let mut workload: Workload = example_workload(workload);
    workload.stages.retain(|other| other.name == stage);
    for job in &mut workload.stages[0].jobs {
        job.limits.warmup = Nanos::from_millis(200);
        job.limits.runtime = Some(Nanos::from_secs(1));
    }
    run_workload(&workload, &example_design(design)).remove(0)
}

#[track_caller]
fn ten_files(channels: u32, stage: &str) -> Predicted {
    stage_of(TEN_FILES, stage, &channels_file(channels))
}

#[track_caller]
fn single_file(channels: u32, stage: &str) -> Predicted {
    stage_of(SINGLE_FILE, stage, &channels_file(channels))
}

/// Operations on names, by so many threads.
#[track_caller]
fn metadata(cache: &str, operation: &str, threads: u32) -> Predicted {
    let mut workload: Workload = example_workload(METADATA);
    workload.stages.retain(|stage| stage.name == operation);
    workload.stages[0].jobs[0].workers = threads;
    let design = format!("smb-files/metadata-cache-{cache}.design.toml");
    run_workload(&workload, &example_design(&design)).remove(0)
}

/// How many of so many opens of one file a share grants.
#[track_caller]
fn handles_granted(keys: &str, opens: u64) -> usize {
    let text = share(&format!("model = \"ssd-v1\"\nsize = \"1TiB\"\n{keys}"));
    let (design, path) = (read_design(&text), "z:\\one.dat");
    let volume = design.locate(None, path).expect("the share");
    let files = [(volume, path.to_owned(), Bytes::mib(1))];
    let layout = Layout::new(&design, files).expect("it fits");
    let file = layout.file_id(volume, path).expect("a file");
    let mut storage = Storage::new(&design, &layout, 1).expect("a model");
    let mut completed = Vec::new();
    for index in 0..opens {
        let request = Request {
            volume,
            client: ClientId::new(0),
            file,
            kind: IoKind::Metadata(MetadataOp::Open),
            fua: false,
            offset: 0,
            length: 0,
            stream: 0,
            index,
            tag: index,
        };
        storage.submit(Nanos::ZERO, request, &mut completed);
    }
    while storage.next_due().is_some() && completed.len() < opens as usize {
        storage.advance(&mut completed);
    }
    completed.iter().filter(|done| done.error.is_none()).count()
}

/// What four channels gain over one, in IOPS and thereby in throughput, and in latency.
#[track_caller]
fn gain(stage: &str, least: f64, most: f64) {
    let (one, four) = (ten_files(1, stage), ten_files(4, stage));
    for gain in [
        four.total_iops() / one.total_iops(),
        one.mean_ms() / four.mean_ms(),
    ] {
        let range = least * (1.0 - MEASURED)..=most * (1.0 + MEASURED);
        assert!(range.contains(&gain), "{stage}: {gain}");
    }
}
