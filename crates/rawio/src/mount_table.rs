//! What is mounted, as far as it says which paths must not be looked at without need.
//!
//! Whoever looks at a path on a network file system whose server is gone waits, for ever even, and no signal ends that. So what
//! mounts, loop devices and swap areas name is looked at only where that cannot happen, or has not: a file system that was
//! just asked about one of its files has answered.
//!
//! Invariant: nothing here looks at a path itself.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// File systems whose files others serve: those of networks, and of hosts of virtual machines. What a program serves by FUSE is
/// among them, whatever its subtype, but for file systems on block devices.
const SERVED: [&[u8]; 15] = [
    b"nfs",
    b"nfs4",
    b"cifs",
    b"smb3",
    b"smbfs",
    b"9p",
    b"virtiofs",
    b"vboxsf",
    b"ceph",
    b"lustre",
    b"gpfs",
    b"beegfs",
    b"afs",
    b"coda",
    b"orangefs",
];

/// A line of the table; format: `proc_pid_mountinfo(5)`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    /// Its device, packed as `st_dev` is; of btrfs, that of no file.
    device: u64,
    place: PathBuf,
    /// Whether its files are served by others.
    is_served: bool,
    /// What was mounted.
    source: PathBuf,
}

/// All that is mounted in this process's view, at one moment.
#[derive(Debug, Clone, Default)]
pub struct MountTable(Vec<Line>);

impl MountTable {
    /// Of `/proc/self/mountinfo`.
    pub fn now() -> Self {
        Self::of(&std::fs::read("/proc/self/mountinfo").unwrap_or_default())
    }

    /// Of the text of such a table; a line that is none of it counts for nothing.
    pub fn of(table: &[u8]) -> Self {
        let lines = table.split(|byte| *byte == b'\n');
        Self(lines.filter_map(line).collect())
    }

    /// The device, packed as `st_dev` is, of the file system that may keep waiting whoever looks at `path`, going by the
    /// path's own words; `None`: none does.
    pub fn served_under(&self, path: &Path) -> Option<u64> {
        let is_over = |line: &&Line| path.starts_with(&line.place);
        let mut served = self.0.iter().filter(|line| line.is_served);
        served.find(is_over)?;
        let over = self.0.iter().filter(is_over);
        // Of several at one place, the last one hides the others.
        let over = over.max_by_key(|line| line.place.components().count())?;
        over.is_served.then_some(over.device)
    }

    /// What was mounted, where that is told by a whole path, and where.
    pub(crate) fn of_paths(&self) -> impl Iterator<Item = (&Path, &Path)> {
        let named = self.0.iter().filter(|line| line.source.is_absolute());
        // `//server/share` is the name of a share.
        let named = named.filter(|line| !line.source.as_os_str().as_bytes().starts_with(b"//"));
        named.map(|line| (line.source.as_path(), line.place.as_path()))
    }
}

fn is_served(kind: &[u8]) -> bool {
    SERVED.contains(&kind) || kind == b"fuse" || kind.starts_with(b"fuse.")
}

fn line(text: &[u8]) -> Option<Line> {
    let mut fields = text.split(|byte| *byte == b' ');
    let device = std::str::from_utf8(fields.nth(2)?).ok()?;
    let (major, minor) = device.split_once(':')?;
    let place = fields.nth(1)?;
    let mut after = fields.skip_while(|field| *field != b"-").skip(1);
    let is_served = is_served(after.next()?);
    let source = after.next()?;
    Some(Line {
        device: libc::makedev(major.parse().ok()?, minor.parse().ok()?),
        place: unescaped(place),
        is_served,
        source: unescaped(source),
    })
}

/// Resolves `\040` and its like.
pub(crate) fn unescaped(text: &[u8]) -> PathBuf {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            out.push(byte);
            rest = &after[3..];
        } else {
            out.push(*first);
            rest = after;
        }
    }
    PathBuf::from(OsString::from_vec(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"22 28 0:21 / /proc rw,nosuid shared:12 - proc proc rw\n\
        28 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
        36 35 0:51 / /mnt/my\\040disk rw,noatime master:1 shared:2 - fuse.fuse2fs /srv/an\\040image rw\n\
        37 28 0:50 / /mnt/nfs rw - nfs4 host:/export rw\n\
        38 37 8:17 / /mnt/nfs/local rw - ext4 /dev/sdb1 rw\n\
        39 28 0:52 / /mnt/share rw - cifs //server/share rw\n\
        40 28 8:33 / /mnt/ntfs rw - fuseblk /dev/sdc1 rw\n\
        41 28 0:53 / /mnt/over rw - nfs host:/below rw\n\
        42 28 8:49 / /mnt/over rw - xfs /dev/sdd1 rw\n\
        nonsense\n";

    #[test]
    fn what_was_mounted_by_a_whole_path_is_told() {
        let table = MountTable::of(TABLE);
        let found: Vec<_> = table.of_paths().collect();
        let expected = [
            ("/dev/sda1", "/"),
            ("/srv/an image", "/mnt/my disk"),
            ("/dev/sdb1", "/mnt/nfs/local"),
            ("/dev/sdc1", "/mnt/ntfs"),
            ("/dev/sdd1", "/mnt/over"),
        ];
        assert_eq!(found, expected.map(|(a, b)| (Path::new(a), Path::new(b))));
    }

    #[test]
    fn what_others_serve_may_keep_waiting() {
        #[track_caller]
        fn check(path: &str, minor: Option<u32>) {
            let found = MountTable::of(TABLE).served_under(Path::new(path));
            assert_eq!(found, minor.map(|minor| libc::makedev(0, minor)), "{path}");
        }
        check("/srv/an image", None);
        check("/dev/sda1", None);
        check("/mnt/nfs", Some(50));
        check("/mnt/nfs/an image", Some(50));
        // A whole component, or another directory.
        check("/mnt/nfs2/an image", None);
        check("/mnt/nfs/local/image", None);
        check("/mnt/share/image", Some(52));
        check("/mnt/my disk/image", Some(51));
        check("/mnt/ntfs/image", None);
        check("/mnt/over/image", None);
        assert_eq!(MountTable::default().served_under(Path::new("/a")), None);
    }
}
