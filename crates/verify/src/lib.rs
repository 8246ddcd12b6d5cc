//! Headers and checksums in written data, and the order in which it is written and read back.
//!
//! [`Blocks`] fills a buffer before it is written and checks one that was read. [`Program`] yields a job's I/O: its
//! writes, then the reads that check them, pass after pass. Both are pure: whoever issues the I/O (the engine) brings
//! buffers and completions.
//!
//! Memory is bounded whatever the size of a target. What was written is not kept in a list: the generator is
//! deterministic, so the writes of a pass are drawn a second time from their seed; where their order followed time, a bit
//! for each I/O is kept, up to a limit. Where blocks may be written twice in
//! a pass, the later write (by its number in the stream) is the one that counts; [`LastWriters`] finds it window by
//! window, each with one more walk through the stream.
//!
//! Vdbench's way is another: [`Stamp`] marks each sector, and [`KeyMap`] keeps how often each block was written, over all
//! stages of a run. A journal ([`recover`], [`JournalWriter`]) keeps that beyond the run's end.
//!
//! Invariants: no clock, no I/O; a header is valid for one offset of a target alone; what [`Blocks::check`] accepts was
//! written by [`Blocks::fill`] with equal settings, as far as the checksum can tell, or by fio, in a job that writes nothing.

mod backlog;
mod blocks;
mod checksum;
mod contents;
mod directions;
mod fio_header;
mod header;
mod intervals;
mod journal;
mod key_map;
mod last_writers;
mod mismatch;
mod program;
mod replay;
mod stamp;
mod state;
mod trims;

pub use blocks::{Blocks, Expected};
pub use checksum::{Digest, digest};
pub use directions::directions_follow_time;
pub use fio_header::FioHeader;
pub use header::{Header, HeaderProblem};
pub use intervals::{Intervals, LayoutProblem};
pub use journal::{Change, JournalHead, JournalProblem, JournalWriter, Recovered, recover};
pub use key_map::{BlockRange, KeyMap, Reservation, next_key};
pub use last_writers::LastWriters;
pub use mismatch::{Fault, Mismatch};
pub use program::{Completed, Drawn, Program, Step, Task};
pub use replay::{Replay, TraceIo, TraceWalks, WalkProblem};
pub use stamp::{BadBlock, Pending, SECTOR, SectorFaults, Stamp};
pub use state::{SavedState, StateError};
