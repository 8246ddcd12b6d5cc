//! What a man page says beside the options: exit codes, variables of the environment, files, examples.

/// Something with a name, and what it is to some verbs.
#[derive(Debug)]
pub struct Fact {
    pub name: &'static str,
    pub says: &'static str,
    /// The verbs that it is about; empty: all.
    verbs: &'static [&'static str],
}

impl Fact {
    /// Whether the page of `verb` has it; the program's own page, without a verb, has all.
    pub fn is_about(&self, verb: &str) -> bool {
        verb.is_empty() || self.verbs.is_empty() || self.verbs.contains(&verb)
    }
}

const PEERS: [&str; 6] = [
    "fio",
    "diskspd",
    "iometer",
    "vdbench",
    "sqlio",
    "diskperformance",
];

/// Verbs that do I/O to real storage.
const ON_REAL_STORAGE: [&str; 8] = [
    "run", "replay", PEERS[0], PEERS[1], PEERS[2], PEERS[3], PEERS[4], PEERS[5],
];

/// Verbs that store runs or show them.
const ON_STORED_RUNS: [&str; 9] = [
    "run",
    "replay",
    "predict",
    "serve",
    "runs",
    "report",
    "compare",
    "calibrate",
    "ui",
];

/// Whether `verb` takes a peer's place.
pub fn is_peer(verb: &str) -> bool {
    PEERS.contains(&verb)
}

const fn fact(name: &'static str, verbs: &'static [&'static str], says: &'static str) -> Fact {
    Fact { name, says, verbs }
}

/// As `fathom_session::Code` has them, without those that only a peer's verb gives.
pub const EXIT_CODES: [Fact; 10] = [
    fact("0", &[], "Success."),
    fact("1", &[], "Something unexpected."),
    fact("2", &[], "The command line is wrong."),
    fact(
        "3",
        &[],
        "An input is invalid, or names a target that is not there or is none.",
    ),
    fact(
        "4",
        &[
            "run",
            "replay",
            "serve",
            "calibrate",
            "convert",
            "observe",
            "profile",
            "plan",
            "predict",
            "report",
            "man",
        ],
        "Refused for safety: something would be written over, a device without its name in --destroy-data, or results over a block device.",
    ),
    fact(
        "5",
        &[],
        "A target cannot be used, an I/O failed, or a result cannot be written.",
    ),
    fact(
        "6",
        &[
            "run",
            "replay",
            "predict",
            "serve",
            "report",
            "convert",
            "plan",
            "calibrate",
        ],
        "A check failed (--strict), a need is not met (--need), nothing carries the profile, or a conversion loses \
         something (--strict).",
    ),
    fact("7", &["compare"], "A threshold is crossed (--fail-on)."),
    fact(
        "8",
        &["run", "replay", "predict", "serve", "observe", "ctl"],
        "Not supported on this machine.",
    ),
    fact(
        "130",
        &["run", "replay", "predict", "serve", "observe"],
        "Interrupted; what was measured until then is kept.",
    ),
];

/// Variables that are read.
pub const ENVIRONMENT: [Fact; 9] = [
    fact(
        "FATHOM_DESTROY_DATA",
        &ON_REAL_STORAGE,
        "Name of a block device, or URI of an export, that may be written to, as --destroy-data has it.",
    ),
    fact(
        "FATHOM_RUNS_KEEP",
        &["run", "replay", "predict", "serve"],
        "Most stored runs that are kept (500); all: no limit.",
    ),
    fact(
        "FATHOM_RUNS_SIZE",
        &["run", "replay", "predict", "serve"],
        "Most bytes that all stored runs may take (2GiB); all: no limit.",
    ),
    fact(
        "XDG_DATA_HOME",
        &ON_STORED_RUNS,
        "Folder that holds the stored runs (~/.local/share).",
    ),
    fact(
        "XDG_STATE_HOME",
        &ON_REAL_STORAGE,
        "Folder that holds the marks of files that were laid out (~/.local/state).",
    ),
    fact(
        "XDG_RUNTIME_DIR",
        &["serve", "ctl"],
        "Folder of the sockets at which servers take orders.",
    ),
    fact(
        "LC_ALL, LC_CTYPE, LANG",
        &[],
        "The first that is set says what the screen can show: without UTF-8 in it, text for people is ASCII (us, +-, x), but for \
         letters of names. None set: UTF-8.",
    ),
    fact(
        "TERM",
        &["run", "replay", "predict"],
        "Where it is not set, empty or dumb, progress on a terminal is one line in place of a panel.",
    ),
    fact(
        "NO_COLOR",
        &[],
        "Help and usage errors without colours; nothing else has any.",
    ),
];

/// Files that are read or written.
pub const FILES: [Fact; 7] = [
    fact(
        "*.workload.toml",
        &["run", "predict", "explain", "convert", "calibrate", "plan"],
        "Workloads in Fathom's own words.",
    ),
    fact(
        "*.design.toml",
        &["predict", "serve", "calibrate", "plan"],
        "Storage systems.",
    ),
    fact(
        "*.profile.toml",
        &["run", "predict", "report", "observe", "profile", "plan"],
        "What applications need.",
    ),
    fact(
        "*.faults.toml",
        &["serve"],
        "Orders at times, for --faults.",
    ),
    fact(
        "~/.local/share/fathom/runs",
        &ON_STORED_RUNS,
        "A folder for each stored run.",
    ),
    fact(
        "~/.local/state/fathom/layout",
        &ON_REAL_STORAGE,
        "A mark for each file that was laid out, so that it need not be written again.",
    ),
    fact(
        "$XDG_RUNTIME_DIR/fathom-serve-*.sock",
        &["serve", "ctl"],
        "Where running servers take orders.",
    ),
];

/// Examples of verbs whose help has none of its own, by the verb's words joined with `-`.
pub fn examples(verb: &str) -> Option<&'static str> {
    Some(match verb {
        "run" => {
            "  fathom run quick --target /mnt/data
  fathom run --strict --html page.html job.fio
  fathom run --sweep depth=1..64x2,block=4k,64k oltp.workload.toml
  fathom run --destroy-data=sn-0001 fio --filename=/dev/sdx --rw=randwrite --name=x"
        }
        "predict" => {
            "  fathom predict --on ds14.design.toml job.fio
  fathom predict --on ds14.design.toml --need shop.profile.toml job.fio
  fathom predict --on ds14.design.toml fio --runtime 30 job.fio"
        }
        "explain" => "  fathom explain job.fio\n  fathom explain counters",
        "fio" => "  fathom fio --name=x --rw=randread --size=1g --output-format=json",
        "diskspd" => "  fathom diskspd -b8K -d30 -o4 -t2 -r -w30 -c1G test.dat",
        "iometer" => "  fathom iometer /c oltp.icf /r results.csv",
        "vdbench" => "  fathom vdbench -f parmfile -o output",
        "sqlio" => "  fathom sqlio -kR -s30 -frandom -o8 -b8 -LS test.dat",
        "diskperformance" => {
            "  fathom diskperformance -TestMode Get-SmallIO -TestFilepath /mnt/data -OutputFormat Format-Table"
        }
        "catalog" | "catalog-list" | "catalog-show" => {
            "  fathom catalog list\n  fathom catalog show P30\n  fathom catalog show P30 --json"
        }
        "runs" => "  fathom runs\n  fathom runs --json",
        "report" => "  fathom report last --full\n  fathom report last --html page.html",
        "profile" => "  fathom profile new --app exchange-2010 --users 5000 -o mail.profile.toml",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_session::Code;

    #[test]
    fn every_exit_code_of_our_own_is_told() {
        let codes = [
            Code::Success,
            Code::Unexpected,
            Code::Usage,
            Code::Input,
            Code::Refused,
            Code::Target,
            Code::Check,
            Code::Threshold,
            Code::Unsupported,
            Code::Interrupted,
        ];
        let codes = codes.map(|code| code.number().to_string());
        assert_eq!(EXIT_CODES.map(|code| code.name), codes);
    }
}
