//! The constant tables written when the crate is built, from the files under `data`.
#![expect(
    clippy::unreadable_literal,
    reason = "written by a program, read by none"
)]

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos};

use crate::{
    Accounting, AccountingMode, AdjustableDisk, Budget, Burst, BurstMode, CacheAccess, Disk,
    DiskKind, Era, HostCacheRules, IoUnit, LatencyTarget, Limits, MediaLatency, Price, Source,
    VmSize,
};

include!(concat!(env!("OUT_DIR"), "/tables.rs"));
