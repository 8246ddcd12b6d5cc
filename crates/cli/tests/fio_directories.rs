//! `fathom fio` makes missing directories of file names, as fio does.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Paths in and below a folder and, of directories, rights.
type Tree = Vec<(PathBuf, Option<u32>)>;

/// What lies in and below a folder.
fn tree(folder: &Path) -> Tree {
    let mut found = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(folder).unwrap().to_owned();
            found.push((name, metadata.is_dir().then_some(metadata.mode())));
            if metadata.is_dir() {
                left.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Exit code, standard error and what is left in the folder `x`, of ours or of fio's.
fn left_by(theirs: bool, words: &str) -> (Option<i32>, String, Tree) {
    let folder = support::disk_folder();
    let place = folder.path().join("x");
    std::fs::create_dir(&place).unwrap();
    let mut command = support::fio(folder.path(), theirs);
    command.args(["--name=a", "--size=64k", "--output-format=json"]);
    command.args(words.split_whitespace());
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), stderr, tree(&place))
}

/// Both end with `code` and leave the same; ours names the deepest directory that it makes.
#[track_caller]
fn alike(words: &str, code: i32, named: Option<&str>) {
    let (ours, stderr, tree) = left_by(false, words);
    let theirs = left_by(true, words);
    assert_eq!(
        (ours, theirs.0),
        (Some(code), Some(code)),
        "fio {words}\n{stderr}"
    );
    assert_eq!(tree, theirs.2, "after fio {words}\n{stderr}");
    match named {
        Some(name) => {
            let is_told = stderr.contains("missing director") && stderr.contains(name);
            assert!(is_told, "fio {words}\n{stderr}");
        }
        None => assert!(!stderr.contains("will be made"), "fio {words}\n{stderr}"),
    }
}

#[test]
fn directories_of_names_are_made_and_stay() {
    let (one, two) = (Some("x/y/z`"), Some("x/1`"));
    alike("--filename=x/y/z/f --rw=write", 0, one);
    alike("--filename=x/y/z/f --rw=read", 0, one);
    alike("--filename=x/y/z/f --rw=write --unlink=1", 0, one);
    alike("--filename=x/y/z/f --rw=write --create_on_open=1", 0, one);
    alike(
        "--filename=x/y/z/f --rw=write --ioengine=mmap --create_only=1",
        0,
        one,
    );
    alike("--filename=x/y/z/f --ioengine=filedelete", 0, one);
    alike("--directory=x --filename=y/z/f --rw=write", 0, one);
    let format = "--filename_format=x/$jobnum/$filenum --nrfiles=2 --numjobs=2 --rw=write";
    alike(format, 0, two);
    // What is there is not told of.
    alike("--filename=x/f --rw=write", 0, None);
}

#[test]
fn no_others_are_made() {
    alike("--directory=x/y --rw=write", 1, None);
    alike("--directory=x/y --filename=z/f --rw=write", 1, None);
    alike("--filename=x/y/f --rw=write --ioengine=null", 0, None);
    alike("--filename=x/y/f --ioengine=filecreate", 1, None);
    alike("--filename=x/y/f --rw=write --parse-only", 0, None);
}

/// fio makes those of a job's first file alone, and fails at the second.
#[test]
fn directories_of_all_files_are_made() {
    let (code, stderr, tree) = left_by(false, "--filename=x/y/z/f:x/1/g --rw=randrw");
    let names: Vec<_> = tree
        .iter()
        .map(|(path, _)| path.to_str().unwrap())
        .collect();
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(names, ["1", "1/g", "y", "y/z", "y/z/f"]);
    assert!(
        stderr.contains("x/1`, `") && stderr.contains("x/y/z`"),
        "{stderr}"
    );
}

/// What is refused before any I/O makes nothing; fio has made its directories by then.
#[test]
fn what_is_refused_leaves_nothing() {
    for words in [
        "--filename=x/y/f --rw=write --allow_file_create=0",
        "--filename=x/y/f --rw=read --readonly",
        "--filename=x/y/f --rw=write --size=8000t",
        "--filename=x/y/../f --rw=write",
    ] {
        let (code, stderr, tree) = left_by(false, words);
        assert_ne!(code, Some(0), "{words}\n{stderr}");
        assert_eq!(tree, [], "{words}\n{stderr}");
    }
}

#[test]
fn predictions_and_explanations_make_none() {
    let folder = support::disk_folder();
    let design = support::example("designs/premium-ssd.toml");
    let job = [
        "fio",
        "--name=a",
        "--filename=y/f",
        "--size=64k",
        "--rw=write",
    ];
    for before in [vec!["explain"], vec!["predict", "--on", &design]] {
        let words: Vec<&str> = before.into_iter().chain(job).collect();
        support::run(folder.path(), &words);
        assert!(!folder.path().join("y").exists(), "{words:?}");
    }
}
