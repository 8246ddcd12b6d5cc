//! Vdbench 5.04.07: its parameter files, and its output directory.

pub mod output;
