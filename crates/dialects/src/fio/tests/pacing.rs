//! Readings of options that hold I/Os back or end a job by its results.

use fathom_units::Bytes;
use fathom_workload::{SteadyJudgement, SteadyLimit, SteadyMetric};

use super::*;

#[test]
fn rates() {
    let open = |rate, poisson| Arrival::Open {
        rate,
        poisson,
        when_full: fathom_workload::WhenFull::Queue,
    };
    let iops = |rate| Pacing::Iops(Iops::new(rate));
    check(
        "rate_iops=100",
        |job| job.arrival,
        open(iops(100), Poisson::Fixed),
    );
    check(
        "rate_iops=100,200\nrw=write",
        |job| job.arrival,
        open(iops(200), Poisson::Fixed),
    );
    let poisson = "rate_iops=5\nrate_process=poisson";
    check(
        poisson,
        |job| job.arrival,
        open(iops(5), Poisson::Exponential),
    );
    let bytes = open(Pacing::Bytes(BytesPerSec::new(1 << 20)), Poisson::Fixed);
    check("rate=1m", |job| job.arrival, bytes);
    let mixed = "rw=randrw\nrate_iops=100,300";
    check(mixed, |job| job.arrival, open(iops(400), Poisson::Fixed));
    // The next direction is drawn as `rwmixread` has it; what comes of it where each keeps its rate is another matter.
    check(mixed, |job| job.mix.read, Percent::whole(50).unwrap());
    let at_rates = |job: &Job| job.mix_at_rates().read;
    check(mixed, at_rates, Percent::whole(25).unwrap());
    let by_bytes = "rw=randrw\nbs=4k,8k\nrate=1m,6m\nrwmixread=90";
    check(by_bytes, at_rates, Percent::whole(25).unwrap());
    let one_alone = "rw=randrw\nrate_iops=100,\nrwmixread=90";
    check(one_alone, at_rates, Percent::whole(90).unwrap());
}

/// fio reads a very large number: `rwmixread=70%` writes nothing.
#[test]
fn numbers_are_no_percentages() {
    let found = read_text("[j]\nsize=1m\nrw=rw\nrwmixread=70%\n").unwrap_err();
    let expected = "`rwmixread=70%` is out of range: 0 to 100";
    assert_eq!(found.0[0].message, expected);
    let hint = found.0[0].hint.as_deref().unwrap_or_default();
    assert!(hint.starts_with("write it without `%`"), "{hint}");
}

/// fio judges no latency that it does not count: no I/O is too slow, and each window of a target is good.
#[test]
fn latency_that_is_not_measured_is_not_judged() {
    for (options, is_judged) in [
        ("", true),
        ("gtod_reduce=1", false),
        ("disable_lat=1", false),
        ("stats=0", false),
        ("disable_clat=1", true),
    ] {
        let text = format!("{options}\nlatency_target=1000\nmax_latency=500");
        let percentile = |job: &Job| {
            job.features
                .latency_target
                .map(|it| it.percentile.to_bits())
        };
        let expected = if is_judged { 100.0f64 } else { 0.0 };
        check(&text, percentile, Some(expected.to_bits()));
        let most = |job: &Job| job.features.errors.latency_max[0].is_some();
        check(&text, most, is_judged);
        let found = read_text(&format!("[j]\nsize=1m\n{text}\n")).unwrap();
        let mut warnings = found.warnings.0.iter().map(|it| it.message.as_str());
        let is_told = warnings.any(|it| it.contains("`latency_target` finds no I/O too slow"));
        assert_eq!(is_told, !is_judged, "{options}");
    }
}

#[test]
fn a_batch_of_none_is_the_whole_depth() {
    let submit = |job: &Job| job.features.batches.map(|it| it.submit);
    let deep = "ioengine=libaio\ndirect=1\niodepth=16\niodepth_batch";
    for (batch, expected) in [(0, 16), (4, 4), (99, 16)] {
        check(&format!("{deep}={batch}"), submit, Some(expected));
    }
}

#[test]
fn pairs_of_trim_and_write_go_at_the_rate_of_writes() {
    let by_direction = |job: &Job| job.features.rates.map(|rates| rates.rates);
    let iops = |rate| Some(Pacing::Iops(Iops::new(rate)));
    for options in ["rate_iops=,100", "rate_iops=7,100,9"] {
        let options = format!("rw=trimwrite\nioengine=null\n{options}");
        check(&options, by_direction, Some([None, iops(100), iops(100)]));
        check(&options, |job| job.mix.trim, Percent::whole(50).unwrap());
        check(
            &options,
            |job| job.arrival,
            Arrival::Open {
                rate: Pacing::Iops(Iops::new(200)),
                poisson: Poisson::Fixed,
                when_full: fathom_workload::WhenFull::Queue,
            },
        );
    }
    let of_trims = "rw=randtrimwrite\nioengine=null\nrate_iops=,0,9";
    check(of_trims, by_direction, None);
    check(of_trims, |job| job.arrival, Arrival::Closed);
}

#[test]
fn bounds_of_fio() {
    for (option, bounds) in [("flow=1001", ": 0 to 1,000"), ("ramp_size=0", ": 1 to ")] {
        let text = format!("[j]\nsize=1m\n{option}\n");
        let errors = read_text(&text).unwrap_err();
        let expected = format!("`{option}` is out of range{bounds}");
        assert!(errors.0[0].message.contains(&expected), "{errors}");
    }
    check(
        "flow=1000",
        |job| job.features.flow.map(|it| it.weight),
        Some(1000),
    );
}

#[test]
fn a_steady_state_without_a_criterion_is_fios_own() {
    let limit = |job: &Job| {
        job.features
            .steady
            .map(|it| (it.metric, it.judgement, it.limit))
    };
    let slope = (
        SteadyMetric::Iops,
        SteadyJudgement::Slope,
        SteadyLimit::Percent(0.01),
    );
    check("ss_dur=5", limit, Some(slope));
    let unlike = "[a]\nsize=1m\nss_dur=5\n[b]\nsize=1m\n";
    let message = ["job `b`: its steady state differs within its group"];
    check_error(unlike, &message);
    for alike in ["new_group", "stonewall", "ss_dur=5"] {
        assert!(read_text(&format!("{unlike}{alike}\n")).is_ok(), "{alike}");
    }
}

#[test]
fn rates_to_keep_up() {
    let minimum = |rates, cycle| {
        Some(fathom_workload::MinimumRates {
            rates,
            cycle: Nanos::from_millis(cycle),
        })
    };
    let iops = |rate| Some(Pacing::Iops(Iops::new(rate)));
    let bytes = |rate| Some(Pacing::Bytes(BytesPerSec::new(rate)));
    let found = |job: &Job| job.features.minimum;
    check(
        "rate_iops_min=100",
        found,
        minimum([iops(100), None, None], 1000),
    );
    check("rate_iops_min=,100", found, None);
    check("rate_cycle=5", found, None);
    check(
        "rw=randrw\nratemin=1m,2m\nratecycle=250",
        found,
        minimum([bytes(1 << 20), bytes(2 << 20), None], 250),
    );
    check(
        "rw=randwrite\nrate_iops_min=,7\nrate_cycle=0",
        found,
        minimum([None, iops(7), None], 1),
    );
    check(
        "rw=write\nrate=9k\nrate_iops_min=9",
        found,
        minimum([None, iops(9), None], 1000),
    );
    check("thinkcycles=1000", |job| job.features.think_cycles, 1000);
}

#[test]
fn rates_that_cannot_be_kept_up_are_refused() {
    check_error(
        "[j]\nsize=1m\nrate_min=1m\nrate_iops_min=9\n",
        &["job `j`: `rate_min` and `rate_iops_min` are mutually exclusive"],
    );
    // Of a direction that the job does not go, too.
    check_error(
        "[j]\nsize=1m\nrw=read\nrate_iops=9,5\nrate_iops_min=9\n",
        &["job `j`: `rate_iops_min` exceeds `rate_iops` for writes"],
    );
    check_error(
        "[j]\nsize=1m\nwrite_hint=tiny\n",
        &["`tiny` is no value of `write_hint`"],
    );
}

#[test]
fn limits_of_a_steady_state() {
    let limit = |job: &Job| job.features.steady.map(|it| it.limit);
    let absolute = |limit| Some(SteadyLimit::Absolute(limit));
    for (option, expected) in [
        ("iops:10", absolute(10.0)),
        ("iops_slope:.1%", Some(SteadyLimit::Percent(0.1))),
        ("bw:12", absolute(12.0)),
        ("bw:12m", absolute(12.0 * 1_048_576.0)),
        ("bw_slope:3k", absolute(3072.0)),
        ("lat:50", absolute(50.0)),
        ("lat:50us", absolute(50_000.0)),
        ("lat_slope:2ms", absolute(2_000_000.0)),
    ] {
        let options = format!("ss={option}\nss_dur=10");
        check(&options, limit, expected);
    }
    for limit in ["iops:1k", "iops", "iops:", "bw:%", "lat:-1", "cpu:1"] {
        let error = format!("`steadystate={limit}` is no criterion with its limit");
        let text = format!("[x]\nsize=1m\nss={limit}\nss_dur=10\n");
        check_error(&text, &[&error]);
    }
    check_error(
        "[x]\nsize=1m\nss=iops:1\nss_dur=2000000\n",
        &["job `x`: `ss_dur` is longer than a million check intervals"],
    );
}

#[test]
fn warm_ups_by_bytes() {
    check(
        "ramp_size=64k",
        |job| job.features.warmup_bytes,
        Bytes::kib(64),
    );
    let both = ["job `j`: `ramp_time` and `ramp_size` are mutually exclusive"];
    check_error("[j]\nsize=1m\nramp_size=1k\nramp_time=1\n", &both);
    let differs = ["job `k`: `ramp_size` differs within its group"];
    let two = |options: &str| format!("[j]\nsize=1m\n[k]\nsize=1m\n{options}\n");
    check_error(&two("ramp_size=1k"), &differs);
    for taken in [
        "[j]\nsize=1m\nramp_size=1k\n[k]\nsize=1m\n".to_owned(),
        two("ramp_size=1k\nnew_group"),
    ] {
        assert!(read_text(&taken).is_ok(), "{taken}");
    }
}

#[test]
fn a_mix_of_one_direction_has_its_rate_alone() {
    let arrival = |job: &Job| (job.arrival, job.features.rates, job.mix.read);
    let open = |rate| Arrival::Open {
        rate: Pacing::Iops(Iops::new(rate)),
        poisson: Poisson::Fixed,
        when_full: fathom_workload::WhenFull::Queue,
    };
    let none = Percent::ZERO;
    let all = Percent::ALL;
    check(
        "rw=randrw\nrate_iops=100,300\nrwmixread=100",
        arrival,
        (open(100), None, all),
    );
    check(
        "rw=rw\nrate_iops=100,300\nrwmixread=0",
        arrival,
        (open(300), None, none),
    );
    check(
        "rw=rw\nrate_iops=100,\nrwmixwrite=100",
        arrival,
        (Arrival::Closed, None, none),
    );
}

/// fio takes what it waits for and no more, unless told otherwise: where submissions wait, no more go on together.
#[test]
fn batches_within_the_call_are_those_of_fio() {
    let libaio = "iodepth=64\niodepth_batch=16";
    for (rest, submit) in [
        ("ioengine=libaio", 1),
        ("ioengine=libaio\niodepth_batch_complete_min=8", 8),
        ("ioengine=libaio\niodepth_batch_complete_max=32", 16),
        ("ioengine=libaio\niodepth_low=32", 16),
        ("ioengine=libaio\ndirect=1", 16),
        ("ioengine=io_uring", 16),
    ] {
        check(
            &format!("{libaio}\n{rest}"),
            |job| job.features.batches.unwrap().submit,
            submit,
        );
    }
}

/// fio takes as many completions as are asked for at least, where no more are asked for: a queue drains to its low mark.
#[test]
fn a_queue_drains_to_its_low_mark_exactly() {
    let low = "ioengine=libaio\niodepth=16\niodepth_low=4";
    for (rest, taken) in [
        ("", (1, 1)),
        ("\niodepth_batch_complete_min=3", (3, 3)),
        ("\niodepth_batch_complete_max=0", (1, 1)),
        ("\niodepth_batch_complete_max=9", (1, 9)),
    ] {
        check(
            &format!("{low}{rest}"),
            |job| {
                let batches = job.features.batches.unwrap();
                (batches.complete_min, batches.complete_max, batches.low)
            },
            (taken.0, taken.1, 4),
        );
    }
}
