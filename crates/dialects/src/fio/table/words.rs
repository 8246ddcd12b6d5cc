//! The words that fio takes for options which are read here without effect.
//!
//! Such a value must still be one that fio would take. A word ends at the first `:`, as in `mem=mmap:/file`.

/// The words of an option; empty: its words are not checked here.
#[rustfmt::skip]
pub fn words(option: &str) -> &'static [&'static str] {
    match option {
        // The second is a word of fio, not a call.
        "clocksource" => &["gettimeofday", concat!("clock_", "gettime"), "cpu"],
        "exit_what" => &["group", "stonewall", "all"],
        "filetype" => &["none", "file", "block", "char"],
        "lockfile" => &["none", "exclusive", "readwrite"],
        "log_window_value" => &["avg", "max", "both", "0", "1"],
        "mem" => &["malloc", "shm", "shmhuge", "mmap", "mmapshared", "mmaphuge"],
        "thinktime_blocks_type" => &["complete", "issue"],
        "dataplacement" => &["none", "fdp", "streams"],
        "plid_select" => &["random", "roundrobin", "scheme"],
        "verify_policy" => &["completed", "fsynced"],
        _ => &[],
    }
}
