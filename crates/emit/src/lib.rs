//! Scripts that build a planned design, and that verify the real thing; and the verb `fathom plan`.
//!
//! Nothing here is run: a script is text, which its reader looks through and runs. Scripts leave what exists as it is, name
//! what they are going to do, and never change a disk's caching in silence.
//!
//! Invariant: what a user named comes into a script as a quoted value (the module `quote`) or as letters and digits alone.

mod azure_cli;
mod bicep;
mod build;
mod counters;
mod hcl;
mod linux;
mod mounts;
mod quote;
mod terraform;
mod verb;
mod windows;
mod workloads;

use fathom_planner::{Offer, Plan};

pub use verb::{PlanArgs, plan};

use build::Build;

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emit {
    /// Machines, disks, volumes and shares, with the provider's command line.
    Az,
    /// The same for the provider's resource manager.
    Bicep,
    /// The same for Terraform.
    Terraform,
    /// Storage Spaces and SMB multichannel on Windows.
    Powershell,
    /// Striped disks on Linux, by the md driver.
    Mdadm,
    /// Striped disks on Linux, by the logical volume manager.
    Lvm,
    /// Mounts of volumes and shares on Linux, with windows and slots.
    Mount,
    /// Performance counters on Windows.
    Logman,
    /// The need as a job file.
    Fio,
    /// The need as command lines.
    Diskspd,
    /// The need as a parameter file.
    Vdbench,
}

impl Emit {
    /// All, in the order in which they are listed.
    pub const ALL: [Self; 11] = [
        Self::Az,
        Self::Bicep,
        Self::Terraform,
        Self::Powershell,
        Self::Mdadm,
        Self::Lvm,
        Self::Mount,
        Self::Logman,
        Self::Fio,
        Self::Diskspd,
        Self::Vdbench,
    ];

    /// Its word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Az => "az",
            Self::Bicep => "bicep",
            Self::Terraform => "terraform",
            Self::Powershell => "powershell",
            Self::Mdadm => "mdadm",
            Self::Lvm => "lvm",
            Self::Mount => "mount",
            Self::Logman => "logman",
            Self::Fio => "fio",
            Self::Diskspd => "diskspd",
            Self::Vdbench => "vdbench",
        }
    }

    /// What goes by that word.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|emit| emit.name() == name)
    }
}

/// A script, and what it cannot say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The whole text.
    pub text: String,
    /// What its reader must know besides.
    pub notes: Vec<String>,
}

impl Script {
    fn plain(text: String) -> Self {
        Self {
            text,
            notes: Vec::new(),
        }
    }
}

/// Writes `what` for one offer of `plan`.
///
/// # Errors
/// Words, where the offer has nothing that such a script is for.
pub fn emit(what: Emit, plan: &Plan, offer: &Offer) -> Result<Script, String> {
    let build = Build::new(plan, offer);
    match what {
        Emit::Az => Ok(Script::plain(azure_cli::script(&build))),
        Emit::Bicep => Ok(Script::plain(bicep::template(&build))),
        Emit::Terraform => Ok(Script::plain(terraform::configuration(&build))),
        Emit::Powershell => windows::script(&build).map(Script::plain),
        Emit::Mdadm => linux::mdadm(&build).map(Script::plain),
        Emit::Lvm => linux::lvm(&build).map(Script::plain),
        Emit::Mount => mounts::script(&build).map(Script::plain),
        Emit::Logman => Ok(Script::plain(counters::script(&build))),
        Emit::Fio => workloads::text(&build, fathom_convert::Dialect::Fio),
        Emit::Diskspd => workloads::text(&build, fathom_convert::Dialect::Diskspd),
        Emit::Vdbench => workloads::text(&build, fathom_convert::Dialect::Vdbench),
    }
}
