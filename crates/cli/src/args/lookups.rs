//! The verbs that write down a need or look something up: `profile`, `catalog`, `runs`, `report`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use fathom_session::{NeedArgs, any_whole_number};

/// `fathom profile`.
#[derive(Debug, Clone, Args)]
pub struct ProfileArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: ProfileAction,
}

/// `fathom profile …`.
#[derive(Debug, Clone, Subcommand)]
pub enum ProfileAction {
    /// Make a profile from a rule of thumb
    #[command(
        after_help = "Templates: exchange-2010 (--users), sql-server (--tps), app-server (--users).\n\n\
        Example:\n  fathom profile new --app exchange-2010 --users 5000 -o mail.profile.toml"
    )]
    New {
        /// The template
        #[arg(long, value_name = "NAME")]
        app: String,
        /// Users of the application
        #[arg(long, value_name = "N", conflicts_with = "tps", value_parser = any_whole_number)]
        users: Option<u64>,
        /// Its transactions a second
        #[arg(long, value_name = "N", value_parser = any_whole_number)]
        tps: Option<u64>,
        /// The file to write, instead of stdout; one that exists is never written over
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// `fathom catalog`.
#[derive(Debug, Clone, Args)]
pub struct CatalogArgs {
    /// What to look up.
    #[command(subcommand)]
    pub action: CatalogAction,
}

/// `fathom catalog …`.
#[derive(Debug, Clone, Subcommand)]
pub enum CatalogAction {
    /// List every row by name and era
    List {
        /// Print all that is known of every row as one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Show the rows of one name, with their sources
    Show {
        /// Name of a VM size, disk, service level or share model
        name: String,
        /// Print the rows as one JSON document
        #[arg(long)]
        json: bool,
    },
}

/// `fathom runs`.
#[derive(Debug, Clone, Args)]
pub struct RunsArgs {
    /// Print the list as one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `fathom report`.
#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// Id of a run, a path, `last`, or `last~1` for the run before that, and so on
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Print the record as one JSON document
    #[arg(long)]
    pub json: bool,
    /// Print each job and direction of each stage as a row of CSV
    #[arg(long, conflicts_with_all = ["json", "full", "html"])]
    pub csv: bool,
    /// Print every check, device and job
    #[arg(long, conflicts_with = "json")]
    pub full: bool,
    /// Write a page with charts to this file instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "full"])]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    /// What the figures are laid beside.
    pub need: NeedArgs,
}
