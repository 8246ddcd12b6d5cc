//! What is refused, with words that users know, its place, and a hint.

use super::{SD_WD, memory, read_with};

/// `text` is refused: one of the complaints has `message`, and points at `place` (line, column).
#[track_caller]
pub(super) fn check(text: &str, message: &str, place: (usize, usize)) {
    let Err(complaints) = read_with(text, "") else {
        panic!("taken: {text}");
    };
    let found = complaints
        .0
        .iter()
        .find(|one| one.message.contains(message));
    let found = found.unwrap_or_else(|| panic!("no `{message}` in\n{complaints}"));
    let location = found
        .location
        .as_ref()
        .unwrap_or_else(|| panic!("no place: {found}"));
    assert_eq!((location.line, location.span.start + 1), place, "{found}");
    assert!(found.hint.is_some(), "{found}");
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_file() {
    for first in ["", "* test\n"] {
        let text = format!("\u{feff}{first}{SD_WD}rd=rd1,wd=wd1,iorate=max");
        assert!(read_with(&text, "").is_ok(), "{text}");
    }
}

#[test]
fn what_is_no_text_is_refused_in_one_line() {
    for (text, expected) in [
        (
            "\u{fffd}ELF\0\0=\0\n\0=\n",
            "`p` is no text: it holds zero bytes",
        ),
        (
            "\u{fffd}\u{fffd}s\0d\0=\0x\0\n\0",
            "`p` is in UTF-16, and Vdbench reads UTF-8 alone",
        ),
    ] {
        let Err(complaints) = read_with(text, "") else {
            panic!("taken: {text:?}");
        };
        let told: Vec<_> = complaints.0.iter().map(|one| &one.message).collect();
        assert_eq!(told, [expected]);
    }
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one line for each row of the table of errors"
)]
fn errors_of_the_real_program_are_told_in_its_words() {
    let rd = "rd=rd1,wd=wd1,iorate=max";
    check(
        "sd=sd1, lun=/x,size=1m\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max",
        "No lun name specified for sd=sd1",
        (1, 4),
    );
    let dashed = "sd=sd-1-1,lun=/x,size=1m\nwd=w1,sd=(sd-1-1)\nrd=rd1,wd=w1,iorate=max\n";
    check(
        dashed,
        "Could not find sd=sd for wd=w1,host=localhost",
        (2, 11),
    );
    check(
        "sd=sd1,lun=/x,size=1m\nwd=w1,sd=sd9\nrd=rd1,wd=w1,iorate=max",
        "Could not find sd=sd9 for wd=w1,host=localhost",
        (2, 10),
    );
    check(
        &format!("{SD_WD}{rd},elapsed=5s"),
        "Exception during reading of input parameter file(s).",
        (3, 34),
    );
    check(
        "sd=sd1,lun=/x,size=1m\nhd=h1,system=h1\n",
        "Unknown keyword: system",
        (2, 7),
    );
    check("foo=1\nrd=rd1", "Unknown keyword: foo", (1, 1));
    check(
        &format!("{SD_WD}{rd}\nwd=wd2,sd=sd1\n"),
        "the 'wd=' parameter may be specified only once per RD",
        (4, 1),
    );
    check(
        "sd=sd1,lun=/x,size=1m\nsd=sd1,lun=/y,size=1m\nrd=r",
        "An SD can only be defined once: sd=sd1",
        (2, 4),
    );
    check(
        &format!("{SD_WD}{rd},elapsed=10,interval=3"),
        "'elapsed=10' must be multiple of 'interval=3'.",
        (3, 4),
    );
    check(
        &format!("{SD_WD}{rd},elapsed=10,interval=2,warmup=3"),
        "'warmup=3' must be multiple",
        (3, 4),
    );
    check(
        &format!("{SD_WD}{rd},elapsed=3,interval=3"),
        "at least twice 'interval=3'",
        (3, 4),
    );
    check(
        "sd=sd1,lun=/x\nwd=w,sd=sd1,xfersize=(8k,50,64k,40)\nrd=r",
        "percentages must total 100",
        (2, 13),
    );
    check(
        &format!("{SD_WD}rd=rd1,wd=wd1,iorate=(10,20,curve)"),
        "Mix of alpha and numeric values not allowed",
        (3, 15),
    );
    check(
        "sd=sd1,lun=/x\nwd=w,sd=sd1,threads=4\nrd=r",
        "means nothing without `concatenatesds=yes`",
        (2, 13),
    );
    check(
        "sd=sd1,lun=/x,size=$SIZE\nrd=r",
        "Unknown variable substitution request in parameter file: `$SIZE`",
        (1, 20),
    );
    check(
        "sd=sd1,lun=/x\nwd=sd1,sd=sd1\nrd=r",
        "Trying to add report name twice",
        (2, 4),
    );
    let skewed = "sd=sd1,lun=/x,size=1g\nwd=default,sd=sd1\nwd=a,skew=50\nwd=b,skew=30\nrd=rd1,wd=*,iorate=100";
    check(skewed, "Total skew must add up to 100: 80", (5, 4));
}

#[test]
fn traps_that_end_in_an_error_are_explained() {
    check(
        "sd=sd1,lun=\"/x,size=1m\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max",
        "the double quote is not closed",
        (1, 12),
    );
    for (text, explained) in [
        (
            "sd=sd1,lun=/x,size=1m\nwd=w1,sd=(sd-1-1)\nrd=r,wd=w1,iorate=max",
            "put the name in double quotes: (\"sd-1-1\")",
        ),
        (
            "sd=sd1, lun=/x\nrd=r",
            "the blank ends the line: `lun=/x` is a comment",
        ),
        (
            "sd=sd1,lun=/x\nhd=h1,system=h1\nrd=r",
            "is read as that SD's `host=`",
        ),
        (
            "sd=sd1,lun=/x\nwd=w,sd=sd1\nsd=sd2,lun=/y\nrd=r",
            "it belongs to an `sd=`, and those come before `wd=`",
        ),
        (
            "sd=sd1,lun=/x\nwd=w,sd=sd1\nrd=r,wd=w,iorate=max,elapsed=90s",
            "`elapsed=90`; `m` and `h` are minutes and hours",
        ),
        (
            "sd=sd1,lun=/dev/sdx\nwd=w,sd=sd1\nrd=r,wd=w,iorate=max",
            "add `openflags=o_direct`",
        ),
    ] {
        let complaints = read_with(text, "").unwrap_err().to_string();
        assert!(complaints.contains(explained), "{complaints}");
    }
}

/// `text` is refused with a complaint that names the construct, its line and what to do.
#[track_caller]
pub(super) fn names(text: &str, named: &str, line: usize, remedy: &str) {
    let Err(complaints) = read_with(text, "") else {
        panic!("taken: {text}");
    };
    let told = complaints.0.iter().any(|one| {
        let at = one.location.as_ref().map(|location| location.line);
        let hint = one.hint.as_deref().unwrap_or_default();
        one.message.contains(named) && at == Some(line) && hint.contains(remedy)
    });
    assert!(told, "{named} in line {line}, {remedy}:\n{complaints}");
}

/// However often a line is repeated, what it defines is counted.
#[test]
fn definitions_have_a_limit_in_all() {
    let line = "fsd=f,anchor=/a*,depth=1,width=1,files=1,size=4k,count=(1,10000)\n";
    names(&line.repeat(300), "over 20000 FSDs are defined", 3, "fewer");
    let line = "sd=s,lun=/a*,size=1g,count=(1,10000)\n";
    names(
        &line.repeat(300),
        "over 100000 SDs are defined",
        11,
        "fewer",
    );
}

#[test]
fn a_stride_is_of_seeks_alone() {
    let pure = "stride=(min,max) not supported when doing pure sequential I/O";
    for (words, named, remedy) in [
        ("seekpct=seq", pure, "`seekpct=100`"),
        ("seekpct=eof", pure, "`seekpct=100`"),
        ("seekpct=50", "`stride=`", "leave out"),
        ("rhpct=50", "`stride=`", "leave out"),
    ] {
        let wd = format!("wd=wd1,sd=sd1,stride=(1m,1m),{words}");
        let text = format!("sd=sd1,lun=/x,size=1g\n{wd}\nrd=rd1,wd=wd1,iorate=max");
        names(&text, named, 2, remedy);
    }
}

#[test]
fn words_of_a_format_that_need_others_are_refused_without_them() {
    let with = |words: &str| {
        format!(
            "fsd=f,anchor=/a,files=9\nfwd=w,fsd=f,operation=read\nrd=r,fwd=w,fwdrate=max,format={words}"
        )
    };
    // This would remove what it calls complete.
    let both = "'format=complete' are mutually exclusive";
    for words in ["complete", "(yes,complete)"] {
        names(&with(words), both, 3, "`format=no`");
    }
    let alone = "requires the use of 'format=(only,limited)'";
    names(&with("(restart,limited)"), alone, 3, "`only`");
    for words in ["(no,complete)", "(only,limited)", "(clean,limited)"] {
        read_with(&with(words), "").unwrap();
    }
}

#[test]
fn what_no_file_system_holds_is_told_where_it_stands() {
    let text = |fsd: &str, rd: &str| {
        format!(
            "fsd=f,anchor=/a,{fsd}\nfwd=w1,fsd=f\nfwd=w2,fsd=f,operation=getattr\n\
             rd=r,fwd=w*,fwdrate=max,elapsed=9,format=yes{rd}"
        )
    };
    for counts in ["depth=0", "width=0,files=9", "files=0"] {
        let message = format!("`{}`: not possible", counts.split(',').next().unwrap());
        let place = 1 + "fsd=f,anchor=/a,".len() + counts.find('=').unwrap() + 1;
        check(&text(counts, ""), &message, (1, place));
    }
    let many = text("depth=3,width=1000", "");
    let message = "fsd=f: `/a` has 1001001000 directories";
    check(&many, message, (1, 5));
    // Once, and not for each of the jobs on it.
    assert_eq!(read_with(&many, "").unwrap_err().0.len(), 1);
    let looped = |rd: &str, message: &str| check(&text("files=9", rd), message, (4, 46));
    looped(
        ",forwss=(500%,4k)",
        "`forwss=(500%,4k)`: 500% is not possible",
    );
    looped(",forfiles=(0,9)", "`forfiles=(0,9)`: 0 is not possible");
}

#[test]
fn a_wrong_rate_is_not_told_to_be_missing_too() {
    for rate in ["abc", "()", "0", "(10,20,curve)", "(1-9,0)"] {
        let complaints = read_with(&format!("{SD_WD}rd=r,wd=wd1,iorate={rate}"), "").unwrap_err();
        assert_eq!(complaints.0.len(), 1, "{complaints}");
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = "sd=sd1,lum=/x\nwd=wd1,sd=sd2,xfersize=4q\nrd=rd1,wd=wd1,iorate=max,elapsed=1x\n";
    let complaints = read_with(text, "").unwrap_err();
    let told = complaints.to_string();
    for part in [
        "Unknown keyword: lum",
        "did you mean `lun`?",
        "No lun name",
        "`4q`",
        "`1x`",
        "Could not find sd=sd2",
        "p:3:34",
    ] {
        assert!(told.contains(part), "no {part} in\n{told}");
    }
}

#[test]
fn substitutions_must_fit() {
    let text = "sd=sd1,lun=$where/f,size=!size\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max\n";
    let input = read_with(text, "where=/mnt size=2g").unwrap();
    assert_eq!(input.sds[0].paths[0].lun, "/mnt/f");
    assert_eq!(input.sds[0].size, Some(2 << 30));
    let unused = read_with(text, "where=/mnt size=2g sise=1g")
        .unwrap_err()
        .to_string();
    assert!(unused.contains("`sise=` replaces"), "{unused}");
    // Of `size` and `sizes`, the longer name is replaced.
    let longer = read_with(
        &text.replace("!size", "!sizes"),
        "where=/mnt size=2g sizes=1g",
    );
    assert!(longer.is_err(), "`size` is used nowhere");
}

#[test]
fn included_files_are_found_beside_their_file_and_one_level_deep() {
    let words =
        |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
    let rest = "wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max\n";
    let outer = format!("include=luns\n{rest}");
    let files = memory(&[("d/outer", &outer), ("d/luns", "sd=sd1,lun=/x\n")]);
    assert_eq!(
        super::super::read(&words("-f d/outer"), &files)
            .unwrap()
            .sds
            .len(),
        1
    );
    let files = memory(&[
        ("outer", &outer),
        ("luns", "include=more\n"),
        ("more", "sd=sd1,lun=/x\n"),
    ]);
    let complaints = super::super::read(&words("-f outer"), &files)
        .unwrap_err()
        .to_string();
    assert!(
        complaints.contains("luns:1:1") && complaints.contains("one level"),
        "{complaints}"
    );
    let complaints = super::super::read(&words("-f gone"), &files)
        .unwrap_err()
        .to_string();
    assert!(complaints.contains("`gone` cannot be read"), "{complaints}");
}

#[test]
fn what_would_grow_without_end_is_refused() {
    let many = |parameter: &str| format!("{SD_WD}rd=rd1,wd=wd1,iorate=max,{parameter}");
    for text in [
        many("forthreads=(1-1000000,1)"),
        many("forthreads=(1-200,1),forrdpct=(0-100,1)"),
        many("forthreads=(1-5,0)"),
        "sd=sd1,lun=/x,count=(1,1000000000)\nrd=r".to_owned(),
        "hd=a,clients=100000\nrd=r".to_owned(),
        "sd=s,lun=/a*,count=(1,9000)\nwd=w,sd=s*\nrd=r,wd=w,sd=range,iorate=9".to_owned(),
        "sd=(sd1-sd99999999)\nrd=r".to_owned(),
    ] {
        assert!(read_with(&text, "").is_err(), "{text}");
    }
}

#[test]
fn what_takes_too_much_memory_to_describe_is_refused() {
    let check = |text: &str, expected: &str| {
        let complaints = read_with(text, "").unwrap_err().to_string();
        assert!(complaints.contains(expected), "{complaints}");
        assert!(complaints.contains("use fewer SDs"), "{complaints}");
    };
    let end = "elapsed=10,interval=1";
    // A thousand sizes for each of thousands of jobs.
    check(
        &format!(
            "sd=s,lun=/a*,size=1g,count=(1,9000)\nwd=w,sd=*,xfersize=(4k,4m,4k)\nrd=r,wd=w,iorate=max,{end}"
        ),
        "take over 96 MiB to describe",
    );
    // A name that every job and every run repeats.
    let name = "r".repeat(100_000);
    check(
        &format!("{SD_WD}rd={name},wd=wd1,iorate=max,{end},forthreads=(1-1000)"),
        "take over 96 MiB to describe",
    );
    check(
        &format!(
            "fsd=f,anchor=/a*,depth=1,width=1,files=1,size=4k,count=(1,10000)\nfwd=w,fsd=f*\n\
             rd=r,fwd=w,fwdrate=max,{end},forthreads=(1-20)"
        ),
        "to describe",
    );
    check(
        &format!(
            "sd=s,lun=/a*,size=1g,count=(1,60000)\nwd=w1,sd=*\nwd=w2,sd=*\nrd=r,wd=w*,iorate=max,{end}"
        ),
        "over 100000 jobs in all runs",
    );
}

#[test]
fn hosts_find_their_own_path_to_an_sd() {
    let input = super::read(
        "hd=a\nhd=b\nhd=c1\nsd=s,host=a,lun=/x,host=(b,c*),lun=/y,host=c1,lun=/z\nwd=w,sd=s\nrd=r,wd=w,iorate=max",
    );
    let jobs = &input.workload.stages[0].jobs;
    let found = jobs
        .iter()
        .map(|job| (job.host.as_deref().unwrap(), job.targets[0].place.path()));
    assert_eq!(
        found.collect::<Vec<_>>(),
        [("a", "/x"), ("b", "/y"), ("c1", "/y")]
    );
}

/// `text` is refused by one complaint alone, which has `message`, points at `place` and says `remedy`.
#[track_caller]
pub(super) fn once(text: &str, message: &str, place: (usize, usize), remedy: &str) {
    let Err(complaints) = read_with(text, "") else {
        panic!("taken: {text}");
    };
    assert_eq!(complaints.0.len(), 1, "{complaints}");
    check(text, message, place);
    let hint = complaints.0[0].hint.as_deref().unwrap_or_default();
    assert!(hint.contains(remedy), "{complaints}");
}

#[test]
fn a_number_that_is_too_large_is_told_the_most() {
    for (elapsed, remedy) in [
        ("0", "give a whole number of at least 1"),
        (
            "9000000000000001",
            "give less: 9,000,000,000,000,000 at most",
        ),
    ] {
        let text = format!("{SD_WD}rd=r,wd=*,iorate=max,elapsed={elapsed}");
        let place = (
            SD_WD.lines().count() + 1,
            "rd=r,wd=*,iorate=max,elapsed=".len() + 1,
        );
        once(
            &text,
            &format!("`elapsed={elapsed}`: not possible"),
            place,
            remedy,
        );
    }
}

#[test]
fn a_fault_is_told_once_and_not_again_by_what_follows_from_it() {
    let blank = "the blank ends the line: `lun=/x,size=1m` is a comment and is not read";
    once(
        "sd=sd1, lun=/x,size=1m\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max",
        &format!("No lun name specified for sd=sd1: {blank}"),
        (1, 4),
        "remove the blank",
    );
    once(
        "sd=sd1,lun=/x,size=1m\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1, iorate=max",
        "no I/O rate is given: the blank ends the line",
        (3, 4),
        "remove the blank",
    );
    once(
        "sd=sd1,size=1m\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max",
        "No lun name specified for sd=sd1",
        (1, 4),
        "add `lun=`",
    );
    let files = "fsd=f,anchor=/a,files=1,sizes=4k\nfwd=w,fsd=f,operation=read\n";
    once(
        &format!("{files}rd=r,fwd=x,fwdrate=max"),
        "Could not find fwd=x for rd=r",
        (3, 10),
        "define it with `fwd=`",
    );
    once(
        &format!("{files}rd=r,fwd=w, fwdrate=max"),
        "No fwdrate= specified for rd=r: the blank ends the line",
        (3, 4),
        "remove the blank",
    );
}

#[test]
fn what_is_wrong_with_a_value_points_at_the_value() {
    let files = "fsd=f,anchor=/a,files=1,sizes=4k\nfwd=w,fsd=f,operation=read\n";
    let format = |value: &str| format!("{files}rd=r,fwd=w,fwdrate=max,format={value}");
    check(&format("odd"), "`format=odd` is not known", (3, 31));
    check(&format("(yes,odd)"), "`format=odd` is not known", (3, 36));
    check(&format("(yes,complete)"), "mutually exclusive", (3, 32));
    let rate = |value: &str| format!("{SD_WD}rd=rd1,wd=wd1,iorate={value}");
    check(&rate("-1"), "`iorate=-1`: a rate is not below 0", (3, 22));
    check(
        &rate("(100,-5)"),
        "`iorate=-5`: a rate is not below 0",
        (3, 27),
    );
    check(&rate("20000%"), "20000% is no rate", (3, 15));
}

#[test]
fn what_follows_from_an_unknown_word_is_not_told_beside_it() {
    once(
        &format!("{SD_WD}rd=rd1,wd=wd1,iorat3=100"),
        "Unknown keyword: iorat3",
        (3, 15),
        "did you mean `iorate`?",
    );
    once(
        "sd=sd1,lun=/x,size=$SIZE\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max",
        "Unknown variable substitution request in parameter file: `$SIZE`",
        (1, 20),
        "give its value behind the files",
    );
    let files = "fsd=f,anchor=/a,files=1,sizes=4k\nfwd=w,fsd=f,operation=fly\n";
    once(
        &format!("{files}rd=r,fwd=w,fwdrate=max"),
        "`operation=fly` is not known",
        (2, 23),
        "known are mkdir",
    );
    once(
        "sd=sd1,lun=/x,size=1m\nwd=w,xfersize=4k\nrd=r1,wd=w,iorate=1\nrd=r2,wd=w,iorate=1",
        "No sd= specified for wd=w in rd=r1",
        (2, 4),
        "name its storage",
    );
    once(
        "sd=sd1,lun=/x,size=1m\nwd=w, sd=sd1\nrd=r1,wd=w,iorate=1\nrd=r2,wd=w,iorate=1",
        "the blank ends the line: `sd=sd1`",
        (2, 4),
        "remove the blank",
    );
    once(
        "sd=sd1,lun=/x,size=1m\nwd=w,sd=sd1,skew=50,iorate=5\nrd=r,wd=w,iorate=1",
        "`skew=` and `iorate=` exclude each other",
        (2, 4),
        "leave one",
    );
    once(
        &format!("pattern=/nothere\n{SD_WD}rd=r,wd=wd1,iorate=1"),
        "`pattern=/nothere` cannot be read",
        (1, 1),
        "name a file",
    );
    once(
        &format!("{SD_WD}rd=r,wd=wd1,iorate=1,maxdata=-5"),
        "`maxdata=-5`: not possible",
        (3, 22),
        "give bytes",
    );
    once(
        &format!("=\n{SD_WD}rd=r,wd=wd1,iorate=1"),
        "no keyword",
        (1, 1),
        "keyword=value",
    );
    once(
        &format!("include=p\n{SD_WD}rd=r,wd=wd1,iorate=1"),
        "`p` includes itself",
        (1, 1),
        "remove the line",
    );
}

#[test]
fn the_rest_of_a_line_that_stands_too_late_is_not_told_of() {
    let text = "wd=w,sd=sd1\nsd=sd1,lun=/x,size=1m\nrd=r,wd=w,iorate=1";
    let complaints = read_with(text, "").unwrap_err();
    let unknown = complaints
        .0
        .iter()
        .filter(|one| one.message.contains("Unknown keyword"));
    assert_eq!(unknown.count(), 1, "{complaints}");
    let text = "sd=sd1,lun=/x,size=1m\nhd=h1,system=h1\nwd=w,sd=sd1\nrd=r,wd=w,iorate=1";
    let complaints = read_with(text, "").unwrap_err();
    assert!(!complaints.to_string().contains("host=h1"), "{complaints}");
}

#[test]
fn priorities_are_those_that_are_asked_for() {
    let refused = |[first, second]: [&str; 2], message: &str| {
        let text = format!(
            "sd=s,lun=/f,size=1g\nwd=w1,sd=s{first}\nwd=w2,sd=s{second}\nrd=r,wd=w*,iorate=max"
        );
        check(&text, message, (4, 4));
    };
    let lacks = "A workload with iorate= also must have priority= specified: wd=w2";
    refused(["", ",iorate=5"], lacks);
    let all = "ALL workloads must have a (different) priority";
    refused([",priority=1", ""], all);
    refused([",priority=1", ",priority=1"], all);
    refused(
        [",priority=1", ",priority=3"],
        "numeric sequence starting at 1",
    );
    refused(
        [",priority=1", ",priority=2,iorate=5"],
        "must have a higher priority than workloads that do NOT specify iorate=: wd=w2",
    );
}

#[test]
fn going_on_for_ever_is_refused_for_what_it_is() {
    let text = format!("{SD_WD}rd=r,wd=wd1,iorate=max");
    for line in ["-l", "-l -s"] {
        let complaints = read_with(&text, line).err().unwrap();
        let told = complaints.to_string();
        assert!(
            told.contains("`-l` without a number goes on for ever"),
            "{told}"
        );
    }
}
