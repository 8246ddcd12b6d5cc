//! Profiles in XML: read, written, and read again.

use fathom_diagnostics::Severity;
use fathom_units::Nanos;
use fathom_workload::{Access, FileChoice};

use super::*;

/// Two timespans that say most of what a profile can.
const PROFILE: &str = r#"<Profile>
  <Progress>0</Progress>
  <ResultFormat>xml</ResultFormat>
  <Verbose>true</Verbose>
  <PrecreateFiles>UseMaxSize</PrecreateFiles>
  <ETW><Process>true</Process><UsePerfTimer>false</UsePerfTimer></ETW>
  <TimeSpans>
    <TimeSpan>
      <MeasureLatency>true</MeasureLatency>
      <CalculateIopsStdDev>true</CalculateIopsStdDev>
      <IoBucketDuration>500</IoBucketDuration>
      <Duration>3</Duration>
      <Warmup>1</Warmup>
      <Cooldown>2</Cooldown>
      <RandSeed>17</RandSeed>
      <Affinity><AffinityGroupAssignment Group="0" Processor="1"/></Affinity>
      <Targets>
        <Target>
          <Path>a &amp; b.dat</Path>
          <BlockSize>8192</BlockSize>
          <FileSize>1048576</FileSize>
          <Random>8192</Random>
          <RandomRatio>30</RandomRatio>
          <WriteRatio>25</WriteRatio>
          <RequestCount>4</RequestCount>
          <ThreadsPerFile>2</ThreadsPerFile>
          <DisableOSCache>true</DisableOSCache>
          <WriteThrough>true</WriteThrough>
          <Throughput unit="IOPS">100</Throughput>
        </Target>
        <Target>
          <Path>*1</Path>
          <BlockSize>65536</BlockSize>
          <StrideSize>131072</StrideSize>
          <InterlockedSequential>true</InterlockedSequential>
          <ThreadsPerFile>3</ThreadsPerFile>
          <WriteBufferContent>
            <Pattern>random</Pattern>
            <RandomDataSource><SizeInBytes>1048576</SizeInBytes></RandomDataSource>
          </WriteBufferContent>
          <BurstSize>12</BurstSize>
          <ThinkTime>5</ThinkTime>
        </Target>
      </Targets>
    </TimeSpan>
    <TimeSpan>
      <ThreadCount>4</ThreadCount>
      <RequestCount>8</RequestCount>
      <RandSeed>18</RandSeed>
      <Targets>
        <Target><Path>x</Path><FileSize>1048576</FileSize><Random>4096</Random><Weight>3</Weight></Target>
        <Target><Path>y</Path><FileSize>2097152</FileSize><Random>4096</Random><Weight>1</Weight>
          <ThreadTargets><ThreadTarget><Thread>2</Thread></ThreadTarget><ThreadTarget><Thread>3</Thread><Weight>9</Weight></ThreadTarget></ThreadTargets>
        </Target>
      </Targets>
    </TimeSpan>
  </TimeSpans>
</Profile>
"#;

fn read_profile(text: impl Into<Vec<u8>>, line: &str) -> Result<DiskspdInput, Diagnostics> {
    read(&words(line), 0, &Named::with("p.xml", text))
}

#[test]
fn a_profile_says_everything_of_each_target() {
    let input = read_profile(PROFILE, "-Xp.xml E:\\z.dat").unwrap();
    assert!(input.is_xml());
    assert_eq!(input.targets(0), ["a & b.dat", "E:\\z.dat"]);
    let stages = &input.workload.stages;
    assert_eq!((stages.len(), input.workload.seed), (3, 17));
    let jobs = &stages[0].jobs;
    let job = &jobs[0];
    assert_eq!((job.workers, job.depth), (2, 4));
    assert_eq!(job.limits.runtime, Some(Nanos::from_secs(3)));
    assert_eq!(job.caching, Caching::Direct);
    assert!(matches!(job.access, Access::Mixed { .. }));
    assert_eq!(job.features.io_log.histogram, Some(Nanos::from_millis(500)));
    let gap = Bytes::kib(64);
    let scope = SequentialScope::Shared;
    assert_eq!(jobs[1].access, Access::Sequential { gap, scope });
    assert_eq!(jobs[1].features.think.unwrap().every, 4);
    let limits = stages[1].jobs[0].limits;
    assert!(stages[1].discard && limits.runtime == Some(Nanos::from_secs(2)));
    assert_eq!([0, 1, 2].map(|stage| input.span_of(stage)), [0, 0, 1]);
    // Threads of the second timespan that do not name the second target leave it alone.
    let jobs = &stages[2].jobs;
    let targets: Vec<usize> = jobs.iter().map(|job| job.targets.len()).collect();
    assert_eq!(targets, [1, 1, 2, 2]);
    let weights = |job: &Job| {
        let placement = job.features.placement.as_ref();
        placement.map(|it| it.target_distribution.to_string())
    };
    assert_eq!(jobs[2].file_choice, FileChoice::Random);
    assert_eq!(weights(&jobs[2]).unwrap(), "zoned_abs:75/1024B:25/1024B");
    assert_eq!(weights(&jobs[3]).unwrap(), "zoned_abs:25/1024B:75/1024B");
    // Another seed draws other offsets.
    assert!(jobs[0].salt != 0 && stages[0].jobs[0].salt == 0);
}

#[test]
fn a_line_goes_on_top_of_a_profile() {
    let input = read_profile(PROFILE, "-Xp.xml -d9 -W0 -C1 -z5 -Rtext z").unwrap();
    assert!(!input.is_xml());
    assert_eq!(input.workload.stages.len(), 4);
    for stage in &input.workload.stages {
        let seconds = if stage.discard { 1 } else { 9 };
        assert_eq!(
            stage.jobs[0].limits.runtime,
            Some(Nanos::from_secs(seconds))
        );
        assert_eq!(stage.jobs[0].limits.warmup, Nanos::ZERO);
        assert_eq!(stage.jobs[0].salt, 0);
    }
    let origins = origins(&input);
    let has = |option: &str, origin: &str| {
        let mut lines = origins.lines();
        let found = lines.any(|line| line.contains(option) && line.ends_with(origin));
        assert!(found, "no {option} of {origin} in\n{origins}");
    };
    has("-d 9 s", "command line");
    has("-w 25 % writes", "p.xml:24");
    has("-b 64KiB", "DISKSPD's default");
}

#[test]
fn a_profile_that_is_written_reads_as_before() {
    let all = [
        "-Rpxml -c1G -b4K -r -o8 -t3 -Sh -w30 -L -D100 -z7 -a0,2 f g",
        "-Rpxml -b8K -s16K -t2 -T1M -i5 -j7 -g300i -fr -fs -ft -l -I1 -v -P f",
        "-Rpxml -rdpct90/10:5/20 -rs40 -r8K -Sm -Nv -Z2M,x.bin -w100 f",
        "-Rpxml -rdabs90/1G -r4K -Swr -Zr -B1M:5G -n -x -F4 -O9 f",
        "-Rpxml -p -o3 -g500 -Z -C3 -W4 -d5 -ePROCESS E:\\<&>\".dat",
        "-Rpxml -vs -:1 -b4K -si8K -t2 -d1 -Su f",
    ];
    for line in all {
        let first = read(&words(line), 0, &Named::default());
        let first = first.unwrap_or_else(|errors| panic!("{line}\n{errors}"));
        let text = write_profile(&first, "diskspd");
        let again = read_profile(text.as_str(), "-Xp.xml -Rp");
        let again = again.unwrap_or_else(|errors| panic!("{text}\n{errors}"));
        let (mut written, mut read) = (first.profile, again.profile);
        for profile in [&mut written, &mut read] {
            for span in &mut profile.spans {
                span.given.clear();
                for target in &mut span.targets {
                    target.given.clear();
                    // The block's own size is written out.
                    target.align = Some(target.step());
                }
            }
        }
        assert_eq!(written, read, "{text}");
    }
}

#[test]
fn a_number_that_is_too_large_is_no_matter_of_digits() {
    for (size, hint) in [
        ("-1", "write digits alone"),
        ("99999999999999999999", "give less"),
    ] {
        let changed = format!("<Path>y</Path><BlockSize>{size}</BlockSize>");
        let text = PROFILE.replace("<Path>y</Path>", &changed);
        let Err(errors) = read_profile(text, "-Xp.xml z") else {
            panic!("{size} is taken");
        };
        let message = format!("`{size}` is no whole number from 0 to 4294967295");
        assert_eq!(errors.0[0].message, message);
        assert_eq!(errors.0[0].hint.as_deref(), Some(hint));
    }
}

#[test]
fn a_profile_of_powershell_is_read() {
    let text = PROFILE.replace("*1", "é.dat");
    let little = text.encode_utf16().flat_map(u16::to_le_bytes);
    let bytes: Vec<u8> = [0xff, 0xfe].into_iter().chain(little).collect();
    let input = read_profile(bytes, "-Xp.xml").unwrap();
    assert_eq!(input.targets(0)[1], "é.dat");
    let bytes: Vec<u8> = [0xef, 0xbb, 0xbf].into_iter().chain(text.bytes()).collect();
    read_profile(bytes, "-Xp.xml").unwrap();
}

#[test]
fn targets_of_a_pool_may_differ_in_blocks_order_and_writes() {
    let text = PROFILE.replace(
        "<Path>y</Path>",
        "<Path>y</Path><BlockSize>512</BlockSize><WriteRatio>40</WriteRatio>",
    );
    let input = read_profile(text, "-Xp.xml z").unwrap();
    // The first two threads are on `x` alone.
    let jobs = &input.workload.stages[2].jobs;
    assert!(jobs[0].features.lines.is_empty());
    let job = &jobs[2];
    let lines = job.features.lines.iter();
    let lines = lines.map(|line| {
        (
            line.target,
            line.weight,
            line.size.get(),
            line.read.basis_points(),
        )
    });
    let expected = [(Some(0), 3, 65_536, 10_000), (Some(1), 1, 512, 6000)];
    assert_eq!(lines.collect::<Vec<_>>(), expected);
    fathom_workload::validate(&input.workload).unwrap();
}

#[test]
fn wrong_profiles_are_refused_where_they_are_wrong() {
    let check = |from: &str, to: &str, line: &str, part: &str| {
        let text = PROFILE.replacen(from, to, 1);
        assert!(from.is_empty() || text != PROFILE, "{from} is not there");
        let error = match read_profile(text, line) {
            Ok(_) => panic!("{from} -> {to} is taken"),
            Err(errors) => errors.to_string(),
        };
        assert!(error.contains(part) && error.contains("hint:"), "{error}");
        error
    };
    let x = "-Xp.xml z";
    let error = check("<WriteRatio>25<", "<WriteRatio>125<", x, "0 to 100");
    assert!(error.contains("p.xml:24:"), "{error}");
    check("<Duration>3<", "<Duration>x<", x, "whole number");
    check("<Duration>3<", "<Duration>0<", x, "no time");
    check(">true</Mea", ">yes</Mea", x, "neither true nor false");
    check("<Path>x</Path>", "", x, "no path");
    check("<Warmup>1", "<Warmup>1</Warmup><Warmup>1", x, "given twice");
    check(
        "Warmup>1</Warmup",
        "Warmpu>1</Warmpu",
        x,
        "did you mean `Warmup`",
    );
    check(
        "<StrideSize>131072<",
        "<StrideSize>4096</StrideSize><Random>4096</Random><StrideSize>1<",
        x,
        "given twice",
    );
    check(
        "</StrideSize>",
        "</StrideSize><Random>4096</Random>",
        x,
        "exclude each other",
    );
    check("<Thread>2<", "<Thread>4<", x, "does not have");
    check("<Weight>3<", "<Weight>0<", x, "gives the target no I/O");
    check(
        "<Path>y</Path>",
        "<Path>y</Path><WriteThrough>true</WriteThrough>",
        x,
        "used differently",
    );
    check("unit=\"IOPS\"", "unit=\"MBPS\"", x, "no unit");
    check(
        "Processor=\"1\"",
        "Processor=\"x\"",
        x,
        "group and processor",
    );
    check("Group=\"0\"", "Group=\"1\"", x, "one group of processors");
    check("</Profile>", "", x, "no XML");
    check(
        "<Profile>",
        "<!DOCTYPE a [<!ENTITY b \"c\">]><Profile>",
        x,
        "no XML",
    );
    check("", "", "-Xp.xml", "stands for a target");
    check("", "", "-Xp.xml z y", "nothing in `p.xml` stands for");
    check("", "", "-Xp.xml -b4K z", "does not go with a profile");
    check("", "", "-b4K -Xp.xml z", "does not go with a profile");
    check("", "", "-Xp.xml -Xp.xml z", "second profile");
    check("", "", "-Xq.xml z", "cannot be read");
    check("", "", "-X z", "no profile is named");
    assert!(read_profile("<Results/>", "-Xp.xml").is_err());
    assert!(read_profile("<Profile/>", "-Xp.xml").is_err());
    assert!(read_profile([0xff, 0x00], "-Xp.xml").is_err());
}

#[test]
fn what_is_no_number_is_told_once() {
    for (good, bad) in [
        ("<Duration>3<", "<Duration>ten<"),
        ("<BlockSize>8192<", "<BlockSize>8K<"),
        ("<BlockSize>8192<", "<BlockSize>-1<"),
    ] {
        assert!(PROFILE.contains(good));
        let complaints = read_profile(PROFILE.replace(good, bad), "-Xp.xml t.dat").unwrap_err();
        let errors = complaints
            .0
            .iter()
            .filter(|one| one.severity == Severity::Error);
        assert_eq!(errors.count(), 1, "{complaints}");
    }
}
