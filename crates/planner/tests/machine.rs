//! Processors and memory that were seen in use: no machine with less is offered.

use fathom_catalog::Catalog;
use fathom_planner::{Family, Line, Plan, Prove, Request, Rule, Unit, plan};
use fathom_profile::Profile;

fn planned(figures: &str, series: &[&str]) -> Plan {
    let text = format!(
        "name = \"app\"\n{figures}\n[[volume]]\nname = \"data\"\n[[volume.period]]\nname = \"peak\"\niops = 400\nreads = \"70%\"\n"
    );
    let (profile, _) = Profile::read(&text, "app.profile.toml").expect("a profile");
    let request = Request {
        families: vec![Family::Premium],
        series: series.iter().map(|name| (*name).to_owned()).collect(),
        prove: Prove::Never,
        offers: 1,
        ..Request::default()
    };
    plan(&profile, &request, None, Catalog::builtin()).expect("a plan")
}

/// The machine offered first, and its limits of processors and memory in words.
#[track_caller]
fn check(figures: &str, expected: (u32, &str), limits: &[(&str, &str)]) -> String {
    let plan = planned(figures, &["Dsv5"]);
    let offer = plan.offers.first().expect("an offer");
    let own = |line: &&Line| matches!(line.unit, Unit::Processors | Unit::Memory);
    let lines = offer.lines.iter().filter(own);
    let lines = lines.map(|line| (line.unit.figure(line.need), line.unit.figure(line.have)));
    let limits: Vec<_> = limits
        .iter()
        .map(|(need, have)| ((*need).to_owned(), (*have).to_owned()))
        .collect();
    assert_eq!(lines.collect::<Vec<_>>(), limits);
    assert_eq!(
        (offer.candidate.machines, offer.candidate.vm.name),
        expected
    );
    let text = plan.to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn no_machine_has_less_than_was_in_use() {
    let text = check("", (1, "Standard_D2s_v5"), &[]);
    assert!(
        text.starts_with("NEED at p99 data peak 400 IOPS")
            && !text.contains("vCPU of")
            && !text.contains("processors:"),
        "{text}"
    );
    // 60 % of 8, half as much again: 7.2 of 8.
    let text = check(
        "growth = \"1.5x\"\nlogical_processors = 8\nprocessors = \"60%\"",
        (1, "Standard_D8s_v5"),
        &[("7.2 vCPU", "8 vCPU")],
    );
    for words in [
        "NEED at p99 after growth of 1.5x data peak 600 IOPS",
        " 7.2 vCPU assumed: ",
        "assumed: processors: a vCPU does as much as one of the 8 of which 4.8 were in use",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("busy all the time"), "{text}");
    // The most within a stretch of time counts of memory; 40 GiB are more than 32.
    let text = check(
        "memory = \"3GiB\"\npeak_memory = \"40GiB\"",
        (1, "Standard_D16s_v5"),
        &[("40 GiB", "64 GiB")],
    );
    assert!(text.contains(" 40 GiB of memory "), "{text}");
    // Never less than it is: a machine of 1 GiB would seem to have it.
    check(
        "memory = \"1.074GB\"",
        (1, "Standard_D2s_v5"),
        &[("1.01 GiB", "8 GiB")],
    );
    check(
        "memory = \"8.5GiB\"",
        (1, "Standard_D4s_v5"),
        &[("8.5 GiB", "16 GiB")],
    );
}

#[test]
fn shares_of_nobody_knows_how_many_ask_for_none() {
    let text = check("processors = \"99%\"", (1, "Standard_D2s_v5"), &[]);
    let words = "note: processors: a share in use is known, but not of how many (`logical_processors`): none are asked for";
    assert!(text.contains(words), "{text}");
    let text = check(
        "logical_processors = 2\nprocessors = \"99%\"",
        (1, "Standard_D2s_v5"),
        &[("1.98 vCPU", "2 vCPU")],
    );
    assert!(
        text.contains("note: processors: they were busy all the time"),
        "{text}"
    );
}

#[test]
fn what_no_machine_has_is_shared_by_several() {
    check(
        "logical_processors = 240\nprocessors = \"100%\"\nmemory = \"200GiB\"",
        (3, "Standard_D96s_v5"),
        &[("80 vCPU", "96 vCPU"), ("66.67 GiB", "384 GiB")],
    );
    let plan = planned(
        "logical_processors = 65536\nprocessors = \"100%\"",
        &["Dsv5"],
    );
    assert!(plan.offers.is_empty());
    let text = plan.to_string();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "Standard_D96s_v5 gives 96 vCPU, 1,024 vCPU are needed";
    assert!(text.contains(words), "{text}");
}

#[test]
fn processors_on_credits_are_for_who_names_them() {
    let known = "logical_processors = 2\nprocessors = \"99%\"";
    let cheapest = |figures: &str, series: &[&str]| {
        let plan = planned(figures, series);
        let vm = plan.offers.first().expect("an offer").candidate.vm;
        (vm.series.starts_with('B'), plan)
    };
    let (is_burstable, plan) = cheapest(known, &[]);
    assert!(!is_burstable, "{plan}");
    assert!(
        plan.ruled_out
            .rules
            .contains_key(&Rule::BurstableProcessors)
    );
    let (_, plan) = cheapest(known, &["Bsv2"]);
    let text = plan.to_string();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "DOUBTFUL: its processors are at full speed on credits alone";
    assert!(text.contains(words), "{text}");
}
