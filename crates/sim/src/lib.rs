//! A workload on modelled storage, in virtual time.
//!
//! The simulator draws I/O from the generator that real runs use, submits it to the storage model, and jumps from one due
//! time to the next. What it measures has the shape of a real run's measurements, so that one record and one report serve
//! both.
//!
//! Invariants: nothing here touches the operating system or reads a clock; the same workload, design and seed give the same
//! results, byte for byte, on every machine.

mod agenda;
mod file_sets;
mod flows;
mod gauges;
mod intervals;
mod io_logs;
mod plan;
mod predict;
mod recent;
mod replay;
mod stage;
mod worker;

pub use plan::PredictError;
pub use predict::{Prediction, predict};
pub use replay::Replay;
pub use stage::storage_rows;

#[cfg(test)]
mod tests;
