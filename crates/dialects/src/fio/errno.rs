//! Error numbers of Linux that fio reports of its jobs.

/// A file that a job reads is not there.
pub const ENOENT: i32 = 2;
/// A file ends before the job does.
pub const EIO: i32 = 5;
/// A directory stands in place of a file.
pub const EISDIR: i32 = 21;
/// What can be done to devices alone.
pub const ENOTTY: i32 = 25;
/// What does not fit together.
pub const EINVAL: i32 = 22;
/// What is not carried.
pub const EOPNOTSUPP: i32 = 95;
/// A job that another's error kept from running.
pub const ECANCELED: i32 = 125;
/// How fio's queue of threads ends that its engine does not go with.
pub const ESRCH: i32 = 3;
/// Wrong data.
pub const EILSEQ: i32 = 84;
