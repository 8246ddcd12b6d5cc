//! What makes storage faster, factor by factor.

/// The rules of the guide on premium storage (2016, "at a glance"), with what this planner does about each.
pub const fn factors() -> &'static str {
    FACTORS
}

const FACTORS: &str = "\
What makes storage faster (guide on premium storage, 2016), and what `fathom plan` does about it

factor         for IOPS                       for throughput                for latency
typical use    many small transactions        large scans of much data      an answer at once
I/O size       small: 8 KiB of databases      large: 1 MiB of warehouses    -
machine size   its IOPS above the need        its MB/s above the need       both, with headroom
disk size      its IOPS above the need        its MB/s above the need       both, with headroom
scale limits   the machine's IOPS above the sum of its disks'; the same of MB/s, for throughput and latency
disk caching   read-only where reads abound   -                             read-only where reads abound
striping       more disks add their IOPS      more disks add their MB/s     -
stripe unit    64 KiB for small random I/O    256 KiB for large scans       -
threads        more keep more I/Os in flight  more keep more in flight      -
queue depth    deeper gives more IOPS         deeper gives more MB/s        shallower is sooner

plan: I/O size       from the profile; 8 KiB is assumed where nothing says it
plan: machine, disks every size of the catalogue against need, in IOPS, bytes and space; the limit that binds first is named
plan: caching        none for logs and for what is mostly written, read-only otherwise, where machine and disk can
plan: striping       one column a disk; 64 KiB where no I/O is larger, 256 KiB otherwise
plan: queue depth    IOPS x latency (Little's law), for a volume and for each column: 5,000 at 1 ms are 5
";
