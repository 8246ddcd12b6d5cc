//! Rows of generic devices, NFS volumes and SMB shares, and how they are found.

use fathom_diagnostics::nearest;

use crate::tables::{
    BURSTING, GENERIC_ARRAYS, GENERIC_DEVICES, NETAPP_VOLUME, NFS, ON_DEMAND, RAID5, ROUND_TRIPS,
    SERVICE_LEVELS, SHARE_CHANNEL, SHARE_FILES, SHARE_HANDLES, SHARE_METADATA, SHARE_MODELS,
};
use crate::{
    BurstScope, Catalog, CatalogError, ChannelLimits, GenericArray, GenericDevice, HandleLimits,
    MetadataLimits, NfsRules, OnDemandRules, Raid5Rules, RoundTrip, ServiceLevel, ShareFile,
    ShareMedia, ShareModel, VolumeRules,
};

impl Catalog {
    /// Every generic kind of disk.
    pub fn generic_devices(&self) -> &'static [GenericDevice] {
        GENERIC_DEVICES
    }

    /// Every printed figure of an array of them.
    pub fn generic_arrays(&self) -> &'static [GenericArray] {
        GENERIC_ARRAYS
    }

    /// What RAID-5 costs.
    pub fn raid5(&self) -> &'static Raid5Rules {
        &RAID5
    }

    /// The generic kind of disk `name`.
    ///
    /// # Errors
    ///
    /// [`CatalogError::UnknownName`] with the nearest name.
    pub fn generic_device(&self, name: &str) -> Result<&'static GenericDevice, CatalogError> {
        named("kind of disk", name, GENERIC_DEVICES, |row| row.name)
    }

    /// Every service level of NetApp Files.
    pub fn service_levels(&self) -> &'static [ServiceLevel] {
        SERVICE_LEVELS
    }

    /// The service level `name`.
    ///
    /// # Errors
    ///
    /// [`CatalogError::UnknownName`] with the nearest name.
    pub fn service_level(&self, name: &str) -> Result<&'static ServiceLevel, CatalogError> {
        named("service level", name, SERVICE_LEVELS, |row| row.name)
    }

    /// Bounds of a volume of NetApp Files.
    pub fn netapp_volume(&self) -> &'static VolumeRules {
        &NETAPP_VOLUME
    }

    /// What NFS allows in flight.
    pub fn nfs(&self) -> &'static NfsRules {
        &NFS
    }

    /// Every way that a share is sold.
    pub fn share_models(&self) -> &'static [ShareModel] {
        SHARE_MODELS
    }

    /// The model `name` of a share.
    ///
    /// # Errors
    ///
    /// [`CatalogError::UnknownName`] with the nearest name.
    pub fn share_model(&self, name: &str) -> Result<&'static ShareModel, CatalogError> {
        named("share model", name, SHARE_MODELS, |row| row.name)
    }

    /// Limits of one file of a share on these media.
    pub fn share_file(&self, media: ShareMedia) -> Option<&'static ShareFile> {
        SHARE_FILES.iter().find(|row| row.media == media)
    }

    /// Handles that a share can have open.
    pub fn share_handles(&self) -> &'static HandleLimits {
        &SHARE_HANDLES
    }

    /// Metadata operations of a share.
    pub fn share_metadata(&self) -> &'static MetadataLimits {
        &SHARE_METADATA
    }

    /// What a channel of a share carries.
    pub fn share_channel(&self) -> &'static ChannelLimits {
        &SHARE_CHANNEL
    }

    /// Round trips by distance: `near`, `far`.
    pub fn round_trips(&self) -> &'static [RoundTrip] {
        ROUND_TRIPS
    }

    /// The round trip of this distance.
    ///
    /// # Errors
    ///
    /// [`CatalogError::UnknownName`] with the nearest name.
    pub fn round_trip(&self, name: &str) -> Result<&'static RoundTrip, CatalogError> {
        named("distance", name, ROUND_TRIPS, |row| row.name)
    }

    /// Seconds that a full credit bucket lasts at the highest rate; 0 where such things have none.
    pub fn bucket_seconds(&self, what: BurstScope) -> u32 {
        let row = BURSTING.iter().find(|row| row.what == what);
        row.map_or(0, |row| row.seconds)
    }

    /// How bursting on demand is billed.
    pub fn on_demand(&self) -> &'static OnDemandRules {
        &ON_DEMAND
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
