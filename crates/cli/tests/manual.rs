//! Completions and man pages, as real shells and real formatters take them.

mod support;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use support::{expect_code, fathom};

/// What a program says of a script on its standard input.
fn feed(program: &mut Command, script: &str) -> (String, String) {
    let name = format!("{program:?}");
    let output = try_feed(program, script);
    let output = output.unwrap_or_else(|error| panic!("{name} (`cargo xtask test`): {error}"));
    let [said, complained] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{name}: {complained}");
    (said, complained)
}

fn try_feed(program: &mut Command, script: &str) -> std::io::Result<Output> {
    let program = program.stdin(Stdio::piped());
    let child = program.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(script.as_bytes())?;
    }
    child.wait_with_output()
}

fn script(home: &Path, shell: &str) -> String {
    expect_code(home, &["completions", shell], 0).0
}

/// What bash offers for the last word of `line`, by the function that the script registers.
fn bash_offers(home: &Path, line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let last = words.len() - 1;
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let asked = format!(
        "{}\nCOMP_WORDS=({})\nCOMP_CWORD={last}\nset -- $(complete -p fathom)\n\
         while [ \"$1\" != -F ]; do shift; done\n\
         \"$2\" fathom '{}' '{}'\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        script(home, "bash"),
        quoted.join(" "),
        words[last],
        words[last - 1],
    );
    let bash = &mut Command::new("bash");
    let (said, complained) = feed(bash.arg("--norc").current_dir(home), &asked);
    assert_eq!(complained, "", "{line}");
    let said = said.lines().filter(|word| !word.is_empty());
    said.map(str::to_owned).collect()
}

#[test]
fn bash_completes() {
    let home = support::disk_folder();
    let home = home.path();
    std::fs::write(home.join("mine.design.toml"), "").unwrap();
    for (line, offered) in [
        ("fathom pre", &["predict"][..]),
        ("fathom compl", &["completions"]),
        ("fathom run q", &["quick"]),
        ("fathom run --dest", &["--destroy-data"]),
        ("fathom run quick --targ", &["--target"]),
        ("fathom run --dialect vdb", &["vdbench"]),
        ("fathom predict disksp", &["diskspd"]),
        ("fathom predict --on mine", &["mine.design.toml"]),
        ("fathom convert --to nat", &["native"]),
        ("fathom explain fact", &["factors"]),
        ("fathom profile n", &["new"]),
        ("fathom catalog show P3", &["P3", "P30"]),
        ("fathom report la", &["last"]),
        ("fathom completions z", &["zsh"]),
        ("fathom fio --na", &[]),
    ] {
        assert_eq!(bash_offers(home, line), offered, "{line}");
    }
}

#[test]
fn zsh_and_fish_take_their_scripts() {
    let home = support::disk_folder();
    let home = home.path();
    for (shell, check) in [("zsh", "-n"), ("fish", "--no-execute")] {
        let path = home.join(format!("completions.{shell}"));
        std::fs::write(&path, script(home, shell)).unwrap();
        let mut command = Command::new(shell);
        let (_, complained) = feed(command.env("HOME", home).arg(check).arg(&path), "");
        assert_eq!(complained, "", "{shell}");
    }
    let zsh = script(home, "zsh");
    let both = "{compadd -- quick fio diskspd";
    assert_eq!(zsh.matches(both).count(), 4, "files beside presets: {zsh}");
    let asked = format!(
        "{}\ncomplete -C 'fathom pred'\ncomplete -C 'fathom run qui'\ncomplete -C 'fathom catalog show P3'\n",
        script(home, "fish")
    );
    let mut fish = Command::new("fish");
    let (said, _) = feed(fish.env("HOME", home).arg("--no-config"), &asked);
    let words: Vec<&str> = said
        .lines()
        .filter_map(|line| line.split('\t').next())
        .collect();
    assert_eq!(words, ["predict", "quick", "P3", "P30"], "{said}");
}

/// Every verb has a page that formatters take without a complaint, with what the help does not hold.
#[test]
fn the_pages_are_man_pages() {
    let home = support::disk_folder();
    let pages = home.path().join("man1");
    let folder = pages.display().to_string();
    let (_, told) = expect_code(home.path(), &["man", &folder], 5);
    assert!(told.contains("make the folder first"), "{told}");
    std::fs::create_dir(&pages).unwrap();
    expect_code(home.path(), &["man", &folder], 0);
    let files = std::fs::read_dir(&pages).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let (help, _) = expect_code(home.path(), &["--help"], 0);
    for verb in ["run", "predict", "serve", "fio", "completions", "man"] {
        assert!(help.contains(&format!("\n  {verb} ")), "{help}");
        assert!(pages.join(format!("fathom-{verb}.1")).is_file(), "{verb}");
    }
    for file in &files {
        let name = file.display();
        let lint = Command::new("mandoc")
            .args(["-T", "lint", "-W", "warning"])
            .arg(file)
            .output();
        let lint = lint.unwrap_or_else(|error| panic!("mandoc (`cargo xtask test`): {error}"));
        let said = String::from_utf8_lossy(&lint.stdout);
        // Empty lines around lists of values are the renderer's; a date is not told.
        let known = ["skipping paragraph macro: br", "missing date"];
        let mut said = said
            .lines()
            .filter(|line| !known.iter().any(|known| line.contains(known)));
        assert_eq!(said.next(), None, "{name}");
        let text = std::fs::read_to_string(file).unwrap();
        for title in ["SYNOPSIS", "\"EXIT STATUS\"", "ENVIRONMENT"] {
            assert!(text.contains(&format!(".SH {title}\n")), "{name}: {title}");
        }
    }
    let main = std::fs::read_to_string(pages.join("fathom.1")).unwrap();
    for part in [
        ".SH EXAMPLES",
        ".SH FILES",
        "XDG_DATA_HOME",
        "\\fB7\\fR",
        "\\fB130\\fR",
    ] {
        assert!(main.contains(part), "{part}: {main}");
    }
}

#[test]
fn pages_are_replaced_and_other_files_are_not() {
    let home = support::disk_folder();
    let folder = home.path().join("man1");
    std::fs::create_dir(&folder).unwrap();
    let words = ["man", folder.to_str().unwrap()];
    expect_code(home.path(), &words, 0);
    let page = folder.join("fathom-run.1");
    let text = std::fs::read(&page).unwrap();
    std::fs::write(&page, &text[..60]).unwrap();
    expect_code(home.path(), &words, 0);
    assert_eq!(std::fs::read(&page).unwrap(), text);
    std::fs::write(&page, "mine").unwrap();
    std::fs::remove_file(folder.join("fathom.1")).unwrap();
    let (_, told) = expect_code(home.path(), &words, 4);
    assert!(told.contains("is no page of Fathom's"), "{told}");
    assert_eq!(std::fs::read(&page).unwrap(), b"mine");
    assert!(!folder.join("fathom.1").exists(), "nothing is written");
}

/// Help is output like any other: where it is lost, the program says so.
#[test]
fn help_that_is_lost_is_told() {
    let home = support::disk_folder();
    for words in [
        &["--help"][..],
        &["run", "--help"],
        &["--version"],
        &["completions", "bash"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let output = fathom(home.path())
            .args(words)
            .stdout(full.unwrap())
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(5), "{words:?}: {told}");
        assert!(
            told.contains("stdout cannot be written"),
            "{words:?}: {told}"
        );
    }
}
