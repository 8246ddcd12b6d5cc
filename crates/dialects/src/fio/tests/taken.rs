//! What fio takes though it looks wrong, and what it refuses though it looks right.

use super::*;

#[test]
fn sums_with_keywords_are_sums_or_refused() {
    let sum = ["`3*4k` cannot be worked out"];
    check_error("[j]\nsize=1m\nbs=$ncpus*4k\n", &sum);
    check_error(
        "[j]\nsize=1m\nbs=2 +$pagesize+k\n",
        &["`2 +4096+k` cannot be worked out"],
    );
    assert_eq!(paths("[j]\nsize=1m\nfilename=a-$ncpus\n"), ["a-3"]);
}

#[test]
fn numbers_below_zero_lose_their_sign() {
    let weight = |job: &Job| job.features.flow.map(|flow| flow.weight);
    check("flow=-1", weight, Some(u32::MAX));
    check("flow=-8", weight, Some(u32::MAX - 7));
    check_warning(
        "flow=-1",
        &["`flow=-1` is read as 4,294,967,295, as fio does"],
    );
    check_warning(
        "randseed=-2",
        &["`randseed=-2` is read as 18,446,744,073,709,551,614, as fio does"],
    );
    check_warning(
        "loops=4294967298",
        &["`loops=4294967298` is read as 2, as fio does"],
    );
    check_warning(
        "rate_iops=99999999999",
        &["`rate_iops=99999999999` is read as 1,215,752,191, as fio does"],
    );
    let bounds = ["`iodepth=-1` is out of range: 1 to 1,048,576"];
    check_error("[j]\nsize=1m\niodepth=-1\n", &bounds);
}

#[test]
fn switches_below_zero_are_on() {
    let caching = |job: &Job| job.caching;
    check("direct=-1", caching, Caching::Direct);
}

#[test]
fn a_busy_part_of_no_pause_is_none() {
    check(
        "thinktime_spin=200",
        |job| job.features.think.is_some(),
        false,
    );
}

/// Of several parts it is enough that one is within bounds.
#[test]
fn parts_beyond_fios_bounds_are_left_out() {
    let bytes = |job: &Job| format!("{:?}", job.block);
    check("rw=write\nbs=0,8k", bytes, bytes(&job("rw=write\nbs=,8k")));
    check_warning(
        "percentage_random=50,200",
        &["`200` is out of range for `percentage_random` and left out, as in fio"],
    );
    check_warning(
        "bs=0,8k",
        &["`0` is out of range for `bs` and left out, as in fio"],
    );
    check_error(
        "[j]\nsize=1m\nbs=0,0\n",
        &["`bs=0,0` is out of range: 1 to 4,294,967,295"],
    );
}

/// Whether an option has an effect here or not.
#[test]
fn values_beyond_fios_bounds_are_refused() {
    for (option, most) in [
        ("max_open_zones=4097", "0 to 4,096"),
        ("job_max_open_zones=5000", "0 to 4,096"),
        ("zone_reset_threshold=2", "0 to 1"),
        ("zone_reset_frequency=-0.1", "0 to 1"),
        ("log_entries=5", "1024 to 1,048,576"),
        ("cgroup_weight=5", "100 to 1,000"),
        ("num_range=257", "0 to 256"),
    ] {
        let words = [
            "--parse-only",
            "--name=j",
            "--size=1m",
            &format!("--{option}"),
        ];
        let refused = read_in(&Memory::default(), &words).unwrap_err();
        let expected = format!("`{option}` is out of range: {most}");
        assert_eq!(refused.0[0].message, expected);
    }
    check_error(
        "[j]\nsize=1m\nzone_reset_threshold=:0.5\n",
        &["`` is no number for `zone_reset_threshold`"],
    );
    for option in [
        "max_open_zones=4096",
        "zone_reset_threshold=0.5:2",
        "zone_reset_frequency=.1",
        "zone_reset_threshold=nan",
        "max_open_zones=1,5000",
        "job_max_open_zones=-1",
        "zonesize=10%",
        "zonerange=-1",
        "zoneskip=-4k",
        "cgroup_weight=100",
        "zonemode=zbd",
        "offset=1z",
        "ioengine=sg",
        "ioengine=mtd",
        "ioengine=io_uring_cmd",
    ] {
        let words = [
            "--parse-only",
            "--name=j",
            "--size=1m",
            &format!("--{option}"),
        ];
        let read = read_in(&Memory::default(), &words);
        assert!(read.is_ok(), "{option}: {read:?}");
    }
}

#[test]
fn sizes_in_zones_are_refused_as_such() {
    for option in ["zoneskip=1z", "size=2z", "offset=1z,2"] {
        let text = format!("[j]\nsize=1m\nzonemode=strided\nzonesize=4k\n{option}\n");
        check_error(&text, &[&format!("`{option}` counts zones")]);
    }
}

#[test]
fn metadata_is_parsed_and_not_run() {
    let words = [
        "--name=j",
        "--size=1m",
        "--ioengine=io_uring",
        "--md_per_io_size=8",
    ];
    let parsed = [&["--parse-only"], &words[..]].concat();
    assert!(read_in(&Memory::default(), &parsed).is_ok());
    let refused = read_in(&Memory::default(), &words).unwrap_err();
    let expected = "`md_per_io_size=8` is known to fio, but refused in a run: only devices";
    let message = &refused.0[0].message;
    assert!(message.starts_with(expected), "{message}");
    let none = [&words[..3], &["--md_per_io_size=0"]].concat();
    assert!(read_in(&Memory::default(), &none).is_ok());
}

#[test]
fn a_clock_is_one_of_fios() {
    check("clocksource=cpu", |job| job.depth, 1);
    check_error(
        "[j]\nsize=1m\nclocksource=tsc\n",
        &["`tsc` is no value of `clocksource`"],
    );
}

#[test]
fn a_log_without_a_name_keeps_the_one_before() {
    let names = |text: &str| {
        let input = read_text(text).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
        let files = input.jobs[0].logs.files.iter();
        files.map(|file| file.path.clone()).collect::<Vec<_>>()
    };
    for (option, kind) in [("bw", "bw"), ("iops", "iops"), ("hist", "clat_hist")] {
        let text = |own: &str| {
            format!("[global]\nwrite_{option}_log=all\n[j]\nsize=1m\nwrite_{option}_log{own}\n")
        };
        assert_eq!(names(&text("")), [format!("all_{kind}.1.log")]);
        assert_eq!(names(&text("=")), [format!("j_{kind}.1.log")]);
        assert_eq!(names(&text("=own")), [format!("own_{kind}.1.log")]);
    }
    assert_eq!(names("[j]\nsize=1m\nwrite_bw_log\n"), ["j_bw.1.log"]);
}

#[test]
fn the_name_of_a_log_may_be_empty_in_a_job_file_alone() {
    let arguments = ["--name=j", "--size=1m", "--write_bw_log="];
    let errors = read_in(&Memory::default(), &arguments).unwrap_err();
    let message = "option `--write_bw_log` has an empty value";
    assert_eq!(errors.0[0].message, message);
    assert!(read_text("[j]\nsize=1m\nwrite_bw_log=\n").is_ok());
}

#[test]
fn a_list_of_percentiles_ends_at_zero() {
    let list = |text: &str| {
        let text = format!("[j]\nsize=1m\npercentile_list={text}\n");
        let input = read_text(&text).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
        input.jobs[0].percentiles.list.clone()
    };
    assert_eq!(list("0"), [] as [f64; 0]);
    assert_eq!(list("0:50"), [] as [f64; 0]);
    assert_eq!(list("50:0:99"), [50.0]);
    check_warning(
        "percentile_list=0:50",
        &["`percentile_list` ends before `0`, as in fio"],
    );
}

#[test]
fn of_a_percentile_the_number_that_it_begins_with_is_read() {
    let read = |text: &str| {
        let text = format!("[j]\nsize=1m\npercentile_list={text}\n");
        let input = read_text(&text).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
        let shown = &input.jobs[0].percentiles;
        (shown.list.clone(), shown.precision)
    };
    assert_eq!(read("50,99"), (vec![50.0], 0));
    assert_eq!(read("50%:99.9%"), (vec![50.0, 99.9], 1));
    check_warning(
        "percentile_list=50, 99",
        &["`50, 99` is read as 50, as fio does"],
    );
    let errors = ["`x` is no number above 0 and up to 100 for `percentile_list`"];
    check_error("[j]\nsize=1m\npercentile_list=x:50\n", &errors);
}

#[test]
fn of_a_distribution_the_numbers_that_it_begins_with_are_read() {
    let read = |job: &Job| {
        job.features
            .placement
            .as_ref()
            .map(|it| it.distribution[0].clone())
    };
    for (typed, plain) in [
        ("zipf:1.2k", "zipf:1.2"),
        ("pareto:0.2x:0.3%", "pareto:0.2:0.3"),
        ("normal:10k", "normal:10"),
        ("zipf:1.2:0.3:5", "zipf:1.2:0.3"),
    ] {
        let with = |value: &str| format!("rw=randread\nrandom_distribution={value}");
        check(&with(typed), read, read(&job(&with(plain))));
    }
    check_warning(
        "rw=randread\nrandom_distribution=zipf:1.2k",
        &["`1.2k` is read as 1.2, as fio does"],
    );
}

#[test]
fn a_steady_state_without_a_window_is_not_judged() {
    check("ss=iops:1%", |job| job.features.steady.is_some(), false);
    check_error(
        "[j]\nsize=1m\nss=iops:10%\nss_dur=5\nss_interval=2\n",
        &["job `j`: `ss_dur` is no whole number of check intervals"],
    );
    let short = ["job `j`: `ss_dur` must be at least two check intervals"];
    check_error("[j]\nsize=1m\nss_dur=1\n", &short);
    check_error("[j]\nsize=1m\nss=iops:1%\nss_dur=1\n", &short);
}

#[test]
fn a_section_is_chosen_before_the_jobs_of_the_command_line() {
    let names = |arguments: &[&str]| {
        let input = read_in(&Memory::default(), arguments);
        input.map(|input| input.jobs.iter().map(|job| job.name.clone()).collect())
    };
    let behind: Result<Vec<String>, _> = names(&["--name=x", "--size=1m", "--section=y"]);
    assert_eq!(behind.ok(), Some(vec!["x".to_owned()]));
    let before: Result<Vec<String>, _> = names(&["--section=y", "--name=x", "--size=1m"]);
    assert!(before.is_err());
}

/// fio has a letter for each option of its own, of which several may stand behind a dash.
#[test]
fn letters_stand_for_options() {
    let output = |arguments: &[&str]| {
        let words: Vec<&str> = (arguments.iter().copied())
            .chain(["--name=x", "--size=1m"])
            .collect();
        read_in(&Memory::default(), &words).map(|input| (input.output, input.action))
    };
    for (letters, words) in [
        (&["-o", "file"][..], &["--output=file"][..]),
        (
            &["-ofile", "-F", "json"],
            &["--output=file", "--output-format=json"],
        ),
        (
            &["-mw", "-V4"],
            &["--minimal", "--warnings-fatal", "--terse-version=4"],
        ),
        (&["-Po", "file"], &["--parse-only", "--output=file"]),
        (
            &["-b", "-L", "5"],
            &["--bandwidth-log", "--status-interval=5"],
        ),
        (&["-bs=512"], &["--bs=512"]),
        (&["-c"], &["--cmdhelp"]),
        (&["-crw"], &["--cmdhelp=rw"]),
    ] {
        assert_eq!(
            output(letters).unwrap(),
            output(words).unwrap(),
            "{letters:?}"
        );
    }
    for (arguments, expected) in [
        (&["-rz"][..], "unrecognized option `--z`"),
        (&["-o"], "option `--output` requires a value"),
        (&["--readonly=1"], "option `--readonly` takes no value"),
        (&["--parse-only=0"], "option `--parse-only` takes no value"),
    ] {
        let words: Vec<&str> = ["--name=x", "--size=1m"]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        let errors = read_in(&Memory::default(), &words).unwrap_err();
        assert_eq!(errors.0[0].message, expected, "{arguments:?}");
    }
}

#[test]
fn fio_goes_on_without_a_debug_area_that_is_none() {
    let words = ["--debug=io,foo", "--name=x", "--size=1m"];
    let input = read_in(&Memory::default(), &words).unwrap();
    assert!(input.output.debug.io);
    assert_eq!(input.warnings.0[0].message, "`--debug` knows no `foo`");
}

/// fio sends the command to its servers when a trigger is pulled, and does nothing with it where there are none.
#[test]
fn a_trigger_of_servers_is_none_of_this_machine() {
    let words = ["--trigger-remote=reboot", "--name=x", "--size=1m"];
    let input = read_in(&Memory::default(), &words).unwrap();
    assert!(!input.output.trigger.is_set() && input.output.trigger.command.is_none());
    let warned = &input.warnings.0[0].message;
    assert!(
        warned.starts_with("`--trigger-remote` is run by servers alone"),
        "{warned}"
    );
    let withdrawn = ["--latency-log=x", "--name=x", "--size=1m"];
    let errors = read_in(&Memory::default(), &withdrawn).unwrap_err();
    assert_eq!(errors.0[0].message, "`--latency-log` is withdrawn from fio");
}
