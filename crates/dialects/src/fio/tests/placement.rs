//! Readings of options that say where I/Os lie, and what is written there.

use fathom_units::Bytes;
use fathom_workload::{Dedupe, DedupeFrom, Placement};

use super::*;

/// The rules of a job's placement; `None` where it needs none.
#[track_caller]
fn placed(options: &str) -> Option<Box<Placement>> {
    job(options).features.placement
}

#[test]
fn plain_jobs_have_no_placement() {
    for options in [
        "rw=read",
        "rw=randwrite",
        "rw=randrw",
        "rw=randread\nnorandommap",
        "rw=randread\nsize=30k",
        "rw=randread\nnrfiles=4",
        "rw=write\nloops=3",
        "rw=randread\nrandom_distribution=random",
    ] {
        assert_eq!(placed(options), None, "{options}");
    }
}

#[test]
fn wrong_placements_and_contents_are_refused() {
    check_error(
        "[j]\nrw=randwrite\nfill_device=1\n",
        &["job `j`: `fill_device` of a file without `size` takes writes in order alone"],
    );
    for option in [
        "random_distribution=zipf:",
        "random_distribution=zipf:1.2:",
        "random_distribution=normal:",
        "nrfiles=4\nfile_service_type=pareto:",
    ] {
        let name = option
            .rsplit('\n')
            .next()
            .unwrap()
            .split('=')
            .next()
            .unwrap();
        let expected = format!("`` is no number for `{name}`");
        check_error(
            &format!("[j]\nrw=randread\nsize=1m\n{option}\n"),
            &[&expected],
        );
    }
    check_error(
        "[j]\nioengine=null\nfilesize=128k\noffset=25%\n",
        &["job `j`: a percentage of `j.0.0`, whose size is not known"],
    );
    for (options, expected) in [
        ("filesize=1m", "`dedupe_mode=working_set` requires a size"),
        (
            "size=1m\nnrfiles=2",
            "`dedupe_mode=working_set` takes a single file, not 2",
        ),
        (
            "size=1m\ndedupe_percentage=96",
            "96 % cannot be duplicates where 5 % of the size are the set that they come from",
        ),
    ] {
        let text = format!("[j]\ndedupe_percentage=50\ndedupe_mode=working_set\n{options}\n");
        check_error(&text, &[&format!("job `j`: {expected}")]);
    }
    check_error(
        "[j]\nsize=1m\ncpumask=0\n",
        &["`cpumask=0` leaves no processor for the job to run on"],
    );
    check_error(
        "[j]\nsize=1m\nzonesize=4k\n",
        &["job `j`: `zonemode=none` and `zonesize` are not compatible"],
    );
    check_error(
        "[j]\nsize=1m\nzonemode=strided\n",
        &["job `j`: `zonesize` must be specified with `zonemode=strided`"],
    );
    check_error(
        "[j]\nsize=1m\nzonemode=strided\nzonesize=4k\nzoneskip=-4k\n",
        &["job `j`: `zoneskip` leads backwards, into the zone before, which is not carried"],
    );
    check_error(
        "[j]\nsize=64k\nrw=randread\nrandom_distribution=sequence:2,16\n",
        &["job `j`: there is no block 16 in 64 KiB"],
    );
    check_error(
        "[j]\nsize=1m\nbuffer_pattern='absent'\n",
        &["job `j`: buffer_pattern: `absent`: entity not found"],
    );
    check_error(
        "[j]\nsize=1m\npercentage_sequential=50\n",
        &["option `percentage_sequential` was withdrawn from fio"],
    );
}

/// What is wrong with a pattern's file decides what is to be done about it.
#[test]
fn what_to_do_about_a_file_of_a_pattern_is_told() {
    let mut files = Memory::default();
    files.texts.insert("empty".to_owned(), String::new());
    for (name, hint) in [
        ("empty", "name a file that holds something"),
        ("absent", "name a file that exists and can be read"),
    ] {
        let option = format!("--buffer_pattern='{name}'");
        let words = ["--name=j", "--size=1m", "--rw=write", option.as_str()];
        let errors = read_in(&files, &words).expect_err("there is no pattern");
        let hints: Vec<_> = errors.0.iter().map(|it| it.hint.as_deref()).collect();
        assert_eq!(hints, [Some(hint)], "{name}");
    }
}

#[test]
fn maps_that_would_be_too_large_are_told() {
    let message = "job `j`: blocks of differing sizes are drawn independently: a map of 2147483648 \
                   blocks of 512 bytes would be larger than 64 MiB";
    check_warning("rw=randread\nbsrange=512-4k\nsize=1t", &[message]);
    check_warning("rw=randread\nbsrange=512-4k\nsize=1t\nnorandommap", &[]);
    check_warning("rw=randread\nsize=1t", &[]);
}

/// As with `bs`, an empty part leaves its direction as it was.
#[test]
fn ranges_of_sizes_are_of_directions() {
    let (less, more) = (Some((1024, 4096)), Some((2048, 8192)));
    for (text, expected) in [
        ("1k-4k,8k-2k", [less, more, more]),
        ("1k-4k,", [less, None, None]),
        (",1k-4k", [None, less, less]),
        ("1k-4k,,2k-8k", [less, None, more]),
        ("1k-4k\nbsrange=,2k-8k,", [less, more, less]),
    ] {
        let ranges = placed(&format!("rw=randrw\nbsrange={text}"))
            .unwrap_or_else(|| panic!("{text}"))
            .ranges;
        let bounds = ranges.map(|range| range.map(|it| (it.least.get(), it.most.get())));
        assert_eq!(bounds, expected, "{text}");
    }
}

#[test]
fn placements_reach_the_job() {
    let rules = |options: &str| *placed(options).unwrap_or_else(|| panic!("{options}"));
    assert_eq!(rules("rw=read:8k").skip, 8192);
    assert_eq!(rules("rw=read:-8k").skip, -8192);
    assert!(rules("rw=trimwrite\nioengine=null").trim_then_write);
    let zipf = rules("rw=randread\nrandom_distribution=zipf:1.2:0.5");
    assert_eq!(zipf.distribution[0].to_string(), "zipf:1.2:0.5");
    let usual = rules("rw=randread\nrandom_distribution=zipf");
    assert_eq!(usual.distribution[0].to_string(), "zipf:1.1");
    let zoned = rules("rw=randrw\nrandom_distribution=zoned:60/10:40/90,50/50:50/50");
    assert_eq!(zoned.distribution[0].to_string(), "zoned:60/10:40/90");
    assert_eq!(zoned.distribution[2].to_string(), "zoned:50/50:50/50");
    let blanks = rules("rw=randread\nrandom_distribution=zoned:60/10:30/:10/");
    assert_eq!(
        blanks.distribution[0].to_string(),
        "zoned:60/10:30/45:10/45"
    );
    let bytes = rules("rw=randread\nrandom_distribution=zoned_abs:60/4k:40/1m");
    assert_eq!(
        bytes.distribution[0].to_string(),
        "zoned_abs:60/4096B:40/1048576B"
    );
    let sequence =
        rules("rw=randread\nrandom_distribution=sequence:2,0,1\nrandom_sequence_stride=1");
    assert_eq!(
        sequence.distribution[0].to_string(),
        "sequence:2,0,1:stride"
    );
    let identical = rules("rw=randread:4\nrw_sequencer=identical");
    assert_eq!(identical.between, Between::Identical);
    let zones = rules("rw=read\nzonemode=strided\nzonesize=64k\nzoneskip=1m").zones;
    let zones = zones.map(|zones| (zones.size.get(), zones.range.get(), zones.skip.get()));
    assert_eq!(zones, Some((65_536, 65_536, 1 << 20)));
    for (size, range) in [
        ("zonesize=-1", "zonerange=64k"),
        ("zonesize=64k", "zonerange=50%"),
    ] {
        let zones = rules(&format!("rw=read\nzonemode=strided\n{size}\n{range}")).zones;
        let zones = zones.map(|zones| (zones.size.get(), zones.range.get()));
        let (endless, part) = (1 << 62, 65_536);
        let expected = if size.ends_with("-1") {
            (endless, part)
        } else {
            (part, endless)
        };
        assert_eq!(zones, Some(expected), "{size} {range}");
    }
    let files = rules("rw=read\nnrfiles=4\nfile_service_type=zipf:1.3");
    assert_eq!(files.target_distribution.to_string(), "zipf:1.3");
    assert_eq!(
        rules("rw=read\nnrfiles=4\nfile_service_type=random:8").ios_per_target,
        8
    );
    let open =
        |count: u32| rules(&format!("rw=read:4k\nnrfiles=4\nopenfiles={count}")).targets_at_once;
    assert_eq!(
        [0, 1, 3, 4, 9].map(open),
        [None, Some(1), Some(3), None, None]
    );
    // Bounds of ranges stand in the list that buffers are made by.
    let job = job("rw=read\nbsrange=1k-4k");
    assert_eq!(job.block.largest(job.mix), Bytes::kib(4));
}

#[test]
fn contents_reach_the_job() {
    let filling = |options: &str| job(&format!("rw=write\n{options}")).features.filling;
    assert_eq!(filling(""), None);
    assert_eq!(filling("dedupe_mode=working_set"), None);
    let pattern = filling("buffer_pattern=\"abcd\"-120xdeadface")
        .unwrap()
        .pattern;
    assert_eq!(pattern.unwrap().bytes().len(), 12);
    let compressed = filling("buffer_compress_percentage=30").unwrap();
    assert_eq!(
        (compressed.compress, compressed.chunk),
        (30, Some(Bytes::new(512)))
    );
    let whole = filling("buffer_compress_percentage=30\nbuffer_compress_chunk=0").unwrap();
    assert_eq!(whole.chunk, None);
    let set = filling("dedupe_percentage=40\ndedupe_mode=working_set\ndedupe_global=1").unwrap();
    let from = DedupeFrom::WorkingSet {
        percent: 5,
        global: true,
    };
    assert_eq!(set.dedupe, Some(Dedupe { percent: 40, from }));
}

#[test]
fn flash_is_conditioned_in_one_pass() {
    let rules = |options: &str| {
        let job = job(&format!("rw=randwrite\nsprandom=1\n{options}"));
        let limits = (job.limits.bytes, job.limits.loops, job.limits.time_based);
        assert_eq!(limits, (None, 1, false), "{options}");
        job.features.placement.unwrap().conditioning.unwrap()
    };
    let plain = rules("loops=3\nio_size=8m\ntime_based\nruntime=1");
    assert_eq!(
        (plain.over_provisioning.basis_points(), plain.regions),
        (1500, 100)
    );
    let given = rules("spr_op=0.2875\nspr_num_regions=7\nspr_cs=64k\nnorandommap=1");
    assert_eq!(given.over_provisioning.basis_points(), 2875);
    assert_eq!((given.regions, given.cache), (7, Bytes::kib(64)));
    check(
        "rw=write\nsprandom=0",
        |job| job.features.placement.clone(),
        None,
    );
}

#[test]
fn what_does_not_go_with_conditioning_is_refused() {
    let by_itself = "says by itself where writes fall, and";
    for (options, expected) in [
        ("rw=randrw", "writes at random, and nothing else".to_owned()),
        ("rw=write", "writes at random, and nothing else".to_owned()),
        ("rw=randwrite:4", "has no runs".to_owned()),
        (
            "rw=randwrite\nrandom_generator=tausworthe",
            "requires random_generator=lfsr".to_owned(),
        ),
        (
            "rw=randwrite\nnorandommap=0",
            "requires norandommap=1".to_owned(),
        ),
        (
            "rw=randwrite\nrandom_distribution=zipf:1.2",
            format!("{by_itself} `random_distribution` does too"),
        ),
        (
            "rw=randwrite\npercentage_random=50",
            format!("{by_itself} `percentage_random` does too"),
        ),
        (
            "rw=randwrite\nbssplit=4k/50:8k/50",
            "writes blocks of one size".to_owned(),
        ),
        (
            "rw=randwrite\nbs=12k",
            "needs blocks whose size is a power of two, not 12288 bytes".to_owned(),
        ),
        (
            "rw=randwrite\nba=1k",
            "writes each block at a multiple of its size".to_owned(),
        ),
        (
            "rw=randwrite\nnrfiles=2",
            "supports only one file".to_owned(),
        ),
    ] {
        let text = format!("[j]\nsize=1m\n{options}\nsprandom=1\n");
        check_error(&text, &[&format!("job `j`: `sprandom` {expected}")]);
    }
    for (option, expected) in [
        (
            "spr_op=1.5",
            "`spr_op=1.5` is out of range: 0 to 1, a share of what can be addressed",
        ),
        (
            "spr_num_regions=0",
            "`spr_num_regions=0` is out of range: 1 to 1,048,576",
        ),
    ] {
        let text = format!("[j]\nsize=1m\nrw=randwrite\nsprandom=1\n{option}\n");
        check_error(&text, &[&format!("job `j`: {expected}")]);
    }
}
