//! Every script of every kind of design, read by its own tool where Debian has it, and by a reader of brackets, strings and
//! comments where it has not.

use std::io::Write as _;
use std::process::{Command, Stdio};

use fathom_catalog::Catalog;
use fathom_emit::{Emit, emit};
use fathom_planner::{Family, Plan, Prove, Request, plan};
use fathom_profile::Profile;

/// A name that is code in every language that scripts are written in.
const WORST: &str = "a'b\\\"$(touch owned)`touch owned`${x}%{x}%PATH%&calc;\u{2019}#{1..3}";

fn profile(name: &str, figures: &str) -> String {
    let quoted = format!("{name:?}").replace("\\'", "'");
    format!(
        "name = \"{name}\"\n[[volume]]\nname = \"{name}\"\nrole = \"data\"\ncapacity = \"2TiB\"\n\
         [[volume.period]]\nname = \"peak\"\n{figures}\n",
        name = quoted.trim_matches('"')
    )
}

fn planned(text: &str, families: &[Family], only: &[&str]) -> Plan {
    let (profile, _) = Profile::read(text, "x").expect("a profile");
    let request = Request {
        families: families.to_vec(),
        only: only.iter().map(|name| (*name).to_owned()).collect(),
        prove: Prove::Never,
        offers: 1,
        ..Request::default()
    };
    plan(&profile, &request, None, Catalog::builtin()).expect("a plan")
}

const FIGURES: &str = "iops = 16000\nsize = \"8KiB\"\nreads = \"70%\"\nrandom = \"100%\"";

/// Plans of every kind of storage, with an ordinary name and with the worst.
fn plans() -> Vec<Plan> {
    let large = "throughput = \"9000MiB/s\"\nsize = \"256KiB\"\nreads = \"30%\"\nrandom = \"0%\"";
    let kinds: [(&[Family], &[&str], &str); 9] = [
        (&[Family::Premium], &["P30"], FIGURES),
        (&[Family::Standard], &[], FIGURES),
        (&[Family::V2], &[], FIGURES),
        (&[Family::Ultra], &[], FIGURES),
        (&[Family::Nfs], &["nfs-premium"], FIGURES),
        (&[Family::Nfs], &["nfs-flexible"], large),
        (&[Family::Smb], &["ssd-v1"], FIGURES),
        (&[Family::Smb], &["ssd-v2"], large),
        (&[Family::Smb], &["hdd-payg"], "iops = 900\nsize = \"8KiB\""),
    ];
    let mut plans = Vec::new();
    for (families, only, figures) in kinds {
        for name in ["shop", WORST] {
            let plan = planned(&profile(name, figures), families, only);
            assert!(!plan.offers.is_empty(), "{only:?} {figures}: {plan}");
            plans.push(plan);
        }
    }
    plans
}

fn scripts(what: Emit) -> Vec<String> {
    let plans = plans();
    let scripts = plans
        .iter()
        .filter_map(|plan| emit(what, plan, &plan.offers[0]).ok());
    let scripts: Vec<_> = scripts.map(|script| script.text).collect();
    assert!(scripts.len() >= 2, "{what:?}");
    scripts
}

/// Runs a program on a text, which must have nothing against it.
#[track_caller]
fn accepts(program: &str, arguments: &[&str], text: &str) {
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.unwrap_or_else(|error| panic!("{program}: {error}"));
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(text.as_bytes()).expect("the program reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{program}: {said}\n{text}");
}

#[test]
fn shells_and_shellcheck_take_every_shell_script() {
    for what in [Emit::Az, Emit::Mdadm, Emit::Lvm, Emit::Mount] {
        for text in scripts(what) {
            accepts("bash", &["-n"], &text);
            accepts("shellcheck", &["--shell=bash", "-"], &text);
        }
    }
}

/// How a language writes strings and comments.
struct Grammar {
    quotes: &'static [char],
    /// What keeps a quote from ending its string; `None`: the quote doubled.
    escape: Option<char>,
    comment: &'static str,
    /// What begins an expression in a string, which `}` ends.
    expression: Option<&'static str>,
}

/// Code without what is in strings and comments. Strings end, and brackets close what they opened.
#[track_caller]
fn code(text: &str, grammar: &Grammar) -> String {
    let mut code = String::new();
    let mut open: Vec<char> = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        let mut inside: Option<char> = None;
        while let Some(letter) = rest.chars().next() {
            let step = letter.len_utf8();
            if let Some(quote) = inside {
                if grammar.escape == Some(letter) {
                    let skipped: usize = rest.chars().take(2).map(char::len_utf8).sum();
                    rest = &rest[skipped..];
                    continue;
                }
                let starts = |it: &str| rest.starts_with(it);
                if grammar.expression.is_some_and(starts) {
                    let end = rest.find('}').unwrap_or_else(|| panic!("{line}"));
                    rest = &rest[end + 1..];
                    continue;
                }
                if letter == quote {
                    inside = None;
                }
            } else if rest.starts_with(grammar.comment) {
                break;
            } else if grammar.quotes.contains(&letter) {
                inside = Some(letter);
            } else {
                match letter {
                    '(' => open.push(')'),
                    '[' => open.push(']'),
                    '{' => open.push('}'),
                    ')' | ']' | '}' => assert_eq!(open.pop(), Some(letter), "{line}"),
                    _ => {}
                }
                code.push(letter);
            }
            rest = &rest[step..];
        }
        assert_eq!(inside, None, "a string goes on past its line: {line}");
        code.push('\n');
    }
    assert!(open.is_empty(), "{open:?} is missing\n{text}");
    code
}

#[test]
fn strings_end_and_brackets_close_where_no_tool_is_at_hand() {
    let hcl = Grammar {
        quotes: &['"'],
        escape: Some('\\'),
        comment: "#",
        expression: Some("${"),
    };
    let bicep = Grammar {
        quotes: &['\''],
        escape: Some('\\'),
        comment: "//",
        expression: Some("${"),
    };
    let powershell = Grammar {
        quotes: &['\''],
        escape: None,
        comment: "#",
        expression: None,
    };
    for (what, grammar) in [
        (Emit::Terraform, hcl),
        (Emit::Bicep, bicep),
        (Emit::Powershell, powershell),
    ] {
        for text in scripts(what) {
            let code = code(&text, &grammar);
            assert!(!code.contains("$(") || what == Emit::Powershell, "{code}");
            assert!(text.is_ascii(), "{text}");
        }
    }
}

#[test]
fn no_script_holds_a_name_as_it_was_given() {
    for plan in plans() {
        for what in Emit::ALL {
            let Ok(script) = emit(what, &plan, &plan.offers[0]) else {
                continue;
            };
            for code in ["touch owned", "calc;", "%{x}", "%PATH%", "{1..3}"] {
                assert!(
                    !script.text.contains(code),
                    "{what:?}: {code}\n{}",
                    script.text
                );
            }
        }
    }
}

/// The scripts of one design.
#[track_caller]
fn script(what: Emit, families: &[Family], only: &[&str]) -> String {
    let plan = planned(&profile("shop", FIGURES), families, only);
    emit(what, &plan, &plan.offers[0]).expect("a script").text
}

#[test]
fn stripes_have_a_column_a_disk_and_the_planned_unit() {
    let disks: (&[Family], &[&str]) = (&[Family::Premium], &["P30"]);
    let of = |what| script(what, disks.0, disks.1);
    assert!(of(Emit::Mdadm).contains("--level=0 --raid-devices=4 --chunk=64 "));
    assert!(of(Emit::Lvm).contains("--stripes 4 --stripesize 64k"));
    assert!(of(Emit::Powershell).contains("-Luns @(0, 1, 2, 3) -Columns 4 -Interleave 65536"));
    let az = of(Emit::Az);
    assert!(az.contains("for lun in {0..3}; do"), "{az}");
    assert!(az.contains("Premium_LRS 1024 \"$lun\" ReadOnly"), "{az}");
}

/// One P30 with performance plus has 8,000 I/Os a second, where two without would be needed.
#[test]
fn disks_are_created_with_performance_plus_where_it_is_planned() {
    let figures = "iops = 7900\nsize = \"8KiB\"\nreads = \"70%\"";
    let text = profile("shop", figures).replace("2TiB", "1TiB");
    let (profile, _) = Profile::read(&text, "x").expect("a profile");
    let of = |performance_plus| {
        let request = Request {
            only: vec!["P30".to_owned()],
            performance_plus,
            prove: Prove::Never,
            offers: 1,
            ..Request::default()
        };
        plan(&profile, &request, None, Catalog::builtin()).expect("a plan")
    };
    let check = |what, says: &[&str]| {
        let scripts = [false, true].map(|asked| {
            let plan = of(asked);
            emit(what, &plan, &plan.offers[0]).expect("a script").text
        });
        for words in says {
            assert!(scripts[1].contains(words), "{words}\n{}", scripts[1]);
        }
        assert!(!scripts[0].contains(says[0]), "{}", scripts[0]);
    };
    check(Emit::Az, &["--performance-plus true"]);
    let of_all = "performancePlus: disks[index % length(disks)].plus";
    check(Emit::Bicep, &["plus: true", of_all]);
    let of_all = "performance_plus_enabled   = each.value.plus";
    check(Emit::Terraform, &["plus = true", of_all]);
}

#[test]
fn caching_is_never_changed_in_silence() {
    let disks: (&[Family], &[&str]) = (&[Family::Premium], &["P30"]);
    let az = script(Emit::Az, disks.0, disks.1);
    for update in az.match_indices("--disk-caching") {
        let before = &az[..update.0];
        let asked = before.rfind("ask \"").expect("it is asked for");
        assert!(!before[asked..].contains("\n    fi\n"), "{az}");
    }
    assert!(az.contains("detaches the disk"));
    assert!(az.contains("restarts the machine"));
    let terraform = script(Emit::Terraform, disks.0, disks.1);
    assert!(terraform.contains("ignore_changes = [caching]"));
    assert!(terraform.contains("ignore_changes = [os_disk[0].caching]"));
    let bicep = script(Emit::Bicep, disks.0, disks.1);
    assert!(bicep.contains("\nparam cachingMayChange string\n"));
}

#[test]
fn mounts_have_connections_windows_and_channels() {
    let nfs = script(Emit::Mount, &[Family::Nfs], &["nfs-premium"]);
    assert!(
        nfs.contains("nconnect=8,rsize=262144,wsize=262144"),
        "{nfs}"
    );
    assert!(nfs.contains("net.core.rmem_max = 16777216"), "{nfs}");
    assert!(nfs.contains("tcp_max_slot_table_entries=128"));
    let text = profile("shop", "iops = 50000\nsize = \"8KiB\"\nreads = \"100%\"");
    let plan = planned(&text, &[Family::Smb], &["ssd-v2"]);
    let of = |what| emit(what, &plan, &plan.offers[0]).expect("a script").text;
    assert!(of(Emit::Mount).contains("multichannel,max_channels=4"));
    let windows = of(Emit::Powershell);
    assert!(windows.contains("-EnableMultiChannel $true -ConnectionCountPerRssNetworkInterface 4"));
    assert!(of(Emit::Az).contains("--enable-smb-multichannel true"));
    assert!(of(Emit::Bicep).contains("multichannel"));
}

#[test]
fn the_counters_are_those_of_the_guide_and_when_a_disk_was_busy() {
    let text = script(Emit::Logman, &[Family::Premium], &[]);
    for counter in [
        "Avg. Disk sec/Transfer",
        "Avg. Disk Queue Length",
        "Avg. Disk Bytes/Transfer",
        "Disk Bytes/sec",
        "Disk Transfers/sec",
        "Split IO/sec",
        // One percent sign, as a batch file takes it.
        "%% Idle Time",
    ] {
        let path = format!("\"\\PhysicalDisk(*)\\{counter}\"");
        assert!(text.contains(&path), "{text}");
    }
    assert!(text.contains("-si 00:00:15"));
    assert!(text.lines().count() * 2 == text.matches(['\r', '\n']).count());
}

#[test]
fn peers_verify_the_need_at_its_rate() {
    let fio = script(Emit::Fio, &[Family::Premium], &["P30"]);
    assert!(fio.contains("filename=/mnt/shop/fathom.dat"), "{fio}");
    assert!(fio.contains("rate_iops=11200,4800"), "{fio}");
    let diskspd = script(Emit::Diskspd, &[Family::Premium], &["P30"]);
    assert!(diskspd.contains(r"F:\fathom.dat"), "{diskspd}");
    assert!(diskspd.contains("-g16000i"), "{diskspd}");
    let vdbench = script(Emit::Vdbench, &[Family::Nfs], &["nfs-premium"]);
    assert!(vdbench.contains("iorate=16000"), "{vdbench}");
    // Two files of a share: half the rate each.
    let shares = script(Emit::Fio, &[Family::Smb], &["ssd-v1"]);
    assert!(shares.contains("rate_iops=5600,2400"), "{shares}");
    assert_eq!(
        shares.matches("filename=/mnt/shop/fathom-1-").count(),
        2,
        "{shares}"
    );
}

#[test]
fn what_a_design_does_not_have_is_refused_in_words() {
    let nfs = planned(&profile("shop", FIGURES), &[Family::Nfs], &[]);
    for (what, words) in [
        (Emit::Mdadm, "on the network"),
        (Emit::Powershell, "--emit mount"),
        (Emit::Diskspd, "over NFS"),
    ] {
        let refused = emit(what, &nfs, &nfs.offers[0]).expect_err("nothing to do");
        assert!(refused.contains(words), "{refused}");
    }
}

/// A pool whose bandwidth is bought by itself has none beyond its least where it is not ordered, and then no volume in it can
/// be given what was planned.
#[test]
fn the_bandwidth_of_a_pool_is_ordered_where_it_is_bought() {
    #[track_caller]
    fn check(throughput: &str, mibps: u64) {
        let figures = format!("throughput = \"{throughput}\"\nsize = \"256KiB\"\nreads = \"70%\"");
        let plan = planned(
            &profile("shop", &figures),
            &[Family::Nfs],
            &["nfs-flexible"],
        );
        let of = |what| emit(what, &plan, &plan.offers[0]).expect("a script").text;
        for (what, words) in [
            (
                Emit::Az,
                format!("--qos-type Manual \\\n        --custom-throughput-mibps {mibps}\n"),
            ),
            (Emit::Bicep, format!("customThroughputMibps: {mibps}\n")),
            (
                Emit::Terraform,
                format!("custom_throughput_mibps = {mibps}\n"),
            ),
        ] {
            let text = of(what);
            assert!(text.contains(&words), "{what:?} {words}\n{text}");
        }
    }
    check("1000MiB/s", 1000);
    // Several volumes have it together, and a pool no less than it comes with.
    check("9000MiB/s", 9000);
    check("20MiB/s", 128);
    let given = script(Emit::Bicep, &[Family::Nfs], &["nfs-premium"]);
    assert!(!given.contains("customThroughputMibps"), "{given}");
}

/// The command line wants the network of a volume's subnet beside it.
#[test]
fn a_volume_names_its_network_and_its_subnet() {
    let az = script(Emit::Az, &[Family::Nfs], &["nfs-premium"]);
    let words = "--vnet \"${DELEGATED_SUBNET_ID%/subnets/*}\" --subnet \"$DELEGATED_SUBNET_ID\"";
    assert!(az.contains(words), "{az}");
}
