//! The values in force, and where each came from.

use std::fmt::Write as _;

use super::IometerInput;

/// One comment line a value, for `fathom explain`.
pub fn origins(input: &IometerInput) -> String {
    let mut text = String::from("# values in force, and where each came from\n");
    let options = &input.options;
    let from = |own: bool| match (own, &options.config) {
        (true, _) => "command line",
        (false, Some(file)) => file.as_str(),
        (false, None) => "Iometer's default",
    };
    let first = input
        .workload
        .stages
        .first()
        .and_then(|stage| stage.jobs.first());
    let mut tell = |value: String, origin: &str| {
        let _ = writeln!(text, "#   {value:48} {origin}");
    };
    tell(format!("test type {}", input.test_type), from(false));
    if let Some(job) = first {
        let limits = job.limits;
        let runtime = limits.runtime.unwrap_or_default();
        tell(format!("run time {runtime}"), from(options.time.is_some()));
        tell(
            format!("ramp-up {}", limits.warmup),
            from(options.ramp_up.is_some()),
        );
    }
    for manager in input.managers.iter().filter(|name| !name.is_empty()) {
        tell(format!("manager {manager}"), from(false));
    }
    for (stage, test) in input.workload.stages.iter().zip(&input.tests) {
        tell(
            format!("test `{}`", stage.name),
            from(!options.specs.is_empty()),
        );
        for row in &test.rows {
            let what = format!("  {} on {}", row.worker_name, row.target);
            tell(what, from(!options.targets.is_empty()));
            let depth = format!("    {} outstanding, `{}`", row.depth, row.spec);
            tell(depth, from(options.depth.is_some()));
        }
    }
    text.push('\n');
    text
}
