//! The document of a plan: it says what the text says, each figure with its unit, and every key stands in the page.

use std::sync::LazyLock;

use fathom_catalog::Catalog;
use fathom_planner::{Family, Plan, Prices, Prove, Request, Unit, plan};
use fathom_profile::Profile;
use fathom_units::Nanos;
use serde_json::Value;

/// A plan for one volume.
#[track_caller]
fn planned(volume: &str, figures: &str, request: &Request, prices: &str) -> Plan {
    let text = format!(
        "name = \"a\"\n[[volume]]\nname = \"data\"\n{volume}\n[[volume.period]]\nname = \"peak\"\n{figures}\n"
    );
    let (profile, _) = Profile::read(&text, "a.profile.toml").expect("a profile");
    let prices = (!prices.is_empty()).then(|| Prices::read(prices, "prices.toml").expect("prices"));
    plan(&profile, request, prices, Catalog::builtin()).expect("a plan")
}

/// The same for an application whose use of a machine is known.
#[track_caller]
fn planned_on_machine(figures: &str, request: &Request) -> Plan {
    let machine = "logical_processors = 8\nprocessors = \"31.5%\"\npeak_memory = \"20GiB\"";
    let text = format!(
        "name = \"a\"\n{machine}\n[[volume]]\nname = \"data\"\n[[volume.period]]\nname = \"peak\"\n{figures}\n"
    );
    let (profile, _) = Profile::read(&text, "a.profile.toml").expect("a profile");
    plan(&profile, request, None, Catalog::builtin()).expect("a plan")
}

fn of(families: &[Family]) -> Request {
    Request {
        families: families.to_vec(),
        offers: 2,
        ..Request::default()
    }
}

const PRICES: &str = "currency = \"EUR\"\nas_of = \"2016-02-20\"\n\
    [[price]]\nitem = \"Standard_D8s_v3\"\nmonth = 280.10\n[[price]]\nitem = \"P30\"\nmonth = 135.17\n";

/// Plans that differ in what their documents hold.
static PLANS: LazyLock<Vec<Plan>> = LazyLock::new(plans);

fn plans() -> Vec<Plan> {
    let eight = "iops = 3000\nsize = \"8KiB\"\nreads = \"70%\"";
    let disks = of(&[Family::Premium]);
    let known = "capacity = \"800GiB\"\nlatency_goal = \"20ms\"";
    let burst = Request {
        burst: Some(Nanos::from_secs(1800)),
        series: vec!["Dsv3".to_owned()],
        ..disks.clone()
    };
    let unproven = Request {
        prove: Prove::Never,
        ..of(&[Family::Smb])
    };
    let one_failing = Request {
        series: vec!["DSv2".to_owned()],
        ..disks.clone()
    };
    vec![
        planned(known, eight, &disks, PRICES),
        planned("", "iops = 3000\nsize = \"8KiB\"", &disks, ""),
        planned("", eight, &burst, ""),
        planned_on_machine(eight, &disks),
        planned("", eight, &of(&[Family::Nfs]), ""),
        planned("", eight, &unproven, ""),
        planned("", "iops = 100_000\nsize = \"8KiB\"", &one_failing, ""),
        planned("", "iops = 20_000\nsize = \"8KiB\"", &one_failing, ""),
        planned("latency_goal = \"100us\"", eight, &of(&[Family::Nfs]), ""),
        planned(
            "latency_goal = { p50 = \"10.8ms\", p99 = \"17.9ms\" }",
            "iops = 380\nsize = \"4MiB\"\nreads = \"70%\"\nrandom = \"0%\"",
            &Request {
                series: vec!["DSv2".to_owned()],
                ..of(&[Family::Smb])
            },
            "",
        ),
        planned("", "iops = 900_000_000", &disks, ""),
        planned(
            "",
            eight,
            &Request {
                max_price: Some(1),
                ..disks
            },
            PRICES,
        ),
    ]
}

fn unwrapped(plan: &Plan) -> String {
    let text = plan.to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every pair of a key and its value, with the keys above it.
fn pairs(value: &Value, path: &str, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let path = format!("{path}.{key}");
                found.push((path.clone(), value.clone()));
                pairs(value, &path, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| pairs(value, path, found)),
        _ => {}
    }
}

fn all_pairs(plan: &Plan) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    pairs(&plan.to_json(), "", &mut found);
    found
}

/// A figure of a limit as the text has it.
fn figure(limit: &Value, which: &str) -> Vec<String> {
    let unit = limit["unit"].as_str().expect("a unit");
    let value = &limit[format!("{which}_{unit}")];
    let units: &[Unit] = match unit {
        "iops" => &[Unit::Iops],
        "bandwidth_bytes_per_sec" => &[Unit::Bandwidth, Unit::BinaryBandwidth],
        "written_bytes_per_sec" => &[Unit::BinaryBandwidthWritten],
        "bytes" => &[Unit::Capacity],
        "disks" => &[Unit::Disks],
        "ios_outstanding" => &[Unit::Outstanding],
        "vcpus" => {
            let hundredths = value.as_f64().expect("a figure") * 100.0;
            return vec![Unit::Processors.figure(hundredths.round() as u64)];
        }
        "memory_bytes" => &[Unit::Memory],
        other => panic!("unit {other}"),
    };
    let value = if value.is_null() {
        u64::MAX
    } else {
        value.as_u64().expect("a figure")
    };
    units.iter().map(|unit| unit.figure(value)).collect()
}

#[test]
fn what_the_document_says_stands_in_the_text() {
    for plan in PLANS.iter() {
        let (text, document) = (unwrapped(plan), plan.to_json());
        let says = |words: &str| {
            let words: Vec<_> = words.split_whitespace().collect();
            let words = words.join(" ");
            assert!(text.contains(&words), "no `{words}` in\n{plan}");
        };
        let offers = document["offers"].as_array().expect("offers");
        for offer in offers {
            says(offer["title"].as_str().expect("a title"));
            for limit in offer["limits"].as_array().expect("limits") {
                let owner = limit["limit"].as_str().expect("a limit");
                let rows = figure(limit, "need").into_iter().zip(figure(limit, "have"));
                let mut rows = rows.map(|(need, have)| format!("{owner} {need} {have}"));
                assert!(rows.any(|row| text.contains(&row)), "{limit}\n{plan}");
            }
            for part in offer["parts"].as_array().expect("parts") {
                says(&format!(
                    "to buy: {}",
                    part["to_buy"].as_str().expect("words")
                ));
                if let Some(amount) = part["month"]["amount"].as_f64() {
                    says(&format!("{amount:.2} EUR"));
                }
            }
            for proven in offer["proof"]["volumes"].as_array().expect("volumes") {
                let p99 = proven["writes"]["response_ns"]["p99"].as_u64();
                says(&format!("p99 {}", Nanos::new(p99.expect("a time"))));
            }
        }
        for (path, value) in all_pairs(plan) {
            let is_sentence = ["doubts", "advice", "nothing", "assumed", "why"]
                .iter()
                .any(|end| path.ends_with(end));
            // Of designs that fail for one reason the text tells the first.
            let is_sentence = is_sentence && !path.starts_with(".failed");
            for words in value
                .as_array()
                .filter(|_| is_sentence)
                .into_iter()
                .flatten()
            {
                says(words.as_str().expect("words"));
            }
            if let Some(words) = value.as_str().filter(|_| is_sentence) {
                says(words);
            }
        }
        assert_eq!(offers.len(), plan.offers.len());
        assert_eq!(
            document["nothing"] == Value::Array(Vec::new()),
            !offers.is_empty()
        );
    }
}

#[test]
fn money_stands_beside_its_currency_and_is_the_sum_of_its_parts() {
    let plan = &PLANS[0];
    let offer = &plan.to_json()["offers"][0];
    let amount = |of: &Value| (of["month"]["amount"].as_f64().expect("an amount") * 100.0).round();
    let parts = offer["parts"].as_array().expect("parts");
    assert!(parts.len() > 1);
    assert_eq!(
        parts.iter().map(amount).sum::<f64>() as u64,
        amount(offer) as u64
    );
    assert_eq!(offer["month"]["currency"], "EUR");
    let unpriced = &PLANS[1].to_json()["offers"][0];
    assert_eq!(unpriced["month"], Value::Null);
}

/// A number without a unit in its key, or in the key that holds it, is a count.
#[test]
fn every_figure_has_its_unit_in_its_key() {
    const UNITS: [&str; 9] = [
        "_bytes",
        "iops",
        "_bytes_per_sec",
        "_ns",
        "_percent",
        "_s",
        "_disks",
        "_ios_outstanding",
        "vcpus",
    ];
    const COUNTS: [&str; 13] = [
        "machines",
        "count",
        "untried",
        "machine_sizes",
        "combinations",
        "parts_of_an_io",
        "times_the_need",
        "percent",
        "amount",
        "percentile",
        "growth",
        "response_ns",
        "offer",
    ];
    let all = PLANS.iter().flat_map(all_pairs).collect::<Vec<_>>();
    for (path, _) in all.iter().filter(|(_, value)| value.is_number()) {
        let mut keys = path.rsplit('.');
        let (key, above) = (keys.next().unwrap_or(""), keys.next().unwrap_or(""));
        let has_unit = UNITS.iter().any(|unit| key.ends_with(unit));
        let is_count = COUNTS.contains(&key) || COUNTS.contains(&above);
        assert!(has_unit || is_count, "{path}");
    }
}

/// Otherwise the other tests would look at empty lists alone.
#[test]
fn each_part_of_the_document_is_filled_in_some_plan() {
    let all = PLANS.iter().flat_map(all_pairs).collect::<Vec<_>>();
    for end in [
        ".offers.month",
        ".offers.limits.credits",
        ".offers.proof.credits",
        ".offers.proof.would_take_s",
        ".offers.proof.volumes.latency_goal",
        ".offers.proof.volumes.unloaded_mean_ns",
        ".offers.parts.each.pool_bytes",
        ".offers.doubts",
        ".cheaper_and_doubtful.offer",
        ".offers.headroom.volumes",
        ".need.machine.vcpus",
        ".need.machine.memory_bytes",
        ".need.volumes.capacity_bytes",
        ".need.volumes.periods.reads_percent",
        ".need.assumed",
        ".one_machine_misses",
        ".failed",
        ".ruled_out.rules",
        ".ruled_out.closest",
        ".ruled_out.too_slow",
        ".ruled_out.too_dear",
        ".nothing",
        ".searched.families_left_out",
        ".searched.burst_ns",
    ] {
        let is_filled = |value: &Value| match value {
            Value::Null => false,
            Value::Array(values) => !values.is_empty(),
            Value::Object(object) => !object.is_empty(),
            _ => true,
        };
        let mut own = all.iter().filter(|(path, _)| path == end);
        assert!(own.any(|(_, value)| is_filled(value)), "{end}");
    }
}

#[test]
fn every_key_stands_in_the_page() {
    let page = include_str!("../../../docs/plan.md");
    for (path, _) in PLANS.iter().flat_map(all_pairs) {
        let key = path.rsplit('.').next().unwrap_or("");
        let units = [
            "iops",
            "bandwidth_bytes_per_sec",
            "written_bytes_per_sec",
            "bytes",
            "disks",
            "ios_outstanding",
            "vcpus",
            "memory_bytes",
        ];
        let generic = ["need_", "have_", "steady_", "spent_", "saved_"]
            .iter()
            .find(|start| {
                let unit = key.strip_prefix(**start);
                unit.is_some_and(|unit| units.contains(&unit))
            });
        let stands = match generic {
            Some(start) => page.contains(&format!("`{start}UNIT`")),
            None => page.contains(&format!("`{key}`")),
        };
        assert!(stands, "`{key}` ({path}) is not in docs/plan.md");
    }
}
