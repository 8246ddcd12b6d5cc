//! Iometer's configurations, written and read.

use super::{Dialect, Loss, body, check, convert, iometer, normal_form, told};

/// Keys of a job that Iometer can say as it is, and more.
fn with(keys: &str) -> String {
    format!(
        "target = {{ path = \"/d/iobw.tst\", size = \"1GiB\" }}\naccess = \"independent\"\n{keys}"
    )
}

#[track_caller]
fn says(keys: impl AsRef<str>, says: &[&str], tells: &[&str]) {
    check(Dialect::Iometer, keys.as_ref(), says, tells);
}

#[test]
fn iometer_says_what_it_can() {
    says(
        with(
            "depth = 32\nblock = \"8KiB\"\nmix = { read = \"67%\", write = \"33%\" }\nwarmup = \"90s\"",
        ),
        &[
            "\ta,NONE",
            "\t8192,100,67,100,0,1,8192,0",
            "\t32,DISABLED,1,DISABLED,0",
            "\t2097152,0,2",
            "\t/d",
            "\t0          0          10",
            "\t90",
        ],
        &[],
    );
    // Sizes are lines; those of one direction alone have lines of their own.
    says(
        with("block = [{ size = \"4KiB\", weight = 3 }, { size = \"64KiB\", weight = 1 }]"),
        &[
            "\t4096,75,100,100,0,1,4096,0",
            "\t65536,25,100,100,0,1,4096,0",
        ],
        &["note: job `a`: block: its sizes are lines"],
    );
    says(
        with(
            "mix = { read = \"60%\", write = \"40%\" }\nblock = { read = \"4KiB\", write = \"64KiB\" }",
        ),
        &[
            "\t4096,60,100,100,0,1,4096,0",
            "\t65536,40,0,100,0,1,4096,0",
        ],
        &["note: job `a`: block: its sizes are lines"],
    );
    says(
        with("block = [{ size = \"4KiB\", weight = 2 }, { size = \"64KiB\", weight = 1 }]"),
        &[
            "\t4096,67,100,100,0,1,4096,0",
            "\t65536,33,100,100,0,1,4096,0",
        ],
        &["lost: job `a`: block: its 2 sizes are lines of a specification, each of whole percents"],
    );
    says(
        with("access = { kind = \"sequential\", gap = \"4KiB\" }\nblock = \"4KiB\"").replacen(
            "access = \"independent\"\n",
            "",
            1,
        ),
        &["\t4096,100,100,0,0,1,8192,0"],
        &[],
    );
}

#[test]
fn iometer_has_delays_and_seeds_but_no_rates() {
    says(
        with("think = { pause = \"5ms\", every = 8, counts = \"issued\" }"),
        &["\t4096,100,100,100,5,8,4096,0"],
        &["note: job `a`: think: its pauses are delays before bursts"],
    );
    says(
        with("workers = 3\nsalt = 7"),
        &["\ta 1", "\ta 3", "\t1,DISABLED,1,ENABLED,7"],
        &["note: job `a`: workers: its 3 workers"],
    );
    says(
        "access = \"independent\"",
        &["\t/d"],
        &["note: job `a`: target: Iometer's file there is `/d/iobw.tst`"],
    );
    says(
        with("arrival = { rate = \"200/s\" }\ncaching = \"buffered\"\nsync = { fsync_every = 1 }"),
        &[],
        &[
            "lost: job `a`: arrival",
            "lost: job `a`: caching",
            "lost: job `a`: drop_cache",
            "lost: job `a`: sync",
        ],
    );
}

/// Configurations in use come back as they were, with nothing told.
#[test]
fn published_configurations_come_back() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/guide-2016");
    for name in ["iometer.icf", "iometer-warm.icf"] {
        let text = std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
        comes_back(&text);
    }
}

#[track_caller]
fn comes_back(text: &str) {
    let workload = iometer::read(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let converted = convert(&workload, Dialect::Iometer, "x");
    assert_eq!(told(&converted), Vec::<String>::new(), "{}", converted.text);
    let read = iometer::read(&converted.text).unwrap();
    assert_eq!(
        normal_form(&read),
        normal_form(&workload),
        "{}",
        converted.text
    );
}

const SPECS: &str = "Version 1.1.0\n'TEST SETUP\n'Run Time\n'\thours minutes seconds\n\t0 1 5\n'Test Type\n\tTYPE\n'END test setup\n\
    'ACCESS SPECIFICATIONS\n\
    'Access specification name,default assignment\n\tlarge,NONE\n\t65536,100,0,0,0,1,0,0\n\
    'Access specification name,default assignment\n\tsmall,NONE\n\t512,100,100,100,0,1,4096,0\n\
    'Access specification name,default assignment\n\tmixed,NONE\n\t4096,30,67,100,0,1,4096,0\n\t8192,70,0,50,10,4,0,512\n\
    'END access specifications\n'MANAGER LIST\n";

fn worker(name: &str, settings: &str, specs: &[&str], targets: &[&str]) -> String {
    let one = |target: &&str| format!("'Target\n\t{target}\n'Target type\n\tDISK\n'End target\n");
    let targets = targets.iter().map(one).collect::<Vec<_>>().concat();
    format!(
        "'Worker\n\t{name}\n'Worker type\n\tDISK\n'Default target settings for worker\n'Number of outstanding IOs\n\t{settings}\n\
         'End default target settings for worker\n'Assigned access specs\n\t{}\n'End assigned access specs\n\
         'Target assignments\n{targets}'End target assignments\n'End worker\n",
        specs.join("\n\t")
    )
}

const SETTINGS: [&str; 2] = [
    "4,DISABLED,1\n'Disk maximum size\n\t2048,64,0",
    "16,DISABLED,1,ENABLED,99\n'Disk maximum size\n\t0,0,1",
];

fn two_workers(test_type: &str, targets: &[&str]) -> String {
    let specs = ["small", "Idle", "large", "mixed"];
    let one = worker("Worker 1", SETTINGS[0], &specs, targets);
    let specs = ["large", "mixed", "small", "mixed"];
    let two = worker("Worker 2", SETTINGS[1], &specs, &["/dev/sdb"]);
    let text = format!("{SPECS}'Manager ID\n\t1,HOST\n{one}{two}'End manager\n'END manager list\n");
    text.replace("TYPE", test_type)
}

/// Workers that rest, that share specifications in another order, on several machines, with seeds.
#[test]
fn workers_and_their_specifications_come_back() {
    comes_back(&two_workers("NORMAL", &["/mnt/d"]));
    comes_back(&two_workers("NORMAL", &["D:"]));
    let alone = worker("W", SETTINGS[0], &["mixed", "small"], &["/mnt/d"]);
    let managers = ["1,A", "2,B"].map(|id| format!("'Manager ID\n\t{id}\n{alone}'End manager\n"));
    comes_back(&format!("{SPECS}{}", managers.concat()).replace("TYPE", "NORMAL"));
}

/// Steps of a cycle are tests of their own, in which other workers rest; names of tests have no commas.
#[test]
fn cycles_become_tests() {
    for (test_type, stages) in [("CYCLE_OUTSTANDING_IOS", 24), ("CYCLE_TARGETS", 7)] {
        let workload = iometer::read(&two_workers(test_type, &["D: \"one\"", "/mnt/d"])).unwrap();
        assert_eq!(workload.stages.len(), stages);
        let converted = convert(&workload, Dialect::Iometer, "x");
        let names = |line: &String| line.starts_with("note: stage") && line.contains(": name:");
        assert!(told(&converted).iter().all(names), "{:?}", told(&converted));
        let mut read = iometer::read(&converted.text).unwrap();
        for (stage, own) in read.stages.iter_mut().zip(&workload.stages) {
            stage.name.clone_from(&own.name);
        }
        assert_eq!(
            normal_form(&read),
            normal_form(&workload),
            "{}",
            converted.text
        );
    }
}

/// What a configuration says is said to the others.
#[test]
fn configurations_are_written_in_other_words() {
    let alone = worker(
        "W",
        "8,DISABLED,1\n'Disk maximum size\n\t2097152,0,2",
        &["small", "large"],
        &["/mnt/d"],
    );
    let text = format!("{SPECS}'Manager ID\n\t1,\n{alone}").replace("TYPE", "NORMAL");
    let workload = iometer::read(&text).unwrap();
    let lost = |to| -> Vec<String> {
        let converted = convert(&workload, to, "x.icf");
        let lost = converted.losses.iter().map(Loss::to_string);
        lost.filter(|line| line.starts_with("lost")).collect()
    };
    for to in [Dialect::Fio, Dialect::Diskspd, Dialect::Vdbench] {
        let text = body(&convert(&workload, to, "x.icf").text);
        assert!(
            text.contains("/mnt/d/iobw.tst")
                && text.matches("65").count() + text.matches("64").count() > 0,
            "{text}"
        );
    }
    assert_eq!(lost(Dialect::Fio), Vec::<String>::new());
    assert_eq!(lost(Dialect::Diskspd), Vec::<String>::new());
    assert!(convert(&workload, Dialect::Native, "x").losses.is_empty());
}

/// Files of one folder would be one file; many differences of a key are one line.
#[test]
fn files_of_a_folder_become_one() {
    let job = |number: u32| {
        format!(
            "[[stage.job]]\nname = \"{number}\"\nsalt = {number}\ntarget = \"/d/{number}\"\nblock = \"{number}KiB\"\n"
        )
    };
    let jobs = (1..=5).map(job).collect::<Vec<_>>().concat();
    let text = format!("[[stage]]\nname = \"s\"\nmeasure = \"1s\"\n{jobs}");
    let workload = fathom_workload::native::read(&text, "x").unwrap().0;
    let converted = convert(&workload, Dialect::Iometer, "x");
    let told = told(&converted);
    let lost = "lost: every job: target: 5 files in `/d` become one, its `iobw.tst`";
    assert!(told.iter().any(|line| line == lost), "{told:?}");
    // The first job of each specification gives it its name.
    assert!(
        converted.text.contains("\t3,NONE\n")
            && converted.text.contains("\t3072,100,100,100,0,1,3072,0"),
        "{}",
        converted.text
    );
    let converted = convert(&workload, Dialect::Fio, "x");
    let salts = super::told(&converted)
        .into_iter()
        .filter(|line| line.contains(": salt: "));
    assert!(salts.count() <= 1);
    let diskspd = convert(&workload, Dialect::Diskspd, "x");
    let salts: Vec<String> = super::told(&diskspd)
        .into_iter()
        .filter(|line| line.contains(": salt: "))
        .collect();
    assert_eq!(
        salts,
        ["note: every job: salt: `1` becomes `0`: DISKSPD draws by `-z` alone; 4 more are alike"]
    );
}
