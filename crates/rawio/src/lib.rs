//! The operating system as the engine needs it: rings, buffers, files, clocks.
//!
//! Every `unsafe` block of Fathom is here, behind interfaces that cannot be misused: a ring owns its buffers, its files
//! and the state of each request, and hands out a buffer only while no request uses it.
//!
//! Invariants: nothing here knows what a job is; each `unsafe` block says why it is sound; after a queue is made,
//! submitting and reaping allocate nothing.

mod aio;
mod attributes;
mod buffer;
mod calls;
mod clock;
mod clock_test;
mod copying;
mod credentials;
mod cycles;
mod extents;
mod file;
mod in_use;
mod inherited;
mod locked;
mod mapped;
mod mount_table;
mod nbd;
mod numa;
mod one_by_one;
mod operations;
mod output;
mod outside;
mod placement;
mod plain;
mod queue;
mod region;
mod results;
mod ring;
mod signals;
mod terminal;
mod unusable;
mod uring;
mod waking;

pub use aio::AioQueue;
pub use attributes::{may_read, may_write, touch};
pub use buffer::map_large_allocations;
pub use calls::{Calls, Submitter};
pub use clock::{
    Clock, ThreadUsage, ahead_of_wall, ahead_of_wall_clock, precise_timers, short_slices,
    sleep_until, thread_usage, wall_clock,
};
pub use clock_test::{CounterReading, CounterTest, has_counter, test_counters};
pub use credentials::{FileRights, become_user};
pub use cycles::{CycleClock, clock_reading, prepare_cycle_clock};
pub use extents::{ExtentShares, bytes_without_data, encoded_share, extent_shares};
pub use file::{
    Access, Advice, Caching, Durability, Lifetime, OpenHow, advise, atomic_write_sizes, discard,
    drop_cache, free_space, get_attribute, lifetime_number, open, open_nonblocking, open_unnamed,
    raise_open_files_limit, reopen, sector_size, set_attribute, set_lifetime, size_of,
};
pub use in_use::{FileUse, FilesInUse, active_swap_areas, uses_of_file};
pub use inherited::inherited_sockets;
pub use locked::LockedMemory;
pub use mapped::{MappedFiles, MappedWrites};
pub use mount_table::MountTable;
pub use nbd::{
    NbdExport, NbdQueue, NbdUnreachable, NbdWrites, Silence, TlsFileError, connect_to_export,
    list_exports, look_at_export, survey_export,
};
pub use numa::{MemoryMode, memory_nodes, online_processors, place_memory, processors_of_node};
pub use one_by_one::{OneByOne, Performer};
pub use operations::{
    NameOperation, Names, RangeOperation, Ranges, ReservedSize, punch_hole, reserve,
};
pub use output::stdout_is_open;
pub use outside::OutsideCalls;
pub use placement::{
    SyncParts, allowed_processors, be_nice, run_on, set_io_priority, sync_file_system, sync_range,
};
pub use plain::{NullQueue, SyncQueue};
pub use queue::{Completion, Operation, Queue, Request, SLOTS_MAX, Taken, Trims};
pub use region::{Piece, Region, receive_into, send_pieces, unread_bytes, write_pieces};
pub use results::{Begin, is_refusal_of_results, look_for_results, open_results};
pub use signals::{FILE_SIZE_SIGNAL, is_ignored};
pub use terminal::is_in_foreground;
pub use unusable::{RingUnusable, lockable};
pub use uring::{UringQueue, probe_uring};
pub use waking::Waking;
