//! Properties that every prediction has, whatever the design and the workload.

#[path = "../random_cases/mod.rs"]
mod random_cases;

mod allowance;
mod determinism;
mod drive;
mod examples;
mod littles_law;
mod queueing;
mod saturation;
mod scale;
