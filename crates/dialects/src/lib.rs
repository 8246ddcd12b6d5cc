//! Readers of the peers' inputs and writers of the peers' outputs.
//!
//! A storage test that already exists is worth more than a new one: each module takes one peer's own files and
//! arguments into the workload model, and prints a run in that peer's own layout, so that what reads the peer's output
//! reads ours.
//!
//! Invariants: nothing here issues workload I/O or reads a clock; a reader gathers every complaint before it gives up;
//! what a peer takes, its reader takes, with a warning where the peer's reading is not what the writer meant.

pub mod diskperformance;
pub mod diskspd;
mod errno;
pub mod fio;
pub mod iometer;
mod marked;
pub mod sqlio;
pub mod vdbench;
mod wide;
