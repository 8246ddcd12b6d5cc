//! Tests of the store of runs, each with a folder of its own.

use super::*;
use fathom_record::{
    Event, EventSink, IntervalStats, OpStats, Phase, RunKind, SetStats, ToolRecord,
};
use fathom_units::Nanos;
use fathom_workload::SetOperation;

fn start(environment: &Value) -> RunStart<'_> {
    RunStart {
        kind: "run",
        what: "test",
        started_unix_ns: 1_767_323_045_000_000_000,
        workload: "# none\n",
        design: None,
        environment,
    }
}

fn store(limits: Limits) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("runs"), limits);
    (folder, store)
}

fn record() -> Record {
    Record {
        schema: SCHEMA.to_owned(),
        tool: ToolRecord {
            name: "fathom".into(),
            version: "0".into(),
            git: String::new(),
        },
        kind: RunKind::Run,
        title: "test".into(),
        stored: true,
        started_unix_ns: 1,
        workload: Value::Null,
        design: Value::Null,
        environment: Value::Null,
        stages: vec![],
        sweep: None,
        checks: vec![],
        verdict: Verdict::Trustworthy,
        notes: vec![],
        interrupted: false,
    }
}

#[test]
fn a_run_is_stored_and_found() {
    let (_keep, store) = store(Limits::default());
    let environment = json!({});
    for _ in 0..2 {
        let writer = store.begin(&start(&environment)).unwrap();
        assert_eq!(writer.finish(&record()), None);
    }
    let ids: Vec<_> = store
        .list()
        .unwrap()
        .into_iter()
        .map(|run| run.id)
        .collect();
    assert_eq!(ids, ["20260102-030405-run", "20260102-030405-run-2"]);
    assert_eq!(store.load("last").unwrap(), record());
    assert_eq!(store.name_of("last").unwrap(), ids[1]);
    assert_eq!(store.name_of("last~1").unwrap(), ids[0]);
    // Two begin so, and one does.
    assert_eq!(store.name_of("2026").unwrap(), "2026");
    assert_eq!(store.name_of("20260102-030405-run-").unwrap(), ids[1]);
    assert_eq!(store.load("20260102-030405-run").unwrap(), record());
    assert!(matches!(
        store.load("2026"),
        Err(StoreError::Ambiguous { .. })
    ));
    assert!(matches!(
        store.load("nothing"),
        Err(StoreError::NotFound { .. })
    ));
}

/// A second that ends then, in which one read of 4 KiB took so many nanoseconds; `None`: nothing.
fn interval(at: u64, read: Option<u64>) -> IntervalStats {
    let reads = read.map(|nanos| {
        let mut reads = OpStats::new(false, false);
        reads.latency.record(nanos);
        reads.bytes = 4096;
        reads
    });
    IntervalStats {
        at: Nanos::from_secs(at),
        length: Nanos::from_secs(1),
        directions: [reads, None, None],
        set: SetStats::default(),
    }
}

/// A second in which one read of 4 KiB took 1 µs.
fn second(writer: &mut RunWriter) {
    measured(writer, &interval(1, Some(1000)));
}

fn measured(writer: &mut RunWriter, interval: &IntervalStats) {
    let phase = Phase::Measure;
    writer.event(&Event::Interval {
        index: 0,
        phase,
        interval,
    });
}

/// Seconds 3 and 4 of a stage that began with two of warm-up: of one nothing was told in time, of the other a part.
#[test]
fn what_was_told_late_is_added_to_its_second() {
    let (_keep, store) = store(Limits::default());
    let environment = json!({});
    let mut writer = store.begin(&start(&environment)).unwrap();
    writer.event(&Event::StageStarted {
        index: 0,
        count: 1,
        name: "reads",
        words: "reads",
        expected: None,
    });
    let late = |writer: &mut RunWriter, interval: &IntervalStats| {
        writer.event(&Event::IntervalLate { index: 0, interval });
    };
    measured(&mut writer, &interval(3, None));
    measured(&mut writer, &interval(4, Some(1000)));
    late(&mut writer, &interval(3, Some(5000)));
    late(&mut writer, &interval(4, Some(9000)));
    // Of no second that is there.
    late(&mut writer, &interval(7, None));
    drop(writer);
    let record = store.load("last").unwrap();
    let stage = &record.stages[0];
    assert_eq!(stage.measured_ns, 2_000_000_000);
    let seconds: Vec<_> = stage.intervals.iter().map(|it| it.read.unwrap()).collect();
    let told = |ios, p50_ns: Option<u64>, max_ns| (ios, 4096 * ios, p50_ns.is_some(), max_ns);
    let found = seconds
        .iter()
        .map(|it| (it.ios, it.bytes, it.p50_ns.is_some(), it.max_ns));
    assert_eq!(
        found.collect::<Vec<_>>(),
        [told(1, Some(5000), 5000), told(2, None, 9000)]
    );
    let read = stage.total.read.as_ref().unwrap();
    assert_eq!((read.ios, read.bytes), (3, 3 * 4096));
    assert_eq!(read.latency_ns.max, 9000);
}

/// Of the operations that a job on a file set may do, a second tells those that it did.
#[test]
fn a_second_has_the_operations_that_were_done() {
    let (_keep, store) = store(Limits::default());
    let environment = json!({});
    let mut writer = store.begin(&start(&environment)).unwrap();
    writer.event(&Event::StageStarted {
        index: 0,
        count: 1,
        name: "names",
        words: "names and reads",
        expected: None,
    });
    let operations = [SetOperation::Create, SetOperation::Delete];
    let mut second = interval(1, None);
    second.set = SetStats::new(&operations, false);
    let create = second.set.of_mut(SetOperation::Create).unwrap();
    create.latency.record(1000);
    measured(&mut writer, &second);
    let events = std::fs::read_to_string(writer.folder().join("events.jsonl")).unwrap();
    assert!(
        events.contains("\"name\":\"names\",\"words\":\"names and reads\""),
        "{events}"
    );
    let line = events.lines().last().unwrap();
    assert!(line.contains("\"create\":{"), "{line}");
    assert!(!line.contains("\"delete\""), "{line}");
}

#[test]
fn a_run_cut_short_is_known_up_to_its_last_second() {
    let (_keep, store) = store(Limits::default());
    let environment = json!({});
    let mut writer = store.begin(&start(&environment)).unwrap();
    writer.event(&Event::StageStarted {
        index: 0,
        count: 1,
        name: "reads",
        words: "reads",
        expected: None,
    });
    second(&mut writer);
    let folder = writer.folder().to_owned();
    drop(writer);
    // Torn last lines, as a kill in mid-write leaves them: one in the middle of a character.
    let tear = |file: &str, tail: &[u8]| {
        let mut bytes = std::fs::read(folder.join(file)).unwrap();
        bytes.extend_from_slice(tail);
        std::fs::write(folder.join(file), bytes).unwrap();
    };
    tear(files::EVENTS, b"{\"event\":\"note\",\"text\":\"50 \xc2");
    tear(files::HISTOGRAMS, b"Tag=read,1.000,1.000,0.001,HISTF");
    let record = store.load("last").unwrap();
    assert!(record.interrupted);
    assert_eq!(record.stages[0].intervals[0].read.unwrap().ios, 1);
    let total = &record.stages[0].total;
    let read = total.read.as_ref().unwrap();
    assert_eq!(
        (read.ios, read.bytes, total.all.as_ref().unwrap().ios),
        (1, 4096, 1)
    );
    assert!(read.latency_ns.p50.abs_diff(1000) <= 4 && total.write.is_none());
    assert_eq!(read.latency_ns.max, 1000);
    assert_eq!(store.list().unwrap()[0].state, RunState::CutShort);
}

/// A stage that ended has its errors in its record; of one that was cut off, the events alone tell how many there were.
#[test]
fn failures_are_told_once_a_second_and_known_of_a_run_cut_short() {
    let (_keep, store) = store(Limits::default());
    let environment = json!({});
    let mut writer = store.begin(&start(&environment)).unwrap();
    let begin = |writer: &mut RunWriter, index| {
        writer.event(&Event::StageStarted {
            index,
            count: 2,
            name: "reads",
            words: "reads",
            expected: None,
        });
    };
    begin(&mut writer, 0);
    // Those of a stage that is discarded are forgotten after it.
    writer.event(&Event::MoreFailed { count: 7 });
    second(&mut writer);
    writer.event(&Event::MoreFailed { count: 0 });
    begin(&mut writer, 1);
    writer.event(&Event::MoreFailed { count: 2 });
    let record = &fathom_record::StageRecord::empty("reads");
    writer.event(&Event::StageFinished { index: 1, record });
    begin(&mut writer, 2);
    for count in [3, 4, 1236] {
        writer.event(&Event::MoreFailed { count });
    }
    second(&mut writer);
    second(&mut writer);
    writer.event(&Event::MoreFailed { count: 9999 });
    let events = std::fs::read_to_string(writer.folder().join("events.jsonl")).unwrap();
    let told = events.lines().filter(|line| line.contains("\"failed\""));
    let expected =
        [7, 0, 2, 1236].map(|count| format!("{{\"count\":{count},\"event\":\"failed\"}}"));
    assert_eq!(told.collect::<Vec<_>>(), expected);
    drop(writer);
    let notes = store.load("last").unwrap().notes;
    let text = "1,234 I/Os had failed in the stage that was cut off";
    assert!(notes.iter().any(|note| note == text), "{notes:?}");
}

#[test]
fn a_record_that_cannot_be_read_is_made_from_the_events() {
    let (_keep, store) = store(Limits::default());
    let environment = json!({});
    let mut start = start(&environment);
    start.workload = "[[stage]]\nname = \"mix\"\nrepeats = 2\nmeasure = \"1s\"\n\
        [[stage.job]]\ntarget = { path = \"f\", size = \"1MiB\" }\nblock = \"4KiB\"\n";
    let writer = store.begin(&start).unwrap();
    let path = writer.folder().join(files::RECORD);
    assert_eq!(writer.finish(&record()), None);
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(store.list().unwrap()[0].state, RunState::Unreadable);
    let from_events = store.load("last").unwrap();
    assert!(!from_events.interrupted);
    assert_eq!(from_events.started_unix_ns, 1_767_323_045_000_000_000);
    assert!(
        from_events.notes[0].contains("`record.json` cannot be read"),
        "{:?}",
        from_events.notes
    );
    assert_eq!(from_events.workload["stage"][0]["repeats"], 2);
    // The file itself was asked for.
    assert!(matches!(
        store.load(path.to_str().unwrap()),
        Err(StoreError::CutOff { .. })
    ));
    let later = String::from_utf8(whole).unwrap();
    let later = later.replace(SCHEMA, "fathom.record/9");
    std::fs::write(&path, later).unwrap();
    assert_eq!(store.list().unwrap()[0].state, RunState::Unreadable);
    let error = store.load("last").unwrap_err().to_string();
    assert!(error.contains("fathom.record/9"), "{error}");
}

/// What a file holds in a record's place is told, and what can be done about it.
#[test]
fn files_that_hold_no_whole_record_are_told_apart() {
    let (keep, store) = store(Limits::default());
    let whole = serde_json::to_string(&record()).unwrap();
    let path = keep.path().join("x.json");
    let name = path.to_str().unwrap();
    let load = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        store.load(name)
    };
    let told = |bytes: &[u8]| {
        let error = load(bytes).unwrap_err();
        format!("{error}; {}", error.hint())
    };
    let (begin, end) = (
        "is no whole record: it ends in line 1, column 9",
        "copy it again",
    );
    let cut = told(&whole.as_bytes()[..9]);
    assert!(cut.contains(begin) && cut.contains(end), "{cut}");
    for nothing in ["", " \n"] {
        let empty = told(nothing.as_bytes());
        assert!(
            empty.contains("is no record: it is empty; a run that is refused"),
            "{empty}"
        );
    }
    assert!(told(b"\xff\xfe{\0").contains("UTF-16"));
    assert!(told(b"{}").contains("is no record: missing field"));
    let of_version = |schema: &str| told(whole.replace(SCHEMA, schema).as_bytes());
    assert!(
        of_version("fathom.record/9").ends_with("read it with the version of Fathom that made it")
    );
    assert!(of_version("fathom.runs/1").ends_with("lists the stored runs"));
    let marked = ["\u{feff}", &whole].concat();
    assert_eq!(load(marked.as_bytes()).unwrap(), record());
}

#[test]
fn an_empty_store_has_no_newest_run() {
    let (_keep, store) = store(Limits::default());
    let error = store.load("last").unwrap_err();
    assert_eq!(error.to_string(), "no runs are stored yet");
}

/// A clock that was set back gives a run an older name than that of the run before it.
#[test]
fn a_run_knows_whether_it_is_the_last() {
    let (_keep, store) = store(Limits::default());
    let environment = json!({});
    let first = store.begin(&start(&environment)).unwrap();
    assert_eq!(first.name(), "last");
    let earlier = RunStart {
        started_unix_ns: start(&environment).started_unix_ns - 3_600_000_000_000,
        ..start(&environment)
    };
    let second = store.begin(&earlier).unwrap();
    let name = second.name();
    assert_eq!(second.finish(&record()), None);
    assert_eq!(store.load(&name).unwrap().title, "test");
    assert!(name.starts_with("2026"), "{name}");
    assert_eq!(first.name(), "last");
    let third = store.begin(&start(&environment)).unwrap();
    assert_eq!(
        (third.name().as_str(), first.name().ends_with("-run")),
        ("last", true)
    );
}

#[test]
fn runs_are_counted_from_the_last() {
    let (_keep, store) = store(Limits::default());
    let environment = json!({});
    for title in ["first", "second", "third"] {
        let writer = store.begin(&start(&environment)).unwrap();
        let titled = Record {
            title: title.to_owned(),
            ..record()
        };
        assert_eq!(writer.finish(&titled), None);
    }
    for (name, expected) in [
        ("last", Ok("third")),
        ("last~0", Ok("third")),
        ("last~1", Ok("second")),
        ("last~2", Ok("first")),
        ("last~3", Err("there is no `last~3`: 3 runs are stored")),
        (
            "last~99999999999999999999999",
            Err("there is no `last~99999999999999999999999`: 3 runs are stored"),
        ),
        (
            "last~x",
            Err("`last~x` is no run: how many runs before the last stands behind `last~`"),
        ),
        (
            "last~",
            Err("`last~` is no run: how many runs before the last stands behind `last~`"),
        ),
        (
            "last~-1",
            Err("`last~-1` is no run: how many runs before the last stands behind `last~`"),
        ),
        ("last1", Err("no run is called `last1`")),
    ] {
        let loaded = store.load(name).map(|record| record.title);
        let loaded = loaded.map_err(|error| error.to_string());
        assert_eq!(
            loaded.as_deref().map_err(String::as_str),
            expected,
            "{name}"
        );
    }
}

#[test]
fn a_folder_is_named_by_its_path() {
    let (_keep, store) = store(Limits::default());
    let environment = json!({});
    let writer = store.begin(&start(&environment)).unwrap();
    let folder = writer.folder().to_owned();
    assert_eq!(writer.finish(&record()), None);
    assert_eq!(store.load(folder.to_str().unwrap()).unwrap(), record());
    let none = store.folder.to_str().unwrap();
    let error = store.load(none).unwrap_err().to_string();
    assert!(error.contains(&format!("`{none}` holds no run")), "{error}");
    let nothing = store.load("").unwrap_err().to_string();
    assert_eq!(nothing, "no run is called ``");
}

#[test]
fn the_oldest_runs_go_first_and_strangers_stay() {
    let (_keep, store) = store(Limits {
        runs: 2,
        bytes: u64::MAX,
    });
    let environment = json!({});
    std::fs::create_dir_all(store.folder.join("mine")).unwrap();
    for _ in 0..4 {
        let mut writer = store.begin(&start(&environment)).unwrap();
        writer.take_note();
        assert_eq!(writer.finish(&record()), None);
    }
    assert_eq!(store.list().unwrap().len(), 2);
    assert!(store.folder.join("mine").exists());
}

#[test]
fn what_goes_is_told_and_a_run_under_way_stays() {
    let (_keep, store) = store(Limits {
        runs: 1,
        bytes: u64::MAX,
    });
    let environment = json!({});
    let mut served = store.begin(&start(&environment)).unwrap();
    assert_eq!(served.take_note(), None);
    assert_eq!(store.list().unwrap()[0].state, RunState::UnderWay);
    // The older run is under way, so that nothing goes for the next, which goes for the one after it.
    let mut second = store.begin(&start(&environment)).unwrap();
    assert_eq!(second.take_note(), None);
    assert_eq!(second.finish(&record()), None);
    let mut third = store.begin(&start(&environment)).unwrap();
    let note = third.take_note().unwrap();
    assert!(note.contains("`20260102-030405-run-2`"), "{note}");
    assert!(note.contains(Limits::KEEP), "{note}");
    assert!(!note.contains('\n'), "{note}");
    let ids: Vec<_> = store.list().unwrap().into_iter().collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
    // What nobody asked for is told at the end.
    drop(third);
    let fourth = store.begin(&start(&environment)).unwrap();
    let told = fourth.finish(&record()).unwrap();
    assert!(told.contains("removed"), "{told}");
    assert_eq!(served.finish(&record()), None);
    let first = store.load("20260102-030405-run").unwrap();
    assert_eq!(first, record());
}

/// A name that is free again is taken again within its second; the run is the newest all the same.
#[test]
fn of_several_runs_of_one_second_the_oldest_goes() {
    let limits = Limits {
        runs: 2,
        ..Limits::default()
    };
    let (_keep, store) = store(limits);
    let environment = json!({});
    let second = start(&environment);
    let mut begun = Vec::new();
    for (nanos, kind) in ["run", "predict", "run", "run", "predict"]
        .iter()
        .enumerate()
    {
        let start = RunStart {
            kind,
            started_unix_ns: second.started_unix_ns + nanos as u64,
            ..second
        };
        let writer = store.begin(&start).unwrap();
        begun.push(store.list().unwrap().pop().unwrap().started_unix_ns);
        assert_eq!(begun[nanos], start.started_unix_ns, "{begun:?}");
        drop(writer);
        let kept = store.list().unwrap();
        let kept: Vec<u64> = kept.iter().map(|run| run.started_unix_ns).collect();
        assert_eq!(kept, begun[begun.len().saturating_sub(2)..]);
    }
}

#[test]
fn a_run_is_found_by_its_own_name_alone() {
    let (_keep, store) = store(Limits::default());
    let environment = json!({});
    let writer = store.begin(&start(&environment)).unwrap();
    let id = writer
        .folder()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let run = store.run(&id).unwrap();
    assert!(run.is_under_way());
    assert_eq!(writer.finish(&record()), None);
    assert!(!run.is_under_way());
    assert_eq!(run.record().unwrap(), record());
    let outside = format!("../runs/{id}");
    let below = format!("{id}/.");
    for name in ["", ".", "..", "last", "2026", &outside, &below, "a\0"] {
        assert_eq!(store.run(name), None, "{name:?}");
    }
}

#[test]
fn a_digest_is_what_the_record_says() {
    let (_keep, store) = store(Limits::default());
    let environment = json!({});
    let mut writer = store.begin(&start(&environment)).unwrap();
    let run = store.runs().unwrap().remove(0);
    assert_eq!(run.digest().state, RunState::UnderWay);
    writer.event(&Event::StageStarted {
        index: 0,
        count: 1,
        name: "s",
        words: "s",
        expected: None,
    });
    second(&mut writer);
    drop(writer);
    let cut = run.digest();
    assert_eq!((cut.state, cut.why.as_deref()), (RunState::CutShort, None));
    let whole = run.record().unwrap();
    let all = whole.stages[0].total.all.as_ref().unwrap();
    let digest = [StageDigest {
        name: "s".to_owned(),
        iops: all.iops,
        bandwidth_bytes_per_sec: all.bandwidth_bytes_per_sec,
        p50_ns: all.latency_ns.p50,
        p99_ns: all.latency_ns.p99,
    }];
    assert_eq!(cut.stages, digest);
    // In a list that is a document, its own state and not that of the entry, which was looked up without.
    let [listed, before] = [cut.listed(&run), run.listed(run.state)];
    assert_eq!(listed["state"], "cut short");
    for key in ["id", "kind", "what", "started_unix_ns"] {
        assert_eq!((&listed[key], listed[key].is_null()), (&before[key], false));
    }
    assert_eq!(
        (&listed["interrupted"], &listed["why"]),
        (&json!(true), &Value::Null)
    );
    let stage = json!({
        "name": "s",
        "iops": all.iops,
        "bandwidth_bytes_per_sec": all.bandwidth_bytes_per_sec,
        "latency_p50_ns": all.latency_ns.p50,
        "latency_p99_ns": all.latency_ns.p99,
    });
    assert_eq!(listed["stages"], json!([stage]));

    let stamp = run.stamp();
    let mut ended = whole;
    ended.verdict = Verdict::Trustworthy;
    let path = run.folder.join(files::RECORD);
    std::fs::write(&path, serde_json::to_vec(&ended).unwrap()).unwrap();
    assert_ne!(run.stamp(), stamp);
    let digest = run.digest();
    assert_eq!(digest.state, RunState::Ended(Verdict::Trustworthy));
    assert_eq!((digest.stages, digest.interrupted), (cut.stages, true));
    std::fs::write(&path, "{").unwrap();
    let torn = run.digest();
    assert_eq!(torn.state, RunState::Unreadable);
    assert!(torn.why.unwrap().contains("cannot be read"));
    ended.schema = "fathom.record/9".to_owned();
    std::fs::write(&path, serde_json::to_vec(&ended).unwrap()).unwrap();
    assert!(run.digest().why.unwrap().contains("fathom.record/9"));
}

#[test]
fn a_run_is_followed_line_by_line() {
    use std::io::Write as _;
    let (_keep, store) = store(Limits::default());
    let environment = json!({});
    let mut writer = store.begin(&start(&environment)).unwrap();
    let run = store.runs().unwrap().remove(0);
    let log = run.folder.join(files::EVENTS);
    let mut follower = crate::Follower::new(run).unwrap();
    let names = |told: &[crate::Told]| -> Vec<String> {
        told.iter().map(|one| one.name().to_owned()).collect()
    };
    assert_eq!(names(&follower.more().unwrap()), ["run-started"]);
    assert!(follower.more().unwrap().is_empty());
    second(&mut writer);
    second(&mut writer);
    let told = follower.more().unwrap();
    assert_eq!(names(&told), ["interval", "interval"]);
    let ends = told.iter().map(|one| one.second.as_ref().unwrap().at_ns);
    assert_eq!(ends.collect::<Vec<_>>(), [1_000_000_000, 2_000_000_000]);
    let mut append = std::fs::OpenOptions::new().append(true).open(log).unwrap();
    append
        .write_all(b"no event\n{\"event\":\"stage-finished\",")
        .unwrap();
    assert!(follower.more().unwrap().is_empty());
    assert!(!follower.is_over());
    append.write_all(b"\"index\":0,\"record\":{}}\n").unwrap();
    let told = follower.more().unwrap();
    assert_eq!(
        told[0].event,
        json!({"event": "stage-finished", "index": 0})
    );
    drop(writer);
    assert!(follower.is_over());
}

#[test]
fn the_document_lists_what_the_table_does() {
    let (_keep, store) = store(Limits::default());
    let none = store.list_json(&store.list().unwrap());
    assert_eq!((&none["count"], &none["runs"]), (&json!(0), &json!([])));
    let environment = json!({});
    let writer = store.begin(&start(&environment)).unwrap();
    assert_eq!(writer.finish(&record()), None);
    let under_way = store.begin(&start(&environment)).unwrap();
    let runs = store.list().unwrap();
    let document = store.list_json(&runs);
    assert_eq!(document["schema"], "fathom.runs/1");
    assert_eq!(document["count"], 2);
    assert_eq!(
        document["runs"][0],
        json!({
            "id": runs[0].id,
            "kind": "run",
            "what": "test",
            "started_unix_ns": 1_767_323_045_000_000_000u64,
            "state": "trustworthy",
        })
    );
    assert_eq!(document["runs"][1]["state"], "under way");
    drop(under_way);
}
