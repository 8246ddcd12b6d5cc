//! Where the kernel tells of its devices and mounts.
//!
//! Tests put a tree of their own making in its place, for the thread that they run in: so they have devices that no machine
//! of theirs has, and settings that none of them may change.

use std::path::PathBuf;

/// Where the kernel tells what stands at `path`, which begins with `/`.
pub(crate) fn told_at(path: &str) -> PathBuf {
    #[cfg(test)]
    if let Some(tree) = made::root() {
        return tree.join(path.trim_start_matches('/'));
    }
    PathBuf::from(path)
}

/// Kernels of tests.
#[cfg(test)]
pub(crate) mod made {
    use std::cell::RefCell;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};
    use std::path::{Path, PathBuf};

    use crate::guard::{BlockDevice, DeviceNumber};

    thread_local! {
        static ROOT: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
    }

    pub(super) fn root() -> Option<PathBuf> {
        ROOT.with_borrow(Clone::clone)
    }

    /// A kernel that knows what it was told, and nothing else; this thread's until it is dropped.
    #[derive(Debug)]
    pub(crate) struct Kernel {
        root: tempfile::TempDir,
    }

    impl Kernel {
        /// One that has mounted the file system that temporary files are on, of this type, and knows no device.
        pub(crate) fn new(kind: &str) -> Self {
            let root = tempfile::tempdir().unwrap();
            ROOT.set(Some(root.path().to_owned()));
            let kernel = Self { root };
            let number = kernel.number_of_files();
            kernel.mounts(&format!("1 0 {number} / / rw,relatime - {kind} none rw"));
            kernel
        }

        /// The number of the file system that its files, and all files of [`Self::file`], are on.
        pub(crate) fn number_of_files(&self) -> DeviceNumber {
            DeviceNumber::from_packed(fs::metadata(self.root.path()).unwrap().dev())
        }

        /// Lines of `/proc/self/mountinfo`.
        pub(crate) fn mounts(&self, lines: &str) {
            self.write(Path::new("proc/self/mountinfo"), lines);
        }

        /// A file of a few bytes on its only file system.
        pub(crate) fn file(&self, name: &str) -> PathBuf {
            self.write(&Path::new("files").join(name), "anything");
            self.root.path().join("files").join(name)
        }

        /// A whole block device.
        pub(crate) fn device(&self, name: &str, number: DeviceNumber) -> BlockDevice {
            self.known(Path::new("devices"), name, number)
        }

        /// A part of a whole device.
        pub(crate) fn part(&self, of: &BlockDevice, name: &str, number: DeviceNumber) {
            let parent = Path::new("devices").join(&of.name);
            self.known(&parent, name, number);
            self.write(&self.place(name).join("partition"), "1\n");
        }

        /// A device is one of all whole ones.
        pub(crate) fn is_listed(&self, name: &str) {
            let folder = self.root.path().join("sys/block");
            fs::create_dir_all(&folder).unwrap();
            symlink(self.place(name), folder.join(name)).unwrap();
        }

        fn known(&self, parent: &Path, name: &str, number: DeviceNumber) -> BlockDevice {
            let place = Path::new("sys").join(parent).join(name);
            self.write(&place.join("dev"), &format!("{number}\n"));
            let sys = self.root.path().join("sys");
            for (folder, link) in [
                ("dev/block", number.to_string()),
                ("class/block", name.to_owned()),
            ] {
                fs::create_dir_all(sys.join(folder)).unwrap();
                symlink(self.root.path().join(&place), sys.join(folder).join(link)).unwrap();
            }
            BlockDevice::find(number).unwrap()
        }

        /// What a device says of itself under `key`.
        pub(crate) fn says(&self, name: &str, key: &str, words: &str) {
            self.write(&self.place(name).join(key), &format!("{words}\n"));
        }

        /// One device is made of another.
        pub(crate) fn made_of(&self, name: &str, part: &str) {
            self.says(name, &format!("slaves/{part}"), "");
        }

        /// A loop device goes to this file, directly or through the page cache (`dio`).
        pub(crate) fn attach(&self, name: &str, file: &Path, dio: &str) {
            self.says(name, "loop/backing_file", &file.display().to_string());
            self.says(name, "loop/dio", dio);
        }

        /// A device is gone.
        pub(crate) fn remove(&self, name: &str) {
            fs::remove_dir_all(self.place(name)).unwrap();
        }

        fn place(&self, name: &str) -> PathBuf {
            let link = self.root.path().join("sys/class/block").join(name);
            fs::canonicalize(link).unwrap()
        }

        fn write(&self, path: &Path, words: &str) {
            let path = self.root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, words).unwrap();
        }
    }

    impl Drop for Kernel {
        fn drop(&mut self) {
            ROOT.set(None);
        }
    }
}
