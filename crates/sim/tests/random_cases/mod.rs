//! Random designs and workloads, as text that `fathom predict` would read.
//!
//! A case depends on its seed alone. Runs are short (a few thousand I/Os), since what is wanted is variety.

mod designs;
mod dice;
mod workloads;

use fathom_catalog::Catalog;
use fathom_model::Design;
use fathom_workload::{Workload, native};

use dice::Dice;

/// A design and a workload on it.
#[derive(Debug, Clone)]
pub struct Case {
    pub seed: u64,
    pub design_text: String,
    pub workload_text: String,
    pub design: Design,
    pub workload: Workload,
}

/// The case of `seed`.
pub fn case(seed: u64) -> Case {
    let mut dice = Dice::new(seed);
    let (design, mounts) = designs::design(&mut dice);
    let workload = workloads::workload(&mut dice, &mounts);
    Case::new(seed, &design, &workload)
}

impl Case {
    /// The case of these texts.
    pub fn new(seed: u64, design_text: &str, workload_text: &str) -> Self {
        let name = format!("case {seed}");
        let design = match Design::read(design_text, &name, Catalog::builtin()) {
            Ok((design, _)) => design,
            Err(complaints) => panic!("{complaints}\n{design_text}"),
        };
        let workload = match native::read(workload_text, &name) {
            Ok((workload, _)) => workload,
            Err(complaints) => panic!("{complaints}\n{workload_text}"),
        };
        Self {
            seed,
            design_text: design_text.to_owned(),
            workload_text: workload_text.to_owned(),
            design,
            workload,
        }
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "case {}\n--- design\n{}\n--- workload\n{}",
            self.seed, self.design_text, self.workload_text
        )
    }
}
