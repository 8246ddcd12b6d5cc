//! Drivers of the verbs that take a peer's place.
//!
//! `fathom fio` reads fio's own command line, runs what it asks for, and answers in fio's own words and exit codes. Reading
//! and writing a peer's formats is the business of `dialects`; a driver puts its parts together and prints nothing but
//! through the [`fathom_session::Console`] it is given.

mod fio;

pub use fio::fio;
