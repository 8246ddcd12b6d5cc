//! Orders carried out between two I/Os: crashes, changes, and what is asked.

use std::fmt::Write as _;

use fathom_model::{Change, Lost};
use fathom_rawio::Clock;
use fathom_report::natural;
use fathom_sim::storage_rows;
use fathom_units::Nanos;

use super::{Server, files, room};
use crate::client::{Landing, Life, Phase, Refusal};
use crate::control::Reply;
use crate::in_flight::Io;
use crate::order::{Order, bytes};
use crate::undo::Tearing;
use fathom_nbd::NbdError;

/// Orders that are named one by one in the record; of a test that gives thousands the rest is counted.
const NAMED_MOST: usize = 12;

/// What was ordered and carried out, for whoever reads the figures.
#[derive(Debug, Default)]
pub(super) struct CarriedOut {
    named: Vec<String>,
    more: u64,
}

impl CarriedOut {
    fn add(&mut self, time: Nanos, order: &Order) {
        match order {
            // To ask changes nothing.
            Order::Stats => {}
            _ if self.named.len() < NAMED_MOST => self.named.push(format!("`{order}` at {time}")),
            _ => self.more += 1,
        }
    }

    /// That the figures are of more than the design; nothing where no order was carried out.
    pub(super) fn note(&self) -> Option<String> {
        if self.named.is_empty() {
            return None;
        }
        let named = self.named.join(", ");
        let more = match self.more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!(
            "orders came while serving, so these figures are not of the design alone: {named}{more}"
        ))
    }
}

impl Server<'_> {
    /// Carries out what was ordered.
    pub(super) fn obey(&mut self) {
        let Some(control) = self.control.take() else {
            return;
        };
        control.heard();
        while let Some((order, reply)) = control.next() {
            let time = self.pace.at(Clock::now());
            self.let_happen(time);
            let came = self.carry_out(time, &order);
            if came.is_ok() {
                self.carried_out.add(self.pace.since_start(time), &order);
            }
            // Who asked may have left.
            let _ = reply.send(came);
        }
        self.control = Some(control);
    }

    fn carry_out(&mut self, time: Nanos, order: &Order) -> Reply {
        match order {
            Order::Crash { vm, torn } => self.crash(time, vm.as_deref(), *torn),
            Order::Change(change) => self.change(time, change),
            Order::Warm(volume) => self.warm(volume),
            Order::Stats => Ok(self.stats(time)),
        }
    }

    /// Hosts fail: what they have under way is never answered, what is in their caches alone is lost, and their
    /// connections end.
    fn crash(&mut self, time: Nanos, vm: Option<&str>, torn: bool) -> Reply {
        let machine = vm.map(|name| self.exports.machine(name)).transpose()?;
        self.punch_all();
        self.crashes += 1;
        let crash = self.pace.crash(time, machine, &mut self.completed);
        self.settle(time);
        let mut under_way = 0;
        for one in &crash.in_flight {
            if let Some(io) = self.ios.take(one.tag as u32) {
                // Flushes of this server's own are nobody's.
                under_way += usize::from(io.client != room::NOBODY);
                self.fail_file(io);
            }
        }
        let tearing = if torn {
            Tearing::Sectors(self.crashes)
        } else {
            Tearing::No
        };
        let (mut lost, mut broken) = (0, 0);
        for export in 0..self.exports.exports.len() {
            let of = self.exports.exports[export].client;
            if machine.is_some_and(|machine| machine != of) {
                continue;
            }
            self.disks[export].has_changed();
            if let Some(undo) = &mut self.undo[export] {
                let gone = undo.crash(&mut self.disks[export], &mut self.budget, tearing);
                // Without a cache only what nobody was told is written.
                if self.exports.exports[export].write_back {
                    lost += gone.lost;
                }
                broken += gone.broken;
            }
            self.cut_off(export);
        }
        self.zeroings.look_again();
        let who = vm.map_or("every host".to_owned(), |vm| format!("`{vm}`"));
        Ok(format!(
            "{who} failed: {} that no disk had are lost, {under_way} I/Os were under way; caches are cold{}",
            bytes(lost),
            not_put_back(broken)
        ))
    }

    /// Ends the connections of an export's clients, as a dead host does.
    fn cut_off(&mut self, export: usize) {
        for (place, client) in self.crowd.places.iter_mut().enumerate() {
            if let Some(client) = client
                && let Phase::Requests(session) = &client.phase
                && session.export == export
            {
                client.life = Life::Over;
                self.dirty.push(place as u32);
            }
        }
    }

    /// A file of a host that failed is still there: what was asked of it fails.
    fn fail_file(&mut self, mut io: Io) {
        if io.client == room::NOBODY {
            self.flushed_for_room();
        }
        if io.client == files::KERNEL {
            io.error = Some(NbdError::Io);
            io.due = None;
            self.files_ready.push(io);
        }
    }

    fn change(&mut self, time: Nanos, change: &Change) -> Reply {
        let lost = self.pace.change(time, change, &mut self.completed);
        let lost = lost.map_err(|error| error.to_string())?;
        self.settle(time);
        let mut volumes: Vec<usize> = lost
            .iter()
            .map(|Lost { volume, .. }| volume.index())
            .collect();
        volumes.dedup();
        if !volumes.is_empty() {
            self.punch_all();
        }
        self.turn_away();
        self.turn_zeroings_away();
        let (mut lost, mut broken) = (0, 0);
        for export in volumes {
            self.disks[export].has_changed();
            if let Some(undo) = &mut self.undo[export] {
                let gone = undo.crash(&mut self.disks[export], &mut self.budget, Tearing::No);
                (lost, broken) = (lost + gone.lost, broken + gone.broken);
            }
        }
        let done = match lost {
            0 => "done".to_owned(),
            lost => format!("done; {} that no disk had are lost", bytes(lost)),
        };
        Ok(done + &not_put_back(broken))
    }

    /// Data that is on its way to volumes that are gone is thrown away from now on.
    fn turn_away(&mut self) {
        for place in 0..self.crowd.places.len() {
            let client = self.crowd.places[place].as_ref();
            let landing = client.and_then(|client| client.landing);
            let gone = |landing: &Landing| self.there(landing.export as usize).is_err();
            let Some(io) = landing.filter(gone).and_then(|landing| landing.io) else {
                continue;
            };
            let Some(io) = self.ios.take(io) else {
                continue;
            };
            self.landed_on_disk(&io);
            self.meter.fail(&io, NbdError::Io);
            if let Some(client) = &mut self.crowd.places[place]
                && let Some(landing) = &mut client.landing
            {
                client.in_flight -= 1;
                client.in_flight_bytes -= u64::from(io.length);
                landing.io = None;
                landing.refusal = Some(Refusal {
                    structured: io.structured,
                    cookie: io.cookie,
                    error: NbdError::Io,
                });
            }
        }
    }

    fn warm(&mut self, volume: &str) -> Reply {
        let export = self.exports.cached(volume, &self.pace.storage)?;
        self.pace.storage.warm(export.volume, 0, export.size);
        Ok("done".to_owned())
    }

    fn stats(&mut self, time: Nanos) -> String {
        let mut text = String::new();
        let time = self.pace.since_start(time);
        let gauges: Vec<_> = self.pace.storage.gauges(time).collect();
        let rows = storage_rows(&self.pace.storage, time);
        let mut rows: Vec<_> = rows.iter().collect();
        rows.sort_by(|(a, _), (b, _)| natural(a).cmp(&natural(b)));
        for (name, part) in rows {
            let _ = write!(text, "{} {name}: {} I/Os", part.kind, part.ios);
            if let Some(depth) = part.depth {
                let _ = write!(text, ", depth {depth:.1}");
            }
            if !part.limits.is_empty() {
                let _ = write!(text, ", {}", part.limits.join(", "));
            }
            if let Some(fault) = self.pace.storage.fault_in_words(name) {
                let _ = write!(text, ", {fault}");
            }
            let gauge = gauges.iter().find(|gauge| gauge.name == *name);
            if let Some(gauge) = gauge {
                if gauge.reads > 0 {
                    let share = 100.0 * gauge.hits as f64 / gauge.reads as f64;
                    let _ = write!(text, ", cache hits {share:.0} %");
                }
                for (what, left) in [("IOPS", gauge.iops_credits), ("bytes", gauge.bytes_credits)] {
                    if let Some(left) = left {
                        let _ = write!(text, ", credits of {what} {:.0} %", left * 100.0);
                    }
                }
                if let Some(dirty) = gauge.dirty_bytes {
                    let _ = write!(text, ", {} not on a disk", bytes(dirty));
                }
            }
            text.push('\n');
        }
        text.pop();
        text
    }

    /// Keeps what a write under way replaces on every volume, so that a crash can tear it.
    pub fn be_tearable(&mut self) {
        for undo in &mut self.undo {
            undo.get_or_insert_default();
        }
    }

    /// Whether an export's volume is attached. What comes for one that is not must not change its bytes.
    #[inline]
    pub(super) fn there(&self, export: usize) -> Result<(), NbdError> {
        let volume = self.exports.exports[export].volume;
        if self.pace.storage.is_detached(volume) {
            Err(NbdError::Io)
        } else {
            Ok(())
        }
    }
}

/// That the files beneath could not be given what the emulated disks had.
fn not_put_back(broken: u64) -> String {
    match broken {
        0 => String::new(),
        broken => format!(
            "; WRONG from here on: {} could not be put back, since the files under --backing could not be written",
            bytes(broken)
        ),
    }
}
