//! Typed sizes, times and rates.
//!
//! A number without its unit is how storage figures go wrong (MB against MiB, µs against ns), so every quantity in
//! Fathom is one of these newtypes over an integer. Rates are computed at the edge, from counts and times, never kept.
//!
//! Invariant: nothing here reads a clock or does I/O.
//!
//! ```
//! use fathom_units::{Bytes, Nanos};
//! assert_eq!("64KiB".parse::<Bytes>().unwrap(), Bytes::kib(64));
//! assert_eq!("1.5ms".parse::<Nanos>().unwrap(), Nanos::from_micros(1500));
//! assert_eq!(Bytes::mib(3).to_string(), "3 MiB");
//! ```

mod bytes;
mod counted;
mod decimal;
mod divisor;
mod nanos;
mod percent;
mod rates;

pub use bytes::Bytes;
pub use counted::{counted, counted_ios};
pub use decimal::{ParseUnitError, group_digits};
pub use divisor::common_divisor;
pub use nanos::Nanos;
pub use percent::Percent;
pub use rates::{BytesPerSec, Iops, per_second};
