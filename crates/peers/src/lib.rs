//! Drivers of the verbs that take a peer's place.
//!
//! `fathom fio` and `fathom diskspd` read their peer's own command line, run what it asks for, and answer in its own words and exit codes. Reading
//! and writing a peer's formats is the business of `dialects`; a driver puts its parts together and prints nothing but
//! through the [`fathom_session::Console`] it is given.

mod diskspd;
mod fio;

pub use diskspd::diskspd;
pub use fio::fio;
