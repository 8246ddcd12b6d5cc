//! A need that a record is to stand beside, where the user names one.

use std::path::PathBuf;

use clap::Args;
use fathom_profile::{Growth, Level, Profile};
use fathom_record::Record;
use fathom_report::{Met, NeedBeside};

use crate::{Code, Console, Failure, read_text, tell_warnings};

/// The options of a need.
#[derive(Debug, Clone, Args)]
pub struct NeedArgs {
    /// Lay the figures beside what this profile needs; the exit code is 6 where they do not suffice
    #[arg(long, value_name = "PROFILE")]
    pub need: Option<PathBuf>,
    /// The percentile of the need's rates [default: 99]
    #[arg(long, requires = "need", value_parser = ["50", "90", "99"])]
    pub percentile: Option<String>,
    /// Multiply the need's rates, in place of the profile's own growth
    #[arg(long, value_name = "1.5x", requires = "need")]
    pub growth: Option<String>,
}

/// A need that was read.
#[derive(Debug, Clone)]
pub struct Needed {
    profile: Profile,
    level: Level,
}

impl NeedArgs {
    /// Reads the profile, where one is named.
    ///
    /// # Errors
    /// A profile that cannot be read, or a growth that is none.
    pub fn read(&self, console: &dyn Console) -> Result<Option<Needed>, Failure> {
        let Some(path) = &self.need else {
            return Ok(None);
        };
        let name = path.display().to_string();
        let text = read_text("the profile ", path)?;
        let (mut profile, warnings) = Profile::read(&text, &name)?;
        tell_warnings(&warnings, console);
        if let Some(growth) = &self.growth {
            let parsed = growth.parse::<Growth>();
            profile.growth = parsed.map_err(|error| Failure::new(Code::Usage, error))?;
        }
        let level = match self.percentile.as_deref() {
            Some("50") => Level::P50,
            Some("90") => Level::P90,
            _ => Level::P99,
        };
        Ok(Some(Needed { profile, level }))
    }
}

impl Needed {
    /// Lays the need beside `record`.
    ///
    /// # Errors
    /// A record that has nothing of the need.
    pub fn beside(&self, record: &Record) -> Result<NeedBeside, Failure> {
        let beside = NeedBeside::new(&self.profile, self.level, record);
        beside.map_err(|error| {
            Failure::new(Code::Input, error).hint(
                "`fathom plan PROFILE -o NAME` writes a workload whose stages are the need's periods, with jobs that \
                 bear its volumes' names",
            )
        })
    }
}

/// How the program ends where a need was laid beside a record.
pub fn need_code(need: &NeedBeside) -> Code {
    match need.met() {
        Met::No => Code::Check,
        Met::Yes | Met::Unknown => Code::Success,
    }
}
