//! What options are where they are not given, and the bounds of those that have some, as help tells them.
//!
//! Source: `--cmdhelp` of fio 3.42. A default that fio works out from other options is none here.

/// Name, default and bounds; empty: none. Sorted by name.
#[rustfmt::skip]
const ROWS: &[(&str, &str, &str)] = &[
    ("allow_file_create", "1", ""),
    ("allow_mounted_write", "0", ""),
    ("atomic", "0", ""),
    ("ba", "", "min=1"),
    ("block_error_percentiles", "0", ""),
    ("bs", "4096", "min=1"),
    ("bsrange", "", "min=1"),
    ("buffer_compress_chunk", "512", ""),
    ("buffer_compress_percentage", "", "min=0, max=100"),
    ("buffered", "1", ""),
    ("bwavgtime", "500", ""),
    ("cgroup_nodelete", "0", ""),
    ("cgroup_weight", "", "min=100, max=1000"),
    ("clat_percentiles", "1", ""),
    ("continue_on_error", "none", ""),
    ("cpuchunks", "50000", ""),
    ("cpumode", "noop", ""),
    ("create_fsync", "1", ""),
    ("create_on_open", "0", ""),
    ("create_only", "0", ""),
    ("create_serialize", "1", ""),
    ("dataplacement", "none", ""),
    ("dedupe_global", "0", ""),
    ("dedupe_mode", "repeat", ""),
    ("dedupe_percentage", "", "min=0, max=100"),
    ("dedupe_working_set_percentage", "5", "min=0, max=100"),
    ("direct", "0", ""),
    ("disable_bw_measurement", "0", ""),
    ("disable_clat", "0", ""),
    ("disable_lat", "0", ""),
    ("disable_slat", "0", ""),
    ("disk_util", "1", ""),
    ("do_verify", "1", ""),
    ("end_fsync", "0", ""),
    ("end_syncfs", "0", ""),
    ("error_dump", "0", ""),
    ("exit_on_io_done", "0", ""),
    ("exit_what", "group", ""),
    ("fadvise_hint", "1", ""),
    ("fallocate", "native", ""),
    ("fdatasync", "0", ""),
    ("fdp", "0", ""),
    ("file_append", "0", ""),
    ("file_service_type", "roundrobin", ""),
    ("filename_format", "$jobname.$jobnum.$filenum", ""),
    ("filesize", "", "min=1"),
    ("filetype", "none", ""),
    ("fill_device", "0", ""),
    ("flow", "0", "min=0, max=1000"),
    ("flow_id", "0", ""),
    ("flow_sleep", "0", ""),
    ("fsync", "0", ""),
    ("fsync_on_close", "0", ""),
    ("gtod_reduce", "0", ""),
    ("hugepage-size", "2097152", ""),
    ("ignore_zone_limits", "0", ""),
    ("invalidate", "1", ""),
    ("io_submit_mode", "inline", ""),
    ("iodepth", "1", "min=1"),
    ("iodepth_batch", "1", ""),
    ("iodepth_batch_complete_min", "1", ""),
    ("ioengine", "psync", ""),
    ("iopsavgtime", "500", ""),
    ("job_max_open_zones", "0", "min=0, max=4096"),
    ("kb_base", "1024", ""),
    ("lat_percentiles", "0", ""),
    ("latency_percentile", "100", "min=0, max=100"),
    ("latency_run", "0", ""),
    ("lockfile", "none", ""),
    ("lockmem", "0", ""),
    ("log_avg_msec", "0", ""),
    ("log_compression", "", "min=1024, max=536870912"),
    ("log_entries", "1024", "min=1024, max=1048576"),
    ("log_hist_coarseness", "0", "min=0, max=6"),
    ("log_hist_msec", "0", ""),
    ("log_issue_time", "0", ""),
    ("log_offset", "0", ""),
    ("log_prio", "0", ""),
    ("log_window_value", "avg", ""),
    ("loops", "1", ""),
    ("max_open_zones", "0", "min=0, max=4096"),
    ("mem", "malloc", ""),
    ("nice", "0", "min=-20, max=19"),
    ("nrfiles", "1", ""),
    ("num_range", "1", "min=0, max=256"),
    ("number_ios", "0", ""),
    ("numjobs", "1", ""),
    ("offset", "0", ""),
    ("offset_align", "0", ""),
    ("offset_increment", "0", ""),
    ("overwrite", "0", ""),
    ("per_job_logs", "1", ""),
    ("percentage_random", "100,100,100", "min=0, max=100"),
    ("percentile_list", "1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99", "min=0, max=100"),
    ("plid_select", "roundrobin", ""),
    ("pre_read", "0", ""),
    ("prio", "", "min=0, max=7"),
    ("prioclass", "", "min=0, max=3"),
    ("priohint", "", "min=0, max=1023"),
    ("ramp_size", "", "min=1"),
    ("random_distribution", "random", ""),
    ("random_generator", "tausworthe", ""),
    ("randrepeat", "1", ""),
    ("randseed", "0x89", ""),
    ("rate_cycle", "1000", ""),
    ("rate_process", "linear", ""),
    ("read_beyond_wp", "0", ""),
    ("read_iolog_chunked", "0", ""),
    ("replay_no_stall", "0", ""),
    ("replay_scale", "1", ""),
    ("replay_time_scale", "100", "min=1"),
    ("runtime", "0", ""),
    ("rw", "read", ""),
    ("rw_sequencer", "sequential", ""),
    ("rwmixread", "50", "min=0, max=100"),
    ("rwmixwrite", "50", "min=0, max=100"),
    ("scramble_buffers", "1", ""),
    ("serialize_overlap", "0", ""),
    ("significant_figures", "4", "min=1, max=10"),
    ("slat_percentiles", "0", ""),
    ("sprandom", "0", ""),
    ("startdelay", "0", ""),
    ("stats", "1", ""),
    ("steadystate", "iops_slope:0.01%", ""),
    ("steadystate_check_interval", "1", ""),
    ("steadystate_duration", "0", ""),
    ("steadystate_ramp_time", "0", ""),
    ("sync", "none", ""),
    ("thinkcycles", "0", ""),
    ("thinktime", "0", ""),
    ("thinktime_blocks", "1", ""),
    ("thinktime_blocks_type", "complete", ""),
    ("thinktime_iotime", "0", ""),
    ("thinktime_spin", "0", ""),
    ("trim_percentage", "0", "min=0, max=100"),
    ("trim_verify_zero", "1", ""),
    ("unified_rw_reporting", "none", ""),
    ("unique_filename", "1", ""),
    ("unlink", "0", ""),
    ("unlink_each_loop", "0", ""),
    ("verify", "0", ""),
    ("verify_async", "0", ""),
    ("verify_dump", "0", ""),
    ("verify_fatal", "0", ""),
    ("verify_header_seed", "1", ""),
    ("verify_interval", "", "min=96"),
    ("verify_offset", "", "min=48"),
    ("verify_pattern_interval", "0", ""),
    ("verify_state_save", "1", ""),
    ("verify_write_sequence", "1", ""),
    ("write_barrier", "0", ""),
    ("zone_reset_frequency", "", "min=0, max=1"),
    ("zone_reset_threshold", "", "min=0, max=1"),
    ("zonecapacity", "0", ""),
    ("zonemode", "none", ""),
    ("zonerange", "0", ""),
    ("zonesize", "0", ""),
    ("zoneskip", "0", ""),
];

/// Default and bounds of an option, where it has them.
pub fn usual(name: &str) -> (Option<&'static str>, Option<&'static str>) {
    let told = |text: &'static str| (!text.is_empty()).then_some(text);
    match ROWS.binary_search_by_key(&name, |row| row.0) {
        Ok(at) => (told(ROWS[at].1), told(ROWS[at].2)),
        Err(_) => (None, None),
    }
}

/// The least and the most that an option takes; where it has no bounds, those of any number.
pub fn bounds(name: &str) -> (u64, u64) {
    let told = usual(name).1.unwrap_or_default();
    let bound = |which: &str| {
        let mut parts = told.split(", ");
        parts.find_map(|part| part.strip_prefix(which)?.parse().ok())
    };
    (
        bound("min=").unwrap_or(0),
        bound("max=").unwrap_or(u64::MAX),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio::table;

    #[test]
    fn every_row_is_found_and_is_of_an_option() {
        for (name, default, range) in ROWS {
            let told = usual(name);
            assert_eq!(
                (told.0.unwrap_or(""), told.1.unwrap_or("")),
                (*default, *range)
            );
            assert!(
                table::find(name).is_some_and(|row| row.name == *name),
                "{name}"
            );
        }
        assert_eq!(usual("filename"), (None, None));
        assert_eq!(bounds("log_entries"), (1 << 10, 1 << 20));
        assert_eq!(bounds("bs"), (1, u64::MAX));
        assert_eq!(bounds("filename"), (0, u64::MAX));
    }
}
