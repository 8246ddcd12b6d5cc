//! What Vdbench takes and Fathom does not: each is refused by its name, with what to do instead.

use super::refused::names;
use super::{SD_WD, memory, read_with};

/// Every construct that docs/dialects says is refused.
#[test]
fn what_is_not_done_is_refused_by_name() {
    let rd = "rd=rd1,wd=wd1,iorate=max";
    for (first, named, remedy) in [
        ("validate=foo", "`validate=foo`", "read_after_write"),
        (
            "validate=ignore_zero_reads",
            "`validate=ignore_zero_reads`",
            "zeroes",
        ),
        ("showlba=yes", "`showlba=`", "--write_iolog="),
        ("auxreport=x", "`auxreport=`", "remove it"),
        ("swat=x", "`swat=`", "remove it"),
        ("pattern_buffer=x", "`pattern_buffer=`", "pattern=FILE"),
        ("deduphotsets=(1,2)", "`deduphotsets=`", "dedupratio="),
        ("dedupflipflop=hot", "`dedupflipflop=`", "dedupratio="),
        ("data_errors=cmd", "`data_errors=`", "a number"),
        ("data_errors=(5,cmd)", "several values", "leave one"),
        (
            "data_errors=5%",
            "`data_errors=5%`: not possible",
            "a whole number",
        ),
        ("report=foo", "`report=foo`", "host_detail"),
        ("histogram=(default,5m,1m)", "ascend", "shortest"),
        ("startcmd=ls", "`startcmd=`", "--run-commands"),
        ("endcmd=ls", "`endcmd=`", "--run-commands"),
    ] {
        names(&format!("* one\n{first}\n{SD_WD}{rd}"), named, 2, remedy);
    }
    for (parameter, named, remedy) in [
        ("replay=x", "`replay=`", "--read_iolog="),
        ("startcmd=ls", "`startcmd=`", "--run-commands"),
        ("forfiles=(1,2)", "`files`", "`fwd=`"),
    ] {
        names(&format!("{SD_WD}{rd},{parameter}"), named, 3, remedy);
    }
    let late = "fsd=fsd1,anchor=/a\nfwd=fwd1,fsd=fsd1\nfsd=fsd2,anchor=/b,depth=1\nrd=r,fwd=fwd1";
    let remedy = "those come before `fwd=`";
    names(late, "Unknown keyword: anchor", 3, remedy);
    for (wrong, name, remedy) in [
        ("rg=rg1,devices=x", "Unknown keyword: rg", "--read_iolog="),
        ("foo=1", "foo", ""),
    ] {
        names(&format!("* one\n{wrong}\n{SD_WD}{rd}"), name, 2, remedy);
    }
    let complaints = read_with(&format!("{SD_WD}{rd}"), "-vx").unwrap_err();
    let complaints = complaints.to_string();
    assert!(
        complaints.contains("no way of data validation"),
        "{complaints}"
    );
}

/// What cannot be checked is not run unchecked.
#[test]
fn data_validation_is_refused_where_it_cannot_be_done() {
    let rd = "rd=rd1,wd=wd1,iorate=max";
    for (general, rd, what) in [
        ("compratio=2", rd, "with `compratio=`"),
        ("dedupratio=2,dedupunit=4k", rd, "with `dedupratio=`"),
        (
            "concatenatesds=yes",
            "rd=rd1,wd=wd1,iorate=max,threads=2",
            "on SDs that are joined",
        ),
        (
            "data_errors=5",
            "rd=rd1,wd=wd1,iorate=max,forcompratio=(1,2)",
            "with `compratio=`",
        ),
    ] {
        let text = format!("validate=yes\n{general}\n{SD_WD}{rd}");
        names(&text, &format!("data validation is not done {what}"), 1, "");
        let text = format!("{general}\n{SD_WD}{rd}");
        let complaints = read_with(&text, "-v").unwrap_err().to_string();
        assert!(complaints.contains(what), "{complaints}");
    }
    let files = "validate=yes\nfsd=f,anchor=/a,depth=1,width=1,files=9,size=4k\nfwd=w,fsd=f,operation=read\n\
                 rd=r,fwd=w,fwdrate=max,elapsed=9,interval=1";
    names(
        files,
        "data validation is not done on file systems",
        1,
        "lun=FILE",
    );
}

/// What Vdbench is called for beside runs is told by its name, once.
#[test]
fn utilities_are_told_what_does_the_same() {
    for (line, part) in [
        ("compare old new", "`fathom compare A B`"),
        ("parse -i flatfile.html -o x", "flatfile.html"),
        ("sds", "`sd=`"),
    ] {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let Err(complaints) = crate::vdbench::read(&words, &memory(&[])) else {
            panic!("taken: {line}");
        };
        let told = complaints.to_string();
        assert!(told.contains("is a utility of Vdbench"), "{told}");
        assert!(told.contains(part), "{told}");
        assert_eq!(complaints.0.len(), 1, "{told}");
    }
}

/// What Vdbench takes and Fathom does not is refused for what it is, with what does the same.
#[test]
fn sizes_and_choices_that_are_not_done_name_what_is() {
    let fsd = "fsd=f,anchor=/a,files=1";
    for (text, said, remedy) in [
        (
            "sd=s,lun=/x,size=1g\nwd=w,sd=s\nrd=r,wd=w,iorate=max,forxfersize=(1k,1500)".to_owned(),
            "`forxfersize=(1500)`: a transfer size is no multiple of 512",
            "`wd=`",
        ),
        (
            "sd=s,lun=/x,size=1g\nwd=w,sd=s,xfersize=(1000,50,4k,50)\nrd=r,wd=w,iorate=max"
                .to_owned(),
            "no multiple of 512",
            "(size,percent",
        ),
        (
            "validate=yes\nsd=s,lun=/x,size=1g\nwd=w,sd=s,xfersize=1000\nrd=r,wd=w,iorate=max"
                .to_owned(),
            "data validation is not done with an `xfersize=` that is no multiple of 512",
            "remove `validate=`",
        ),
        (
            format!("{fsd},size=4k\nfwd=w,fsd=f,fileselect=empty\nrd=r,fwd=w,fwdrate=max"),
            "empty files are not selected",
            "`operation=create`",
        ),
        (
            format!("{fsd},size=0\nfwd=w,fsd=f\nrd=r,fwd=w,fwdrate=max"),
            "files of no bytes",
            "`operation=create`",
        ),
    ] {
        let words = ["-f", "p"].map(str::to_owned);
        let Err(complaints) = crate::vdbench::read(&words, &memory(&[("p", &text)])) else {
            panic!("taken: {text}");
        };
        let told = complaints.to_string();
        assert!(told.contains(said) && told.contains(remedy), "{told}");
    }
}

/// The same of what stands with an SD or a WD.
#[test]
fn what_is_not_done_with_a_storage_or_workload_is_refused_by_name() {
    let rd = "rd=rd1,wd=wd1,iorate=max";
    for (sd, wd, named, line, remedy) in [
        ("replay=x", "", "`replay=`", 1, "--read_iolog="),
        ("streams=2", "", "`streams=`", 1, "`wd=`"),
        ("", "user=class", "`user=`", 2, "remove it"),
        (
            "",
            "stride=(1m,2m)",
            "`stride=`",
            2,
            "the same number twice",
        ),
        ("", "streams=10001", "`streams=`", 2, "fewer"),
        ("", "rdpct=-1", "`rdpct=-1` is no percentage", 2, "0 to 100"),
        ("", "rhpct=50,seekpct=50", "`rhpct=`", 2, "seekpct=100"),
        ("", "rhpct=50,seekpct=poisson", "poisson", 2, "leave out"),
        (
            "",
            "hotband=(1,9),seekpct=poisson",
            "poisson",
            2,
            "leave out",
        ),
        ("", "hotband=(1,9),seekpct=50", "hot band", 2, "seekpct=100"),
        (
            "",
            "hotband=(1,9),rhpct=50",
            "hot band",
            2,
            "leave those out",
        ),
        ("", "hotband=9", "`hotband=9`", 2, "(10,20)"),
        (
            "",
            "hotband=(0.01,0.02)",
            "Minimum hotband size",
            2,
            "wider",
        ),
        ("", "range=(90,110)", "past 100 %", 1, "0 to 100"),
    ] {
        let comma = |text: &str| {
            if text.is_empty() {
                String::new()
            } else {
                format!(",{text}")
            }
        };
        let text = format!(
            "sd=sd1,lun=/x,size=1g{}\nwd=wd1,sd=sd1{}\n{rd}",
            comma(sd),
            comma(wd)
        );
        names(&text, named, line, remedy);
    }
    names(
        "sd=sd1,lun=/x\nwd=wd1,sd=sd1,hotband=(1,9)\nrd=rd1,wd=wd1,iorate=max",
        "size is not known",
        1,
        "size=",
    );
}

/// The same of runs on files.
#[test]
fn what_is_not_done_on_files_is_refused_by_name() {
    let fsd = "fsd=f,anchor=/a,depth=1,width=1,files=9,size=4k";
    let fwd = "fwd=w,fsd=f,operation=read";
    let rd = "rd=r,fwd=w,fwdrate=max,elapsed=9";
    for keyword in ["mask=x", "cleanup=yes", "streams=2", "dedupratio=2"] {
        let named = format!("`{}=`", keyword.split('=').next().unwrap());
        names(
            &format!("{fsd},{keyword}\n{fwd}\n{rd}"),
            &named,
            1,
            "remove it",
        );
    }
    names(
        &format!("{fsd}\n{fwd},logfile=x\n{rd}"),
        "`logfile=`",
        2,
        "remove it",
    );
    for (text, named, line) in [
        (format!("{fsd}\n{fwd}s\n{rd}"), "`operation=reads`", 2),
        (
            format!("{fsd}\n{fwd}\n{rd},operations=stat"),
            "`operations=stat`",
            3,
        ),
        (
            format!("{fsd}\n{fwd}\n{rd},foroperations=(read,stat)"),
            "`foroperations=stat`",
            3,
        ),
    ] {
        names(&text, named, line, "known are mkdir");
    }
    for (rates, named, remedy) in [
        ("fwdrate=50%", "has no run before it", "give a number"),
        ("fwdrate=0", "`fwdrate=0`: 0 is no rate", "`max` or `curve`"),
        (
            "fwdrate=(100,5),dist=variable",
            "variable",
            "an RD for each rate",
        ),
        ("fwdrate=max,format=odd", "`format=odd`", "restart"),
    ] {
        let rd = format!("rd=r,fwd=w,{rates},elapsed=9");
        names(&format!("{fsd}\n{fwd}\n{rd}"), named, 3, remedy);
    }
    // An FWD with a share that is used alone: Vdbench ends at that RD, after those before it.
    let alone = format!("{fsd}\n{fwd},skew=70\n{rd}");
    names(&alone, "Total skew must add up to 100: 70", 3, "skew=");
    let hosts = format!("hd=a\nhd=b\n{fsd}\n{fwd},host=(a,b)\n{rd}");
    names(
        &hosts,
        "several hosts work on fsd=f",
        4,
        "an FSD of its own",
    );
}
