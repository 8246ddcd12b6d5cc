//! Volumes and shares reached over the network, and the machines that mount them.

use fathom_catalog::{ChannelLimits, Limits, ServiceLevel, ShareModel};
use fathom_diagnostics::Location;
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos};

use super::{Burst, ClientId, Credits, FigureOrigin, LatencyChoice, Mount};

/// A machine that mounts a volume or share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// The machine.
    pub id: ClientId,
    /// Time from the machine to the storage and back, without any work done there.
    pub rtt: Nanos,
    /// Where that time comes from.
    pub rtt_origin: FigureOrigin,
}

/// Version of the NFS protocol, as far as it changes how much can be in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NfsVersion {
    /// 3: slots belong to a connection.
    #[default]
    V3,
    /// 4.1: slots belong to a session, which spans a client's connections.
    V41,
}

/// A volume over NFS.
#[derive(Debug, Clone, PartialEq)]
pub struct NfsVolume {
    /// Unique within the design.
    pub name: String,
    /// How paths find it, on each of its clients.
    pub mount: Mount,
    /// Service level.
    pub level: &'static ServiceLevel,
    /// Provisioned size.
    pub quota: Bytes,
    /// What it may do, reads and writes together: the service level's bytes for the quota, the ceiling of one volume,
    /// and what the file says was measured, whichever is least.
    pub limits: Limits,
    /// Bytes that one file can have.
    pub largest_file: Bytes,
    /// Protocol version.
    pub version: NfsVersion,
    /// Connections of each client (`nconnect`), at least 1.
    pub connections: u32,
    /// I/Os in flight on one connection at most.
    pub slots: u32,
    /// I/Os in flight on all connections of one client at most, where a session limits them.
    pub session_slots: Option<u32>,
    /// Bytes in flight on one connection at most, where known.
    pub window: Option<Bytes>,
    /// A larger read is split into several.
    pub rsize: Bytes,
    /// A larger write is split into several.
    pub wsize: Bytes,
    /// Machines that mount it; empty where the design has none.
    pub clients: Vec<Client>,
    /// Latency of its media, besides the round trip.
    pub latency: LatencyChoice,
    /// Where the design file describes it.
    pub place: Location,
}

/// A share over SMB.
#[derive(Debug, Clone, PartialEq)]
pub struct SmbShare {
    /// Unique within the design.
    pub name: String,
    /// How paths find it, on each of its clients.
    pub mount: Mount,
    /// How it is sold.
    pub model: &'static ShareModel,
    /// Provisioned size; the largest size where it is paid as used.
    pub size: Bytes,
    /// What it may do without bursting, reads and writes together.
    pub limits: Limits,
    /// Bytes written a second, where they have a limit of their own (pay as you go).
    pub write_bandwidth: Option<BytesPerSec>,
    /// I/Os a second while bursting; `None`: it does not burst. Bytes never do.
    pub burst_iops: Option<Iops>,
    /// Seconds that a full bucket lasts at the highest rate.
    pub bucket_seconds: u32,
    /// Whether it bursts.
    pub burst: Burst,
    /// How full the bucket is at the start.
    pub credits: Credits,
    /// Limits of each of its files.
    pub file_limits: Limits,
    /// Bytes that one file can have.
    pub largest_file: Bytes,
    /// Connections that one client spreads its I/O over, 1 to 4.
    pub channels: u32,
    /// What one channel carries.
    pub channel: &'static ChannelLimits,
    /// Whether clients cache metadata.
    pub metadata_cache: bool,
    /// Metadata operations a second at most.
    pub metadata_iops: Iops,
    /// Handles that one file can have at once.
    pub handles_per_file: u32,
    /// Handles that the root directory can have at once.
    pub handles_root: u32,
    /// Machines that mount it; empty where the design has none.
    pub clients: Vec<Client>,
    /// Latency of its media, besides the round trip.
    pub latency: LatencyChoice,
    /// Where the design file describes it.
    pub place: Location,
}
