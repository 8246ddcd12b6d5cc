//! A second implementation of the storage model, slow and obvious, and its agreement with the one that is shipped.
//!
//! It shares with it what says what is asked (design, workload, generator, and the tables of media latency), and nothing of
//! what answers: limits are exact fractions, queues and caches plain lists, events lie in one sorted list.
//! Both must give every worker the same I/Os with the same latencies, to the nanosecond. Ties are part of that: at one time,
//! departures come first, in the order of their queues; then the ends of delays, in the order in which they began; then
//! whatever the run does.
//!
//! So what is found of the departures here (no window serves more than its allowance, a queue that never empties loses
//! nothing) holds for the shipped one too.

#[path = "../random_cases/mod.rs"]
mod random_cases;

mod agreement;
mod allowance;
mod build;
mod cache;
mod compare;
mod coverage;
mod draw;
mod eviction;
mod layout;
mod queue;
mod run;
mod storage;
mod stripe;
mod volume;
mod windows;
mod worker;
mod write_back;
