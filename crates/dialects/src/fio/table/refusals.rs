//! Why a run refuses options that the parser takes, and what to do instead.

/// Why an option is refused for good, and what to do in its place; `None`: it is not built yet.
pub fn refusal(name: &str) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "cgroup" | "cgroup_weight" => (
            "a job is a thread of this program, and control groups hold whole programs",
            "start the program in a group, as with `systemd-run --scope -p IOWeight=`",
        ),
        "unlink_each_loop" => (
            "only a job that writes, in as many passes as it is told and without checks, can begin each with new files",
            "give each pass a job of its own with stonewall and unlink=1",
        ),
        "num_range" => (
            "no engine here trims several ranges at a time; in fio `io_uring_cmd` alone does",
            "leave it out, and raise bs to trim as much at a time",
        ),
        "block_error_percentiles" => (
            "failed trims are counted, and not followed block by block",
            "leave it out; continue_on_error=write counts errors in total_err",
        ),
        "md_per_io_size" => (
            "only devices that keep protection information with each block have metadata, and no file system passes it on",
            "leave it out",
        ),
        "fdp" | "dataplacement" => (
            "only raw commands to NVMe devices say where data are placed, past the file system and the write guard",
            "leave it out",
        ),
        "lockfile" => (
            "a lock around each I/O would be measured instead of the storage",
            "leave it out, or give jobs files of their own",
        ),
        _ => return None,
    })
}
