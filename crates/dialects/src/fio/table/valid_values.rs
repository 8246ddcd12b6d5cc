//! The values that fio's help lists for an option, each with what it asks for.
//!
//! A value that has parts is listed by the word it begins with, as in `zipf:1.2` and `mem=mmap:/file`. Source of the words:
//! fio's own `--cmdhelp=OPTION` (3.42).

/// A word, and what it asks for; empty where the word says it.
pub type ValidValue = (&'static str, &'static str);

/// Those of an option, in fio's order; empty: its values are no list.
pub fn valid_values(option: &str) -> &'static [ValidValue] {
    let found = LISTS.iter().find(|(name, _)| *name == option);
    found.map_or(&[], |(_, values)| values)
}

#[rustfmt::skip]
const LISTS: &[(&str, &[ValidValue])] = &[
    ("filetype", &[("none", ""), ("file", ""), ("block", ""), ("char", "")]),
    ("lockfile", &[
        ("none", "No lock"),
        ("exclusive", "One I/O at a time"),
        ("readwrite", "Many reads, or one write"),
    ]),
    ("rw", &[
        ("read", "Reads one after the other"),
        ("write", "Writes one after the other"),
        ("trim", "Trims one after the other"),
        ("randread", "Reads in random places"),
        ("randwrite", "Writes in random places"),
        ("randtrim", "Trims in random places"),
        ("rw", "Reads and writes, each one after the other"),
        ("readwrite", "The same as `rw`"),
        ("randrw", "Reads and writes in random places"),
        ("trimwrite", "A trim, then a write of the same place, one after the other"),
        ("randtrimwrite", "A trim, then a write of the same place, in random places"),
    ]),
    ("rw_sequencer", &[
        ("sequential", "The next place, after each draw"),
        ("identical", "The same place, until the next draw"),
    ]),
    ("random_generator", &[
        ("tausworthe", "64 bits whatever is asked for: it does not run out"),
        ("lfsr", "Each block once"),
        ("tausworthe64", "The same as `tausworthe`"),
    ]),
    ("random_distribution", &[
        ("random", "All places alike"),
        ("zipf", "Few places often, by Zipf's law"),
        ("pareto", "Few places often, by Pareto's"),
        ("normal", "Around one place (Gauss)"),
        ("zoned", "Shares of the I/O for shares of the place"),
        ("zoned_abs", "Shares of the I/O for sizes of the place"),
    ]),
    ("file_service_type", &[
        ("random", "Any file, all alike"),
        ("zipf", "Few files often, by Zipf's law"),
        ("pareto", "Few files often, by Pareto's"),
        ("normal", "Around one file (Gauss)"),
        ("gauss", "The same as `normal`"),
        ("roundrobin", "One file after the other"),
        ("sequential", "The next file where one is done"),
    ]),
    ("fallocate", &[
        ("none", "Nothing is reserved"),
        ("native", "By the file system, where it can"),
        ("posix", "By `posix_fallocate`"),
        ("keep", "Beyond the end of the file, which keeps its size"),
        ("truncate", "Its size alone is set"),
        ("0", "The same as `none`"),
        ("1", "The same as `posix`"),
    ]),
    ("fadvise_hint", &[
        ("0", "No advice"),
        ("1", "By the order of the I/O"),
        ("random", "POSIX_FADV_RANDOM"),
        ("sequential", "POSIX_FADV_SEQUENTIAL"),
        ("noreuse", "POSIX_FADV_NOREUSE"),
    ]),
    ("sync_file_range", &[
        ("wait_before", "Wait for what is being written, then begin"),
        ("write", "Begin to write"),
        ("wait_after", "Wait until it is written"),
    ]),
    ("dedupe_mode", &[
        ("repeat", "The block before"),
        ("working_set", "Any block of the first `dedupe_working_set_percentage`"),
    ]),
    ("sync", &[("none", ""), ("0", "The same as `none`"), ("sync", "O_SYNC"), ("1", "The same as `sync`"), ("dsync", "O_DSYNC")]),
    ("write_hint", &[("none", ""), ("short", ""), ("medium", ""), ("long", ""), ("extreme", "")]),
    ("verify", &[
        ("0", "Nothing is checked"),
        ("md5", "MD5 of each block, in its header"),
        ("crc64", "CRC-64"),
        ("crc32", "CRC-32"),
        ("crc32c-intel", "The same as `crc32c`"),
        ("crc32c", "CRC-32C, by the processor's instruction where it has one"),
        ("crc16", "CRC-16"),
        ("crc7", "CRC-7"),
        ("sha1", "SHA-1"),
        ("sha256", "SHA-256"),
        ("sha512", "SHA-512"),
        ("sha3-224", "SHA3-224"),
        ("sha3-256", "SHA3-256"),
        ("sha3-384", "SHA3-384"),
        ("sha3-512", "SHA3-512"),
        ("xxhash", "xxHash"),
        ("meta", "The header alone"),
        ("pattern", "`verify_pattern`, without a header"),
        ("pattern_hdr", "`verify_pattern` behind a header"),
        ("null", "As a check, of nothing"),
    ]),
    ("zonemode", &[
        ("none", "No zones"),
        ("strided", "I/O within one zone, then within the next"),
        ("zbd", "Zones of a zoned block device; refused here"),
    ]),
    ("dataplacement", &[("none", ""), ("fdp", "Flexible data placement"), ("streams", "Streams")]),
    ("plid_select", &[("random", ""), ("roundrobin", ""), ("scheme", "By a file that says which place has which")]),
    ("io_submit_mode", &[("inline", "By the job itself"), ("offload", "By threads of its own")]),
    // The second is a word of fio, not a call.
    ("clocksource", &[("gettimeofday", ""), (concat!("clock_", "gettime"), ""), ("cpu", "The processor's counter")]),
    ("mem", &[
        ("malloc", ""),
        ("shm", "Shared memory"),
        ("shmhuge", "Shared memory of huge pages"),
        ("mmap", "Mapped memory, or a mapped file"),
        ("mmapshared", "The same, shared"),
        ("mmaphuge", "Mapped huge pages"),
    ]),
    ("thinktime_blocks_type", &[("complete", "I/Os that are done"), ("issue", "I/Os that are begun")]),
    ("rate_process", &[("linear", "All gaps alike"), ("poisson", "Gaps as between chance events")]),
    ("cpus_allowed_policy", &[("shared", "All of a job's may run on all"), ("split", "Each has one of its own")]),
    ("cpumode", &[("noop", "Rounds of a loop that does nothing"), ("qsort", "Sorts numbers")]),
    ("exit_what", &[
        ("group", "All jobs of its group"),
        ("stonewall", "All that run; the next stonewall's begin"),
        ("all", "Everything"),
    ]),
    ("log_window_value", &[
        ("avg", "The mean of a window"),
        ("max", "The largest of a window"),
        ("both", "Both"),
        ("0", "The same as `avg`"),
        ("1", "The same as `max`"),
    ]),
    ("unified_rw_reporting", &[
        ("none", "Each direction by itself"),
        ("mixed", "All directions as one"),
        ("both", "Each, and all as one behind them"),
        ("0", "The same as `none`"),
        ("1", "The same as `mixed`"),
        ("2", "The same as `both`"),
    ]),
    ("continue_on_error", &[
        ("none", "The first error ends the job"),
        ("read", "Errors of reads do not"),
        ("write", "Errors of writes do not"),
        ("io", "Errors of neither do"),
        ("verify", "What is found wrong does not"),
        ("all", "None does"),
        ("0", "The same as `none`"),
        ("1", "The same as `all`"),
    ]),
    ("verify_policy", &[("completed", ""), ("fsynced", "")]),
    ("kb_base", &[("1024", "k is 1,024, and Ki 1,000"), ("1000", "As the standards have it: k is 1,000, and Ki 1,024")]),
    ("unit_base", &[("0", "As is usual for the engine"), ("8", "Bytes"), ("1", "Bits")]),
    ("steadystate", &[
        ("iops", "No IOPS is further from their mean"),
        ("iops_slope", "The slope of the IOPS"),
        ("bw", "No throughput is further from their mean"),
        ("bw_slope", "The slope of the throughput"),
        ("lat", "No latency is further from their mean"),
        ("lat_slope", "The slope of the latency"),
    ]),
];
