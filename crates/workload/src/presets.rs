//! Workloads that come with Fathom, named instead of written.
//!
//! They are native files, so that a user can read, copy and change them.

use fathom_units::Bytes;

use crate::{Place, Target, Workload, native};

/// A preset: its name, its native file without targets, and the size of its fresh file.
struct Preset {
    name: &'static str,
    text: &'static str,
    size: Bytes,
}

const PRESETS: [Preset; 1] = [Preset {
    name: "quick",
    text: include_str!("../presets/quick.workload.toml"),
    size: Bytes::gib(1),
}];

/// Names of all presets.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.name)
}

/// The preset of this name on one fresh file in `directory`, which all its stages share; `None` where there is none of
/// this name.
pub fn preset(name: &str, directory: &str) -> Option<Workload> {
    let preset = PRESETS.iter().find(|preset| preset.name == name)?;
    let target = Target {
        place: Place::FreshFileIn(directory.to_owned()),
        offset: Bytes::ZERO,
        length: Some(preset.size),
    };
    let read = native::read_with_targets(preset.text, preset.name, vec![target]);
    // An empty directory's name is the only part of it that a user chooses, and only that can be refused.
    read.ok().map(|(workload, _)| workload)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, Direction};
    use fathom_units::{Bytes, Nanos, Percent};

    #[test]
    fn every_preset_is_a_workload_that_survives_its_file() {
        for name in preset_names() {
            let workload = preset(name, "/mnt/\"data\"").unwrap();
            let (again, warnings) = native::read(&native::write(&workload), name).unwrap();
            assert_eq!(again, workload, "{name}");
            let document = native::to_json(&workload);
            assert_eq!(native::from_json(&document, name).unwrap(), workload);
            assert!(warnings.0.is_empty(), "{name}: {warnings}");
        }
        assert!(preset("quik", "/mnt/data").is_none());
    }

    /// The names of stages are what a user sees; they must say what is done.
    #[test]
    fn stages_of_quick_are_what_their_names_say() {
        let workload = preset("quick", "/mnt/data").unwrap();
        assert_eq!(workload.stages.len(), 5);
        let mut measured = Nanos::ZERO;
        for (_, job) in workload.jobs() {
            let access = match job.access {
                Access::Sequential { .. } => "seq.",
                _ => "random",
            };
            let way = if job.mix.share(Direction::Read) == Percent::ALL {
                "read"
            } else {
                "write"
            };
            let block = job.block.single_size(job.mix).unwrap();
            let block = if block == Bytes::mib(1) {
                "1m".to_owned()
            } else {
                format!("{}k", block.get() / 1024)
            };
            let name = format!("{access} {way} {block} qd{}", job.depth);
            assert_eq!(job.name, name);
            assert!(job.limits.time_based);
            measured += (job.limits.warmup + job.limits.runtime.unwrap()) * 3;
            assert_eq!(job.targets, workload.stages[0].jobs[0].targets);
        }
        for stage in &workload.stages {
            assert_eq!(
                (stage.jobs[0].name.as_str(), stage.repeats),
                (stage.name.as_str(), 3)
            );
        }
        assert!(measured <= Nanos::from_secs(45), "{measured}");
    }
}
