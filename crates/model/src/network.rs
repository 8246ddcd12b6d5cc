//! Rules of storage that is reached over the network, as plain arithmetic: what the paths of NFS volumes and SMB shares are
//! built from.

pub(crate) mod handles;
pub(crate) mod nfs;
pub(crate) mod smb;
