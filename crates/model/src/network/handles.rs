//! Open handles of the files of a share.
//!
//! Invariant: no file, nor the root directory, has more handles than its limit.

/// Handles of every file of a share, and of its root directory.
#[derive(Debug, Clone)]
pub(crate) struct Handles {
    /// By the number of the file over the whole layout.
    open: Vec<u32>,
    root: u32,
    most_of_file: u32,
    most_of_root: u32,
}

impl Handles {
    pub fn new(files: usize, most_of_file: u32, most_of_root: u32) -> Self {
        Self {
            open: vec![0; files],
            root: 0,
            most_of_file,
            most_of_root,
        }
    }

    /// Opens a file (`None`: the root directory); false where it has as many handles as it may have.
    pub fn open(&mut self, file: Option<usize>) -> bool {
        let most = match file {
            Some(_) => self.most_of_file,
            None => self.most_of_root,
        };
        let count = self.count(file);
        let granted = *count < most;
        *count += u32::from(granted);
        granted
    }

    /// Closes a file; one that is not open stays so.
    pub fn close(&mut self, file: Option<usize>) {
        let count = self.count(file);
        *count = count.saturating_sub(1);
    }

    fn count(&mut self, file: Option<usize>) -> &mut u32 {
        match file.and_then(|file| self.open.get_mut(file)) {
            Some(count) => count,
            None => &mut self.root,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2,000 handles of a file, 10,000 with the feature and of the root directory (storage-files-scale-targets.md, 2025).
    #[test]
    fn the_handle_after_the_last_is_refused() {
        for (most_of_file, most_of_root) in [(2000, 10_000), (10_000, 10_000)] {
            let mut handles = Handles::new(3, most_of_file, most_of_root);
            for _ in 0..most_of_file {
                assert!(handles.open(Some(1)));
            }
            assert!(!handles.open(Some(1)), "one more than {most_of_file}");
            assert!(handles.open(Some(2)));
            handles.close(Some(1));
            assert!(handles.open(Some(1)));
            for _ in 0..most_of_root {
                assert!(handles.open(None));
            }
            assert!(!handles.open(None));
            handles.close(Some(0));
            assert!(handles.open(Some(0)));
        }
    }
}
