//! Files made durable, beside the thread that serves.
//!
//! `fdatasync` takes as long as the disk under the backing likes; nobody else's I/O may wait for it.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use fathom_nbd::NbdError;
use rustix::event::{EventfdFlags, eventfd};

use crate::backing::told as error_of;

/// An I/O that waits for its file: its number, which another may have after a crash; its export, and its index there.
pub(crate) type Waiter = (u32, (u32, u64));
/// A file to be made durable, and the I/O that waits for it.
type Wish = (Waiter, Arc<File>);

/// The thread that makes files durable.
#[derive(Debug)]
pub(crate) struct Syncer {
    wishes: Option<Sender<Wish>>,
    results: Receiver<(Waiter, Option<NbdError>)>,
    bell: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Syncer {
    /// Starts the thread.
    pub fn new() -> io::Result<Self> {
        let (wishes, wished) = channel::<Wish>();
        let (told, results) = channel();
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let bell = Arc::new(eventfd(0, flags)?);
        let ring = Arc::clone(&bell);
        let thread = std::thread::Builder::new().name("sync".to_owned());
        let thread = thread.spawn(move || work(&wished, &told, &ring))?;
        Ok(Self {
            wishes: Some(wishes),
            results,
            bell,
            thread: Some(thread),
        })
    }

    /// Asks for everything written to `file` until now to be made durable, for an I/O.
    pub fn ask(&self, io: Waiter, file: &Arc<File>) {
        if let Some(wishes) = &self.wishes {
            // The thread ends after this side alone.
            let _ = wishes.send((io, Arc::clone(file)));
        }
    }

    /// Readable while there are results.
    pub fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// The next I/O whose file is durable, or why it is not.
    pub fn next(&self) -> Option<(Waiter, Option<NbdError>)> {
        self.results.try_recv().ok()
    }

    /// Silences the bell, before the results are taken.
    pub fn heard(&self) {
        let _ = rustix::io::read(&*self.bell, &mut [0; 8]);
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.wishes = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// One call serves all that wished for the same file before it began.
fn work(wished: &Receiver<Wish>, told: &Sender<(Waiter, Option<NbdError>)>, ring: &OwnedFd) {
    while let Ok(first) = wished.recv() {
        let mut wishes = vec![first];
        wishes.extend(wished.try_iter());
        while let Some((_, file)) = wishes.first() {
            let file = Arc::clone(file);
            // Some file systems take room for what was written only now.
            let failed = file.sync_data().err();
            let failed = failed.map(|error| error_of(&error));
            wishes.retain(|(io, other)| {
                let same = Arc::ptr_eq(&file, other);
                if same {
                    let _ = told.send((*io, failed));
                }
                !same
            });
            let _ = rustix::io::write(ring, &1u64.to_ne_bytes());
        }
    }
}
