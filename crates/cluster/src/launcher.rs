//! Who started this process: a launcher of MPI, or a person.
//!
//! `MPI_Init` is called under a launcher alone: without one, some MPIs start as the first of one, others look for a program to
//! start more, and none says that no other host takes part. A launcher of another MPI than the one that is linked gives so
//! many runs of one host each, which would be told as one of many; so the number that the launcher promised is held against
//! the number that MPI sees.

use fathom_session::{Code, Failure};

/// What launchers tell: Open MPI's `mpirun`, MPICH's `mpiexec` and others by PMI, Slurm's `srun` by PMI or PMIx.
const LAUNCHED: &[&str] = &["OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK"];
/// How many processes they started.
const SIZES: &[&str] = &["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// How it is started, for whoever did not.
const HOW: &str = "start one on each host: `mpirun --hostfile HOSTS --map-by ppr:1:node --bind-to none fathom-mpi run …`; \
                   for this machine alone there is `fathom run …`";

/// Options by which a launcher starts one process on each host, by what it sets.
const ONE_EACH: &[(&str, &str)] = &[
    ("OMPI_COMM_WORLD_SIZE", "--map-by ppr:1:node"),
    ("SLURM_STEP_NUM_TASKS", "--ntasks-per-node=1"),
    ("PMI_RANK", "-ppn 1"),
];

/// The option of the launcher that this environment tells of for one process on each host; `None` of one that is not known.
pub fn one_each(environment: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let mut all = ONE_EACH.iter();
    let (_, option) = all.find(|(name, _)| environment(name).is_some())?;
    Some(option)
}

/// A launcher that started this process, and how many it started; `None` where it does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launcher {
    started: Option<u64>,
}

impl Launcher {
    /// The launcher that the environment tells of.
    ///
    /// # Errors
    /// There is none, or it does not speak to MPI.
    pub fn of(environment: impl Fn(&str) -> Option<String>) -> Result<Self, Failure> {
        let mut sizes = SIZES.iter().filter_map(|name| environment(name));
        let started = sizes.find_map(|size| size.parse().ok());
        if LAUNCHED.iter().any(|name| environment(name).is_some()) {
            return Ok(Self { started });
        }
        if let Some(several) = started.filter(|several| *several > 1) {
            let message = format!(
                "`srun` started {several} processes without MPI: each would be a run of its own"
            );
            return Err(Failure::new(Code::Usage, message).hint("add `--mpi=pmix` to `srun`"));
        }
        let message = "no launcher of MPI started this program";
        Err(Failure::new(Code::Usage, message).hint(HOW))
    }

    /// Holds what it started against what MPI sees.
    ///
    /// # Errors
    /// They differ.
    pub fn check(self, seen: u64) -> Result<(), Failure> {
        let Some(started) = self.started.filter(|started| *started != seen) else {
            return Ok(());
        };
        let message =
            format!("the launcher started {started} processes, but MPI sees {seen} of them");
        let hint = "start it by the launcher of the MPI that it was built with (`ldd` on it names the library), or build it \
                    with this one's";
        Err(Failure::new(Code::Unsupported, message).hint(hint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launcher(set: &[(&str, &str)]) -> Result<Launcher, String> {
        let value = |name: &str| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Launcher::of(value).map_err(|failure| failure.message)
    }

    #[test]
    fn launchers_are_told_by_what_they_set() {
        let check = |set: &[(&str, &str)], started: Option<u64>| {
            assert_eq!(launcher(set), Ok(Launcher { started }), "{set:?}");
        };
        check(&[("OMPI_COMM_WORLD_SIZE", "3")], Some(3));
        check(&[("PMI_RANK", "0"), ("PMI_SIZE", "2")], Some(2));
        check(
            &[("PMIX_RANK", "0"), ("SLURM_STEP_NUM_TASKS", "4")],
            Some(4),
        );
        check(&[("PMIX_RANK", "0")], None);
    }

    #[test]
    fn the_option_for_one_each_is_the_launchers_own() {
        let option = |set: &[&str]| one_each(|name| set.contains(&name).then(String::new));
        assert_eq!(
            option(&["OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "SLURM_STEP_NUM_TASKS"]),
            Some("--map-by ppr:1:node")
        );
        assert_eq!(
            option(&["PMIX_RANK", "SLURM_STEP_NUM_TASKS", "PMI_RANK"]),
            Some("--ntasks-per-node=1")
        );
        assert_eq!(option(&["PMI_RANK", "PMI_SIZE"]), Some("-ppn 1"));
        assert_eq!(option(&["PMIX_RANK"]), None);
    }

    #[test]
    fn without_a_launcher_it_is_said_how_to_start() {
        let told = launcher(&[]).unwrap_err();
        assert!(told.contains("`mpirun --hostfile HOSTS"), "{told}");
        assert!(launcher(&[("SLURM_STEP_NUM_TASKS", "1")]).is_err());
        let told = launcher(&[("SLURM_STEP_NUM_TASKS", "2")]).unwrap_err();
        assert!(told.contains("add `--mpi=pmix`"), "{told}");
    }

    #[test]
    fn what_mpi_sees_is_what_was_started() {
        let three = Launcher { started: Some(3) };
        assert!(three.check(3).is_ok());
        assert!(Launcher { started: None }.check(7).is_ok());
        let told = three.check(1).unwrap_err();
        assert_eq!(told.code, Code::Unsupported);
        assert!(
            told.message.contains("MPI sees 1 of them"),
            "{}",
            told.message
        );
    }
}
