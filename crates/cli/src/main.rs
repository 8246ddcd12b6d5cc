//! The `fathom` binary: arguments, exit codes, wiring; the only place that prints.
fn main() {}
