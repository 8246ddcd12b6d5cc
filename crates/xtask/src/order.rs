//! `cargo xtask order`: which functions small jobs call, for `crates/cli/build.rs` to let them stand together.
//!
//! Callgrind runs the jobs and tells every function it came by; those that are the program's own are written to
//! `crates/cli/order.txt` by their names in the object files. Without a new list nothing breaks: a function that is new or
//! has another name stands where it would anyway. But most names change with a dependency or its features, and a small job then
//! takes half as much memory again: `cargo xtask test` says so ([`check`]).
//!
//! Valgrind finds names, but no lines, of what stands in a section of its own; `perf` finds both. For the lines, build with an
//! empty list and `CARGO_PROFILE_RELEASE_DEBUG=line-tables-only`.

use std::collections::BTreeSet;
use std::path::Path;

use crate::command::{self, output, root};
use crate::packages;

/// The jobs: a trivial one, many workers, files by three engines. `FILE` stands for a file.
const JOBS: [&[&str]; 5] = [
    &["--ioengine=null", "--size=4k"],
    &[
        "--ioengine=null",
        "--size=4m",
        "--numjobs=64",
        "--iodepth=64",
        "--thread",
        "--group_reporting",
    ],
    &[
        "--ioengine=io_uring",
        "--direct=1",
        "--rw=randrw",
        "--iodepth=8",
        "--size=4m",
        "--filename=FILE",
        "--output-format=json",
    ],
    &[
        "--ioengine=libaio",
        "--direct=1",
        "--rw=randread",
        "--iodepth=8",
        "--size=4m",
        "--filename=FILE",
    ],
    &[
        "--ioengine=psync",
        "--rw=write",
        "--size=4m",
        "--filename=FILE",
    ],
];

const LIST: &str = "crates/cli/order.txt";

const HEAD: &str = "\
# Functions that small jobs call, by their names in the object files. `cargo xtask order` writes this.
";

/// Writes the list.
pub fn run() -> Result<(), String> {
    packages::install(packages::Needed::ToTest)?;
    let binary = command::release_binary()?;
    let binary = binary.to_str().ok_or("the program's path is no UTF-8")?;
    let folder = root().join("target/order");
    let named = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(&folder).map_err(named)?;
    let own = functions_of(binary)?;
    let mut called = BTreeSet::new();
    for job in JOBS {
        let said = functions_called(binary, job, &folder)?;
        called.extend(said.into_iter().filter(|name| own.contains(name)));
    }
    std::fs::remove_dir_all(&folder).map_err(named)?;
    let names: BTreeSet<&str> = called.iter().filter_map(|name| mangled(name)).collect();
    if names.is_empty() {
        return Err("callgrind named none of the program's functions: was it stripped?".to_owned());
    }
    let list = root().join(LIST);
    let mut text = HEAD.to_owned();
    for name in &names {
        text += name;
        text.push('\n');
    }
    std::fs::write(&list, text).map_err(|error| format!("{}: {error}", list.display()))?;
    println!("{} functions in {}", names.len(), list.display());
    Ok(())
}

/// What is to be said where small jobs take more memory than they need, since functions they call stand elsewhere: a
/// twentieth of those did in a build whose trivial job took 7.8 MB, where one with a new list took 5.7.
///
/// Another compiler gives every function another name, so that a list says nothing of what a change has done; that is told on
/// stderr alone.
pub fn check(binary: &str) -> Result<(), String> {
    let list = root().join(LIST);
    let named = std::fs::read_to_string(&list).map_err(|error| format!("{LIST}: {error}"))?;
    let own = functions_of(binary)?;
    let (lost, all) = lost(
        &named,
        &own.iter().filter_map(|name| mangled(name)).collect(),
    );
    if lost * 10 > all {
        eprintln!(
            "note: {lost} of the {all} functions in {LIST} have another name by now, so that small jobs take more memory: \
             `cargo xtask order` writes it anew"
        );
        return Ok(());
    }
    let folder = tempfile::tempdir().map_err(|error| format!("a temporary folder: {error}"))?;
    let called = functions_called(binary, JOBS[0], folder.path())?;
    let called: BTreeSet<String> = called.into_iter().collect();
    let called = called.intersection(&own).filter_map(|name| mangled(name));
    match strewn(&named, &called.collect()) {
        (strewn, all) if strewn * 20 > all => Err(format!(
            "{strewn} of the {all} functions that a trivial job calls are not in {LIST}, so that it takes more memory: \
             `cargo xtask order` writes it anew"
        )),
        _ => Ok(()),
    }
}

/// How many of the functions called are not in a list, and how many there are.
fn strewn(list: &str, called: &BTreeSet<&str>) -> (usize, usize) {
    let listed: BTreeSet<&str> = list.lines().collect();
    (called.difference(&listed).count(), called.len())
}

/// How many functions of a list are not among those of the program, and how many it names.
fn lost(list: &str, own: &BTreeSet<&str>) -> (usize, usize) {
    let names: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
    let lost = names.iter().filter(|name| !own.contains(*name)).count();
    (lost, names.len())
}

/// The names in a program's table of symbols.
fn functions_of(binary: &str) -> Result<BTreeSet<String>, String> {
    let symbols = output("nm", &[binary])?;
    let names = symbols.lines().filter_map(|line| line.split(' ').nth(2));
    Ok(names.map(str::to_owned).collect())
}

/// Every function that a job came by.
fn functions_called(binary: &str, job: &[&str], folder: &Path) -> Result<Vec<String>, String> {
    let told = folder.join("callgrind");
    let file = folder.join("data").display().to_string();
    let out = format!("--callgrind-out-file={}", told.display());
    let mut words = vec!["--tool=callgrind", "--demangle=no", &out, binary, "fio"];
    words.push("--name=job");
    let job: Vec<String> = job.iter().map(|word| word.replace("FILE", &file)).collect();
    words.extend(job.iter().map(String::as_str));
    output("valgrind", &words)?;
    let told = std::fs::read_to_string(&told).map_err(|error| format!("{out}: {error}"))?;
    Ok(told.lines().filter_map(named_in).collect())
}

/// The function that a line of callgrind's gives a number: `fn=(12) name`, `cfn=(12) name`, with `'2` behind the name where
/// it called itself.
fn named_in(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("fn=(")?;
    let (_, name) = rest.split_once(") ")?;
    Some(name.split('\'').next()?.to_owned())
}

/// A name that Rust made, without what the optimiser put behind it.
fn mangled(name: &str) -> Option<&str> {
    let name = name.split(".llvm.").next()?;
    (name.starts_with("_ZN") || name.starts_with("_R")).then_some(name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{HEAD, lost, mangled, strewn};

    #[test]
    fn names_that_the_program_lost_are_counted() {
        let list = format!("{HEAD}_RNv1\n_ZN2\n_ZN3\n");
        let own = ["_RNv1.llvm.17", "_ZN3", "main"];
        let own: BTreeSet<&str> = own.iter().filter_map(|name| mangled(name)).collect();
        assert_eq!(lost(&list, &own), (1, 3));
    }
    #[test]
    fn functions_that_are_called_and_not_listed_are_counted() {
        let list = format!("{HEAD}_RNv1\n_ZN2\n");
        let called = ["_RNv1.llvm.17", "_RNv4", "_RNv5"];
        let called: BTreeSet<&str> = called.iter().filter_map(|name| mangled(name)).collect();
        assert_eq!(strewn(&list, &called), (2, 3));
    }
}
