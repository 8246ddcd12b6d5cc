//! Arguments of `fathom serve`.

use std::path::PathBuf;

use clap::Args;
use fathom_model::Factor;
use fathom_session::whole_number;
use fathom_units::Nanos;

use crate::tls::TlsArgs;

/// `fathom serve`.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
#[derive(Debug, Clone, Args)]
#[command(after_help = HELP)]
pub struct ServeArgs {
    /// The design to serve
    #[arg(value_name = "DESIGN", required_unless_present = "clean")]
    pub design: Option<PathBuf>,
    /// Where the bytes of volumes are: `mem`, or a directory with a sparse file for each
    #[arg(long, value_name = "mem|DIR", default_value = "mem")]
    pub backing: String,
    /// Most memory that volumes may take with `--backing mem` [default: three quarters of what is available]
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<fathom_units::Bytes>,
    /// Where NBD clients come: `unix:DIR` (its socket is DIR/fathom.sock) or `tcp:ADDRESS:PORT`; may be repeated
    #[arg(long, value_name = "PLACE")]
    pub nbd: Vec<String>,
    /// Show each volume as a file in this empty directory, by the kernel's FUSE; needs root
    #[arg(long, value_name = "DIR")]
    pub fuse: Option<PathBuf>,
    /// Make a block device of each of those files, and undo it at the end
    #[arg(long, requires = "fuse")]
    pub attach: bool,
    /// Remove mounts, block devices and sockets that killed servers have left, and serve nothing
    #[arg(long, exclusive = true)]
    pub clean: bool,
    /// Where orders of `fathom ctl` come [default: a socket in $XDG_RUNTIME_DIR, where that is set]
    #[arg(long, value_name = "SOCKET")]
    pub control: Option<PathBuf>,
    /// Give the orders of this script at their times (`*.faults.toml`)
    #[arg(long, value_name = "FILE")]
    pub faults: Option<PathBuf>,
    /// Keep what a write under way replaces, so that `ctl crash --torn` tears writes on volumes of every caching, and not of
    /// read-write caching alone; takes some processor time with each write
    #[arg(long)]
    pub tearable: bool,
    /// How TLS is spoken over TCP.
    #[command(flatten)]
    pub tls: TlsArgs,
    /// Let clients of other machines come without certificates of theirs: they may read and write every volume
    #[arg(long)]
    pub insecure: bool,
    /// End after this time, instead of at an interrupt
    #[arg(long = "for", visible_alias = "duration", value_name = "TIME")]
    pub duration: Option<Nanos>,
    /// Most that the 99th percentile of the emulation error may be; a run that misses it says so
    #[arg(long, value_name = "TIME")]
    pub max_error: Option<Nanos>,
    /// Write a line for each I/O to a new file: arrival, volume, operation, offset, length, due, done, limit
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Multiply every rate and every bucket of credits of the design, and leave latencies and depths: so a design that is
    /// faster than this machine can be served (`0.1`)
    #[arg(long, value_name = "FACTOR", default_value = "1")]
    pub scale: Factor,
    /// Chooses the media latencies
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole_number::<u64>(0, u64::MAX))]
    pub seed: u64,
    /// Print the record as one JSON document on stdout, and nothing else
    #[arg(long)]
    pub json: bool,
    /// Print every check and part of the storage
    #[arg(long, conflicts_with = "json")]
    pub full: bool,
    /// Show nothing while serving
    #[arg(short, long)]
    pub quiet: bool,
    /// Store nothing
    #[arg(long)]
    pub no_record: bool,
    /// Exit with 6 when the emulation error is over its bound
    #[arg(long)]
    pub strict: bool,
}

const HELP: &str = "\
Each volume of the design is an NBD export of its name (`VM/VOLUME` where two
have one name; a design's only volume answers to the empty name too). Stop with
Ctrl-C.

Example:
  fathom serve ds14.design.toml --nbd unix:/tmp/disks
  nbdinfo 'nbd+unix:///data?socket=/tmp/disks/fathom.sock'
  fathom serve ds14.design.toml --fuse /mnt/served --attach
  fathom serve ds14.design.toml --nbd tcp:0.0.0.0:10809 --tls-certificates pki";
