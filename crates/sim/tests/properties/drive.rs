//! I/Os at chosen times, through the model's public interface.

use std::fmt::Write;

use fathom_catalog::Catalog;
use fathom_model::{ClientId, Design, IoKind, Layout, Request, Storage};
use fathom_units::{Bytes, Nanos};

/// An I/O to submit.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    pub at: u64,
    pub write: bool,
    pub offset: u64,
    pub length: u32,
}

/// When an I/O completed, and which.
#[derive(Debug, Clone, Copy)]
pub struct Completion {
    pub at: u64,
    pub arrival: usize,
}

/// Completions of `arrivals` (in order of their times) on the file `/v/f` of `size` bytes, in the order in which they came.
pub fn drive(design: &Design, size: Bytes, arrivals: &[Arrival]) -> Vec<Completion> {
    let volume = design.locate(None, "/v/f").expect("`/v` is there");
    let files = [(volume, "/v/f".to_owned(), size)];
    let layout = Layout::new(design, files).expect("the file fits");
    let file = layout.file_id(volume, "/v/f").expect("it was placed");
    let mut storage = Storage::new(design, &layout, 1).expect("it can be built");
    if design.starts_warm(volume) {
        storage.warm(volume, 0, size.get());
    }
    let mut completions = Vec::new();
    let mut completed = Vec::new();
    let mut collect = |now: u64, completed: &mut Vec<fathom_model::Completed>| {
        completions.extend(completed.drain(..).map(|one| Completion {
            at: now,
            arrival: one.tag as usize,
        }));
    };
    let mut next = 0;
    loop {
        let arrival = arrivals.get(next);
        let due = storage.next_due().map(Nanos::get);
        match (due, arrival) {
            (Some(at), _) if arrival.is_none_or(|arrival| at <= arrival.at) => {
                storage.advance(&mut completed);
                collect(at, &mut completed);
            }
            (_, Some(arrival)) => {
                let request = Request {
                    volume,
                    client: ClientId::NONE,
                    file,
                    kind: if arrival.write {
                        IoKind::Write
                    } else {
                        IoKind::Read
                    },
                    fua: false,
                    offset: arrival.offset,
                    length: arrival.length,
                    stream: 0,
                    index: next as u64,
                    tag: next as u64,
                };
                storage.submit(Nanos::new(arrival.at), request, &mut completed);
                collect(arrival.at, &mut completed);
                next += 1;
            }
            (_, None) => break,
        }
    }
    assert_eq!(
        completions.len(),
        arrivals.len(),
        "every I/O completes once"
    );
    completions
}

/// A volume `/v` without media latency on a machine.
pub fn machine(size: &str, disk: &str, count: u32, more: &str) -> String {
    let mut text = format!("[[vm]]\nname = \"vm\"\nsize = \"{size}\"\n");
    let _ = write!(
        text,
        "[[vm.volume]]\nname = \"v\"\nmount = \"/v\"\nlatency = \"none\"\n\
         disks = {{ type = \"{disk}\", count = {count} }}\n{more}\n"
    );
    text
}

/// A device `/v` without media latency.
pub fn device(lines: &str) -> String {
    format!(
        "[[device]]\nname = \"v\"\nmount = \"/v\"\nsize = \"1TiB\"\nlatency = \"none\"\n{lines}\n"
    )
}

#[track_caller]
pub fn design(text: &str) -> Design {
    match Design::read(text, "d", Catalog::builtin()) {
        Ok((design, _)) => design,
        Err(complaints) => panic!("{complaints}\n{text}"),
    }
}
