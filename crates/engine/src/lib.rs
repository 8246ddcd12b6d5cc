//! Runs a workload on real storage.
//!
//! [`preflight`] looks at everything and refuses what must not or cannot be; [`run`] then lays files out or reserves them, runs each
//! stage's workers on threads of their own, and hands back what they measured.
//!
//! Data plane and control plane are apart: a worker allocates, locks and formats nothing between its first and its last
//! I/O; it hands its operations over once a second through bounded channels, and the control thread adds them up.
//!
//! Invariants: nothing is printed; the clock is [`fathom_rawio::Clock`] alone; nothing is written to a block device that
//! the write guard did not let pass; what was measured is returned whatever ends the run.

mod background;
mod bursts;
mod calls;
mod character;
mod collect;
mod complaints;
mod counters;
mod denied;
mod error;
mod exports;
mod failures;
mod file_sets;
mod fresh;
mod gate;
mod growth;
mod guard;
mod handed_over;
mod held_back;
mod holes;
mod interval;
mod io_log;
mod journal;
mod layout;
mod left;
mod marker;
mod merged;
mod numa;
mod options;
mod order;
mod parents;
mod preflight;
mod processors;
mod remote;
mod run;
mod scheduler;
mod shell;
mod space;
mod stage;
mod standing;
mod start;
mod steady;
mod stop;
mod store;
mod survey;
mod targets;
mod thread;
mod timing;
mod tolerance;
mod trace;
mod undo;
mod validation;
mod verification;
mod worker;
mod zeroes;

pub use error::{About, Capability, EngineError, ExitClass, Refusal, TraceLeft};
pub use gate::{Gate, Upcoming};
pub use guard::{means_device, refuse_results};
pub use merged::merge_traces;
pub use options::{ErrorPolicy, Overwrite, RunOptions};
pub use preflight::{Plan, PlannedStage, preflight};
pub use run::{RunFacts, RunOutcome, StageFacts, run, run_gated, run_planned};
pub use stop::StopFlag;
pub use survey::{
    DeviceFacts, ExportFacts, FileSystem, Survey, TargetKind, Writing, block_devices, export_size,
    size_exports, survey,
};
pub use targets::{
    MAKE_ANCHOR, MAKE_DIRECTORY, MAKE_FIRST, MAP_THE_FILE, NAME_A_FILE, NAME_A_VOLUME,
};
