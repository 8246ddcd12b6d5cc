//! DISKSPD's profiles in XML: what they say, every dialect is told of as of the line that asks for the same, and the line
//! that they become asks for them.

use std::io;

use fathom_dialects::diskspd::{read, write_profile};
use fathom_dialects::fio::{FileStatus, Files};
use fathom_units::{Bytes, Percent};
use fathom_workload::{Placement, Workload, native};

use super::{Dialect, convert, normal_form, told};

/// A folder that holds one profile.
struct OneProfile(String);

impl Files for OneProfile {
    fn read_text(&self, path: &str) -> io::Result<String> {
        match path {
            "p.xml" => Ok(self.0.clone()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn status(&self, _: &str) -> FileStatus {
        FileStatus::Missing
    }
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn of_line(line: &str) -> Workload {
    let none = OneProfile(String::new());
    read(&words(line), 0, &none)
        .unwrap_or_else(|errors| panic!("{line}: {errors}"))
        .workload
}

/// The profile that DISKSPD writes of a line, with `-Rpxml`.
fn profile_of(line: &str) -> String {
    let none = OneProfile(String::new());
    let input = read(&words(&format!("-Rpxml {line}")), 0, &none);
    write_profile(
        &input.unwrap_or_else(|errors| panic!("{line}: {errors}")),
        "diskspd",
    )
}

fn of_profile(profile: String) -> Workload {
    let input = read(&words("-Xp.xml"), 0, &OneProfile(profile));
    input.unwrap_or_else(|errors| panic!("{errors}")).workload
}

#[test]
fn profiles_become_what_their_lines_become_and_come_back() {
    for line in [
        "-b8K -d30 -W5 -o32 -t4 -r -w30 -Sh -L -Zr -c64M /d/a.dat",
        "-b64K -d10 -o8 -F4 -si -w100 -Suw -L -g1000 -c64M /d/a.dat /d/b.dat",
        "-b4K -d10 -F4 -O8 -r -L -c64M /d/a.dat /d/b.dat",
        "-b4K -d10 -rs50 -w25 -o4 -t2 -rdpct90/10:10/90 -c64M -Z1M -L /d/a.dat",
        "-b4K -d10 -r -o2 -t3 -rdabs50/16M:50/48M -c64M -L /d/a.dat",
        "-b4K -d10 -r -o2 -t3 -rdabs90/64K -c64M -L /d/a.dat",
        "-b4K -d10 -r -o2 -t3 -rdabs30/64K:0/1M:20/128K -L /d/a.dat",
        "-b4K -d10 -r -o2 -rdabs0/64K -c64M -L /d/a.dat",
        "-b4K -d10 -o4 -t2 -T1M -s64K -f32M -B4K -c64M -L /d/a.dat",
        "-b4K -d10 -o4 -t3 -T1M -s64K -w50 -L /d/a.dat",
        "-b4K -d10 -o4 -t2 -T1M -B4K -a0,1,2 -c64M -L /d/a.dat /d/b.dat /d/c.dat",
        "-b4K -d10 -o1 -t2 -T100K -s4K -Smw -L /d/a.dat /d/b.dat",
        "-b4K -d10 -o4 -t2 -r -c64M -L -D500 /d/a.dat",
        "-b4K -d5 -z7 -n -x -o2 -t1 -i5 -j10 -c64M -L /d/a.dat",
        "-b4K -d5 -C3 -a0 -I1 -fr -r -o2 -c64M -L /d/a.dat",
    ] {
        let (own, profile) = (of_line(&format!("-Rxml {line}")), profile_of(line));
        let read_back = of_profile(profile.clone());
        assert_eq!(
            normal_form(&read_back),
            normal_form(&own),
            "{line}\n{profile}"
        );
        for to in Dialect::ALL {
            let (from_line, from_profile) = (convert(&own, to, "x"), convert(&read_back, to, "x"));
            assert_eq!(from_line.text, from_profile.text, "{line}");
        }
        let written = convert(&read_back, Dialect::Diskspd, "x");
        assert!(!written.is_lossy(), "{line}: {:?}", told(&written));
        let lines = written.text.lines();
        let again: Vec<&str> = lines
            .filter_map(|line| line.strip_prefix("diskspd "))
            .collect();
        let [again] = again.as_slice() else {
            panic!("{line}: {again:?}");
        };
        let again = of_profile(profile_of(&again.replace(" -Rxml", "")));
        assert_eq!(normal_form(&again), normal_form(&own), "{line}");
    }
}

/// Several timespans are a line each; what one of them says is no other's.
#[test]
fn timespans_become_lines() {
    let (first, second) = (
        "-b8K -d3 -o4 -r -c1M -L /d/a",
        "-b64K -d4 -w100 -s -c1M -L /d/b",
    );
    let (head, body) = (profile_of(first), profile_of(second));
    let own = body.split_once("<TimeSpans>").unwrap().1;
    let own = own.split_once("</TimeSpans>").unwrap().0;
    let both = head.replace("</TimeSpans>", &format!("{own}</TimeSpans>"));
    let workload = of_profile(both);
    assert_eq!(workload.stages.len(), 2);
    let written = convert(&workload, Dialect::Diskspd, "x");
    assert!(!written.is_lossy(), "{:?}", told(&written));
    let lines = written.text.lines();
    let lines: Vec<&str> = lines
        .filter_map(|line| line.strip_prefix("diskspd "))
        .collect();
    assert_eq!(lines.len(), 2, "{}", written.text);
    for (stage, line) in workload.stages.iter().zip(lines) {
        let jobs = normal_form(&of_line(line)).stages.remove(0).jobs;
        let own = Workload {
            stages: vec![stage.clone()],
            ..workload.clone()
        };
        assert_eq!(jobs, normal_form(&own).stages.remove(0).jobs, "{line}");
    }
}

/// fio ends where its zones exceed the file, so that a range that goes on to the end is written with its length.
#[test]
fn ranges_that_go_on_to_the_end_fit_the_file_in_fio() {
    let known = convert(
        &of_line("-b4K -d10 -r -o2 -rdabs90/64K -c64M -L /d/a.dat"),
        Dialect::Fio,
        "x",
    );
    assert!(!known.is_lossy(), "{:?}", told(&known));
    let zones = "random_distribution=zoned_abs:90/64k:10/65472k\n";
    assert!(known.text.contains(zones), "{}", known.text);
    for line in [
        "-b4K -d10 -r -o2 -rdabs90/64K -L /d/a.dat",
        "-b4K -d10 -r -o2 -rdabs50/1M:25/1M:25/8M -f1536K -L /d/a.dat",
    ] {
        let written = convert(&of_line(line), Dialect::Fio, "x");
        assert!(written.is_lossy(), "{line}");
        assert!(!written.text.contains("=zoned_abs:"), "{}", written.text);
        assert!(written.text.contains("norandommap=1"), "{}", written.text);
    }
}

/// What threads of a pool share in order has no weights in fio, and the text is one that fio takes.
#[test]
fn a_pool_that_goes_in_order_is_written_for_fio() {
    let line = "-b64K -d10 -F3 -O1 -c1M -L /d/a.dat /d/b.dat";
    let written = convert(&of_line(line), Dialect::Fio, "x");
    let told = told(&written);
    assert!(written.is_lossy(), "{told:?}");
    assert!(!told.iter().any(|one| one.contains("refused")), "{told:?}");
    let drawn = "file_service_type=random\n";
    assert!(written.text.contains(drawn), "{}", written.text);
}

/// A part of random I/Os that is in order, as fio's `percentage_random` has it, is `-rs`; what else is asked of places is lost.
#[test]
fn random_ios_that_are_partly_in_order_are_a_share() {
    let with = |rules: Placement| {
        let mut workload = of_line("-b4K -d10 -r -o2 -c64M -L /d/a.dat");
        workload.stages[0].jobs[0].features.placement = Some(Box::new(rules));
        convert(&workload, Dialect::Diskspd, "x")
    };
    let rules = Placement {
        random: [Percent::whole(30).unwrap(); 3],
        ..Placement::default()
    };
    let share = with(rules.clone());
    assert!(!share.is_lossy(), "{:?}", told(&share));
    assert!(share.text.contains(" -rs30 -r4K "), "{}", share.text);
    // Of a direction without I/O nothing is asked.
    let reads = with(Placement {
        random: [rules.random[0], Percent::ALL, Percent::ALL],
        ..Placement::default()
    });
    assert!(reads.text.contains(" -rs30 -r4K "), "{}", reads.text);
    let aligned = |bytes| Placement {
        alignment: [Some(Bytes::new(bytes)); 3],
        ..rules.clone()
    };
    let own = with(aligned(4096));
    assert!(!own.is_lossy(), "{:?}", told(&own));
    assert!(own.text.contains(" -rs30 -r4K "), "{}", own.text);
    let wider = with(aligned(8192));
    assert!(wider.is_lossy(), "{:?}", told(&wider));
    let more = with(Placement {
        skip: 4096,
        ..rules
    });
    assert!(more.is_lossy(), "{:?}", told(&more));
}

/// A pause is no cool-down, in which DISKSPD goes on; the same once more, unmeasured, is one.
#[test]
fn what_goes_on_unmeasured_is_a_cool_down() {
    #[track_caller]
    fn check(cooldown: &str, second: &str, says: &[&str], loses: bool) {
        let job = "[[stage.job]]\nname = \"j\"\nblock = \"4KiB\"\naccess = \"independent\"\n";
        let text = format!(
            "target = {{ path = \"/d/a\", size = \"1MiB\" }}\n[[stage]]\nname = \"a\"\nwarmup = \"2s\"\n\
             measure = \"10s\"\ncooldown = \"{cooldown}\"\n{job}[[stage]]\nname = \"b\"\n{second}\n{job}"
        );
        let read = native::read(&text, "x");
        let (workload, _) = read.unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let converted = convert(&workload, Dialect::Diskspd, "x");
        let lines = converted.text.lines();
        let lines: Vec<&str> = lines.filter(|line| line.starts_with("diskspd ")).collect();
        assert_eq!(lines.len(), says.len(), "{}", converted.text);
        for (line, says) in lines.iter().zip(says) {
            assert!(line.contains(says), "no {says} in {line}");
            assert_eq!(line.contains("-C"), says.contains("-C"), "{line}");
        }
        let told = told(&converted).join("\n");
        assert_eq!(told.contains("cooldown: `5s`"), loses, "{told}");
    }
    let discarded = "measure = \"5s\"\ndiscard = true";
    check("0s", discarded, &["-d10 -W2 -C5 "], false);
    check("5s", discarded, &["-d10 -W2 ", "-d5 -W0 "], true);
    check("0s", "measure = \"5s\"", &["-d10 -W2 ", "-d5 -W0 "], false);
    let warmed = "measure = \"5s\"\nwarmup = \"1s\"\ndiscard = true";
    check("0s", warmed, &["-d10 -W2 ", "-d5 -W1 "], false);
}
