//! Targets that a stream has begun anew.

/// Numbers of such targets, where somebody asks for them.
#[derive(Debug, Default)]
pub(super) struct Restarts {
    watched: bool,
    targets: Vec<u32>,
}

impl Restarts {
    /// From now on they are kept until they are taken.
    pub(super) fn watch(&mut self) {
        self.watched = true;
    }

    /// This target begins anew.
    pub(super) fn add(&mut self, target: usize) {
        if self.watched {
            self.targets.push(target as u32);
        }
    }

    /// All of so many targets do.
    pub(super) fn add_all(&mut self, targets: usize) {
        if self.watched {
            self.targets.clear();
            self.targets.extend(0..targets as u32);
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Those since the last time.
    pub(super) fn take(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.targets)
    }
}
