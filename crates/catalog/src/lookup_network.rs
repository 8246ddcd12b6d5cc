//! Rows of generic devices, NFS volumes and SMB shares, and how they are found.

use fathom_diagnostics::nearest;

use crate::tables::{
    BURSTING, GENERIC_ARRAYS, GENERIC_DEVICES, NETAPP_VOLUME, NFS, ON_DEMAND, RAID5, ROUND_TRIPS,
    SERVICE_LEVELS, SHARE_CHANNEL, SHARE_FILES, SHARE_HANDLES, SHARE_METADATA, SHARE_MODELS,
};
use crate::{
    BurstBucket, BurstScope, Catalog, CatalogError, ChannelLimits, GenericArray, GenericDevice,
    HandleLimits, MetadataLimits, NfsRules, OnDemandRules, Raid5Rules, RoundTrip, ServiceLevel,
    ShareFile, ShareMedia, ShareModel, VolumeRules,
};

/// What stands behind the lookups of this file.
#[derive(Debug)]
pub(crate) struct Services {
    generic_devices: &'static [GenericDevice],
    generic_arrays: &'static [GenericArray],
    raid5: &'static Raid5Rules,
    service_levels: &'static [ServiceLevel],
    netapp_volume: &'static VolumeRules,
    nfs: &'static NfsRules,
    share_models: &'static [ShareModel],
    share_files: &'static [ShareFile],
    share_handles: &'static HandleLimits,
    share_metadata: &'static MetadataLimits,
    share_channel: &'static ChannelLimits,
    round_trips: &'static [RoundTrip],
    bursting: &'static [BurstBucket],
    on_demand: &'static OnDemandRules,
}

pub(crate) static SERVICES: Services = Services {
    generic_devices: GENERIC_DEVICES,
    generic_arrays: GENERIC_ARRAYS,
    raid5: &RAID5,
    service_levels: SERVICE_LEVELS,
    netapp_volume: &NETAPP_VOLUME,
    nfs: &NFS,
    share_models: SHARE_MODELS,
    share_files: SHARE_FILES,
    share_handles: &SHARE_HANDLES,
    share_metadata: &SHARE_METADATA,
    share_channel: &SHARE_CHANNEL,
    round_trips: ROUND_TRIPS,
    bursting: BURSTING,
    on_demand: &ON_DEMAND,
};

impl Catalog {
    /// Every generic kind of disk.
    pub fn generic_devices(&self) -> &'static [GenericDevice] {
        self.services.generic_devices
    }

    /// Every printed figure of an array of them.
    pub fn generic_arrays(&self) -> &'static [GenericArray] {
        self.services.generic_arrays
    }

    /// What RAID-5 costs.
    pub fn raid5(&self) -> &'static Raid5Rules {
        self.services.raid5
    }

    /// The generic kind of disk `name`.
    ///
    /// # Errors
    ///
    /// [`CatalogError::UnknownName`] with the nearest name.
    pub fn generic_device(&self, name: &str) -> Result<&'static GenericDevice, CatalogError> {
        named("kind of disk", name, self.services.generic_devices, |row| {
            row.name
        })
    }

    /// Every service level of NetApp Files.
    pub fn service_levels(&self) -> &'static [ServiceLevel] {
        self.services.service_levels
    }

    /// The service level `name`.
    ///
    /// # Errors
    ///
    /// [`CatalogError::UnknownName`] with the nearest name.
    pub fn service_level(&self, name: &str) -> Result<&'static ServiceLevel, CatalogError> {
        named("service level", name, self.services.service_levels, |row| {
            row.name
        })
    }

    /// Bounds of a volume of NetApp Files.
    pub fn netapp_volume(&self) -> &'static VolumeRules {
        self.services.netapp_volume
    }

    /// What self.services.nfs allows in flight.
    pub fn nfs(&self) -> &'static NfsRules {
        self.services.nfs
    }

    /// Every way that a share is sold.
    pub fn share_models(&self) -> &'static [ShareModel] {
        self.services.share_models
    }

    /// The model `name` of a share.
    ///
    /// # Errors
    ///
    /// [`CatalogError::UnknownName`] with the nearest name.
    pub fn share_model(&self, name: &str) -> Result<&'static ShareModel, CatalogError> {
        named("share model", name, self.services.share_models, |row| {
            row.name
        })
    }

    /// Limits of one file of a share on these media.
    pub fn share_file(&self, media: ShareMedia) -> Option<&'static ShareFile> {
        self.services
            .share_files
            .iter()
            .find(|row| row.media == media)
    }

    /// Handles that a share can have open.
    pub fn share_handles(&self) -> &'static HandleLimits {
        self.services.share_handles
    }

    /// Metadata operations of a share.
    pub fn share_metadata(&self) -> &'static MetadataLimits {
        self.services.share_metadata
    }

    /// What a channel of a share carries.
    pub fn share_channel(&self) -> &'static ChannelLimits {
        self.services.share_channel
    }

    /// Round trips by distance: `near`, `far`.
    pub fn round_trips(&self) -> &'static [RoundTrip] {
        self.services.round_trips
    }

    /// The round trip of this distance.
    ///
    /// # Errors
    ///
    /// [`CatalogError::UnknownName`] with the nearest name.
    pub fn round_trip(&self, name: &str) -> Result<&'static RoundTrip, CatalogError> {
        named("distance", name, self.services.round_trips, |row| row.name)
    }

    /// Seconds that a full credit bucket lasts at the highest rate; 0 where such things have none.
    pub fn bucket_seconds(&self, what: BurstScope) -> u32 {
        let row = self.services.bursting.iter().find(|row| row.what == what);
        row.map_or(0, |row| row.seconds)
    }

    /// How bursting on demand is billed.
    pub fn on_demand(&self) -> &'static OnDemandRules {
        self.services.on_demand
    }
}

fn named<T>(
    what: &'static str,
    name: &str,
    rows: &'static [T],
    name_of: fn(&T) -> &'static str,
) -> Result<&'static T, CatalogError> {
    rows.iter()
        .find(|row| name_of(row) == name)
        .ok_or_else(|| CatalogError::UnknownName {
            what,
            name: name.to_owned(),
            nearest: nearest(name, rows.iter().map(name_of)),
        })
}
