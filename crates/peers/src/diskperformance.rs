//! `fathom diskperformance`: the arguments and the table of DiskPerformance.ps1.
//!
//! Exit codes: 0; 1 where the run failed or the line is wrong; 4 where the test file is there and may not be removed, or
//! the write guard refused; 130 where the run was stopped.

use fathom_dialects::diskperformance::{self, DiskPerformanceInput, Existing, Output};
use fathom_engine::RunOutcome;
use fathom_session::{
    Code, Console, Failure, Screen, make_folder, map_to_this_machine, prepare_diskperformance,
    tell_warnings,
};
use fathom_units::Nanos;

use crate::measure::{self, Ours, asks_for_help, progress, tell_failure};

const USAGE: &str = "\
Usage: fathom diskperformance -TestMode Get-SmallIO|Get-LargeIO [parameters]
Names may be as short as they are clear; each has a value behind a blank.

  -TestMode Get-SmallIO          8 KiB random reads at depths 8 to 64: IOPS
  -TestMode Get-LargeIO          512 KiB reads in order at depths 1 to 32: MB/s
  -TestFilepath FOLDER           where the file is made (C:\\Test)
  -TestFileName NAME             its name (test.dat)
  -TestFileSizeInGB N            1, 5, 10, 50, 100, 500 or 1000 (1)
  -FastMode True|False           10 s for each depth, or 60 s (True)
  -RemoveTestFile True|False     remove a file of that name first (False)
  -OutputFormat Out-GridView|Format-Table
beside them: --map FROM=TO, --record
";

/// Does what the script would do with `arguments`.
pub fn diskperformance(arguments: &[String], console: &dyn Console) -> Code {
    let (ours, theirs) = Ours::take(arguments);
    if asks_for_help(&theirs, &["-?", "-h", "-help", "--help", "/?"]) {
        console.print_help(USAGE);
        return Code::Success;
    }
    let done = diskperformance::read(&theirs)
        .map_err(Failure::from)
        .and_then(|input| act(input, &ours, console));
    match done {
        Ok(code) => code,
        Err(failure) => tell_failure(&failure, Code::Unexpected, console),
    }
}

fn act(
    mut input: DiskPerformanceInput,
    ours: &Ours,
    console: &dyn Console,
) -> Result<Code, Failure> {
    tell_warnings(&input.warnings, console);
    let settings = &input.settings;
    map_to_this_machine(&ours.maps, &mut input.workload, console)?;
    let shown = settings.path();
    console.print(&format!("Checking for {shown}\n"));
    let path = prepare_diskperformance(settings, &mut input.workload)?;
    make_folder(&path)?;
    if settings.existing == Existing::Remove && std::path::Path::new(&path).exists() {
        std::fs::remove_file(&path).map_err(|error| {
            let message = format!("`{path}` cannot be removed: {error}");
            Failure::new(Code::Target, message)
        })?;
    }
    console.print("Creating test file...\n");
    let mut screen = progress(console);
    let print = |ran: &RunOutcome, _: &mut Screen<'_>| {
        let results = ran.results.iter().filter(|it| it.measured > Nanos::ZERO);
        let results: Vec<_> = results.cloned().collect();
        if settings.output == Output::GridView {
            console.tell(
                "note: there is no window for `Out-GridView` here; the table follows. With `--record`, `fathom report --html FILE` makes a page of the run",
            );
        }
        console.print(&diskperformance::write_table(settings, &results));
    };
    let workload = &input.workload;
    let name = "diskperformance";
    let done = measure::run(name, workload, ours, &mut screen, console, print);
    // A run that ends early leaves the file to us.
    console.print(&format!("Checking for {shown}\n"));
    let _ = std::fs::remove_file(&path);
    done
}
