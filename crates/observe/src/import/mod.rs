//! Readers of what other tools wrote, each into an [`Observation`](crate::Observation).
