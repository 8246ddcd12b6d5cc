//! Paths put together by hand: what the steps do, whatever kind of storage they stand for.

mod ahead;
mod changes;
mod crash;
mod mechanisms;
mod trims;

use fathom_catalog::Catalog;
use fathom_units::Bytes;

use super::*;
use crate::design::ClientId;
use crate::design::Design;
use crate::layout::Layout;
use crate::limit::Limit;
use crate::limiter::{Limits, Rate};
use crate::request::FileId;
use crate::stage::StageKind;
use crate::window::Bounds;

const MILLISECOND: Nanos = Nanos::from_millis(1);

/// A device of 1 GiB without limits, whose reads take `steps`; stages and windows as given.
fn storage(stages: Vec<Stage>, windows: Vec<Window>, steps: &[Step]) -> Storage {
    let text = "[[device]]\nname = 'd'\nmount = '/d'\nsize = '1GiB'\nlatency = 'none'\n";
    let (design, _) = Design::read(text, "d", Catalog::builtin()).unwrap();
    let volume = VolumeId::new(0);
    let files = [(volume, "/d/f".to_owned(), Bytes::mib(1))];
    let layout = Layout::new(&design, files).unwrap();
    let mut storage = Storage::new(&design, &layout, 1).unwrap();
    storage.agenda = Agenda::new(stages.len(), 0);
    storage.stages = stages;
    storage.windows = windows;
    storage.delays = vec![DelayLaw::Constant(MILLISECOND)];
    storage.disks[0].read = storage.paths.add(steps);
    storage
}

fn stage(rate: u64) -> Stage {
    let limits = Limits::new(Some(Rate::Steady(rate)), None, Nanos::ZERO);
    Stage::new(StageKind::Volume, limits, 0)
}

fn read(tag: u64, length: u32) -> Request {
    Request {
        volume: VolumeId::new(0),
        client: ClientId::NONE,
        file: FileId::NONE,
        kind: IoKind::Read,
        fua: false,
        offset: 0,
        length,
        stream: 0,
        index: tag,
        tag,
    }
}

/// A completion: time in µs, tag, limits waited for with µs.
type Found = (u64, u64, Vec<(Limit, u64)>);

/// Submits all at once, and gives every completion in order.
fn run(storage: &mut Storage, requests: &[Request]) -> Vec<Found> {
    let mut completed = Vec::new();
    let mut found = Vec::new();
    for request in requests {
        storage.submit(Nanos::ZERO, *request, &mut completed);
    }
    let mut now = Nanos::ZERO;
    loop {
        for one in completed.drain(..) {
            let waits = one.waits.iter();
            let waits = waits.map(|wait| (wait.limit, wait.time.get() / 1000));
            found.push((now.get() / 1000, one.tag, waits.collect()));
        }
        let Some(at) = storage.next_due() else {
            return found;
        };
        assert!(at >= now);
        now = at;
        storage.advance(&mut completed);
    }
}

const WRITE_BACK: &str = "[[vm]]\nname = 'vm'\nsize = 'Standard_D8s_v3'\nburst = 'off'\n\
    [[vm.volume]]\nname = 'w'\nmount = '/w'\ndisks = { type = 'P10' }\ncaching = 'read-write'\nburst = 'off'\nlatency = 'none'\n";

/// The model of a design with one file of 1 GiB on its first volume.
fn of(text: &str, file: &str) -> Storage {
    let (design, _) = Design::read(text, "d", Catalog::builtin()).unwrap();
    let files = [(VolumeId::new(0), file.to_owned(), Bytes::gib(1))];
    let layout = Layout::new(&design, files).unwrap();
    Storage::new(&design, &layout, 1).unwrap()
}

fn write(tag: u64, offset: u64, length: u32) -> Request {
    Request {
        kind: IoKind::Write,
        offset,
        ..read(tag, length)
    }
}

/// Lets everything happen that is due until `end`; the times at which requests completed, in µs, by tag.
fn until(storage: &mut Storage, end: Nanos) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    while let Some(at) = storage.next_due().filter(|at| *at <= end) {
        let mut completed = Vec::new();
        storage.advance(&mut completed);
        let times = completed.iter().map(|one| (at.get() / 1000, one.tag));
        found.extend(times);
    }
    found
}

#[test]
fn a_window_holds_tokens_until_others_complete() {
    let slots = Window::new(Bounds {
        slots: Some(2),
        bytes: None,
    });
    let delay = Step::Delay {
        law: 0,
        inside: NONE,
    };
    let steps = [Step::Window(0), Step::Rate(0), delay];
    let mut storage = storage(vec![stage(1_000_000)], vec![slots], &steps);
    let requests: Vec<_> = (0..5).map(|tag| read(tag, 4096)).collect();
    let slots = |us| (Limit::ConnectionSlots, us);
    let rate = |us| (Limit::VolumeIops, us);
    // Two at a time, each a millisecond: slots / latency is the rate.
    let expected = [
        (1_000, 0, vec![]),
        (1_001, 1, vec![rate(1)]),
        (2_000, 2, vec![slots(1_000)]),
        (2_001, 3, vec![slots(1_001)]),
        (3_000, 4, vec![slots(2_000)]),
    ];
    assert_eq!(run(&mut storage, &requests), expected);
}

#[test]
fn bytes_in_flight_bound_as_slots_do() {
    let bytes = Window::new(Bounds {
        slots: None,
        bytes: Some(8192),
    });
    let delay = Step::Delay {
        law: 0,
        inside: NONE,
    };
    let mut storage = storage(vec![], vec![bytes], &[Step::Window(0), delay]);
    let requests: Vec<_> = (0..4).map(|tag| read(tag, 4096)).collect();
    let waits = |us| vec![(Limit::ConnectionBytes, us)];
    let expected = [
        (1_000, 0, vec![]),
        (1_000, 1, vec![]),
        (2_000, 2, waits(1_000)),
        (2_000, 3, waits(1_000)),
    ];
    assert_eq!(run(&mut storage, &requests), expected);
}

#[test]
fn tokens_that_others_release_may_complete_at_once_and_release_more() {
    let one = Window::new(Bounds {
        slots: Some(1),
        bytes: None,
    });
    let mut storage = storage(
        vec![stage(1_000)],
        vec![one],
        &[Step::Rate(0), Step::Window(0)],
    );
    let requests: Vec<_> = (0..3).map(|tag| read(tag, 512)).collect();
    let found = run(&mut storage, &requests);
    let times: Vec<_> = found.iter().map(|(at, tag, _)| (*at, *tag)).collect();
    assert_eq!(times, [(0, 0), (1_000, 1), (2_000, 2)]);
    assert_eq!(storage.windows[0].meter.ios, 3);
}

#[test]
fn flushes_and_metadata_complete_at_once_where_nothing_is_cached() {
    let mut storage = storage(vec![stage(1)], vec![], &[Step::Rate(0)]);
    let flush = Request {
        kind: IoKind::Flush,
        ..read(7, 0)
    };
    assert_eq!(run(&mut storage, &[flush]), [(0, 7, vec![])]);
    assert_eq!(storage.gauges(Nanos::ZERO).count(), 1);
}

#[test]
fn disks_without_parity_alternate_to_the_end_of_the_largest_device() {
    let text = "[[device]]\nname = 'd'\nmount = '/d'\nsize = '7EiB'\ntype = '10k'\ndisks = 3\nraid = '0'\n";
    let (design, _) = Design::read(text, "d", Catalog::builtin()).unwrap();
    let mut storage = Storage::new(&design, &Layout::default(), 1).unwrap();
    let size = 7 << 60;
    let (mut offset, mut completed) = (size, Vec::new());
    for tag in 0..3 {
        offset -= 65_536;
        let request = Request {
            offset,
            ..read(tag, 65_536)
        };
        storage.submit(Nanos::ZERO, request, &mut completed);
    }
    while storage.has_requests() {
        storage.advance(&mut completed);
    }
    let rows = storage.statistics(Nanos::from_secs(1));
    let disks = (1..=3).map(|disk| rows[&format!("d/disk{disk}")].ios);
    assert_eq!(disks.collect::<Vec<_>>(), [1, 1, 1]);
}
