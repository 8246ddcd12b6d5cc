//! Names and numbers of the files: a tree that never changes.
//!
//! A name with slashes stands in directories of its own.

use std::collections::BTreeMap;

use crate::reply;
use crate::request::NewAttributes;
use crate::wire::Put as _;

/// Number of the tree's root.
pub const ROOT: u64 = 1;
/// Longest part of a name.
const NAME_MOST: usize = 255;
/// What a listing calls directories and files.
const KIND_DIRECTORY: u32 = 4;
const KIND_FILE: u32 = 8;

/// Why files cannot stand in one tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// A name is none.
    #[error("`{0}` cannot be the name of a file")]
    Name(String),
    /// Two files, or a file and a directory, have one name.
    #[error("`{0}` would be two things of one name")]
    Twice(String),
}

/// Attributes of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attributes {
    /// Its number.
    pub node: u64,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Bytes.
    pub size: u64,
    /// Bytes that take room: all of them, as far as a tree knows.
    pub held: u64,
    /// When it was changed, in nanoseconds of the Unix epoch: when the tree was made, as far as a tree knows.
    pub time: u64,
    /// User and group.
    pub owner: (u32, u32),
}

impl Attributes {
    /// Permission bits: the owner's alone.
    pub const fn permissions(&self) -> u32 {
        if self.is_directory { 0o700 } else { 0o600 }
    }

    /// Whether a node that has these attributes has those too that are wished for.
    pub fn satisfy(&self, wished: &NewAttributes) -> bool {
        wished.mode.is_none_or(|mode| mode == self.permissions())
            && wished.user.is_none_or(|user| user == self.owner.0)
            && wished.group.is_none_or(|group| group == self.owner.1)
            && wished.size.is_none_or(|size| size == self.size)
    }
}

#[derive(Debug, Clone)]
enum Node {
    /// Names in it, with their numbers, and the number of the directory above.
    Directory(BTreeMap<String, u64>, u64),
    /// Which of the files it is, and its size.
    File(usize, u64),
}

/// The tree of files.
#[derive(Debug, Clone)]
pub struct Tree {
    /// By number, from [`ROOT`] on.
    nodes: Vec<Node>,
    time: u64,
    owner: (u32, u32),
}

impl Tree {
    /// A tree of files with names and sizes, made at `time` (nanoseconds of the Unix epoch), that belongs to `owner`.
    ///
    /// # Errors
    /// Where names cannot stand beside each other.
    pub fn new<'a>(
        files: impl Iterator<Item = (&'a str, u64)>,
        time: u64,
        owner: (u32, u32),
    ) -> Result<Self, TreeError> {
        let mut tree = Self {
            nodes: vec![Node::Directory(BTreeMap::new(), ROOT)],
            time,
            owner,
        };
        for (index, (name, size)) in files.enumerate() {
            tree.add(name, Node::File(index, size))?;
        }
        Ok(tree)
    }

    fn add(&mut self, name: &str, file: Node) -> Result<(), TreeError> {
        let is_name = |part: &str| {
            !matches!(part, "" | "." | "..") && part.len() <= NAME_MOST && !part.contains('\0')
        };
        if !name.split('/').all(is_name) {
            return Err(TreeError::Name(name.to_owned()));
        }
        let twice = || TreeError::Twice(name.to_owned());
        let (path, last) = name.rsplit_once('/').unwrap_or(("", name));
        let mut directory = ROOT;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            directory = match self.child(directory, part) {
                Some(child) if self.is_directory(child) => child,
                Some(_) => return Err(twice()),
                None => {
                    let made = Node::Directory(BTreeMap::new(), directory);
                    self.put(directory, part, made)
                }
            };
        }
        if self.child(directory, last).is_some() {
            return Err(twice());
        }
        self.put(directory, last, file);
        Ok(())
    }

    fn put(&mut self, directory: u64, name: &str, node: Node) -> u64 {
        self.nodes.push(node);
        let number = self.nodes.len() as u64;
        if let Some(Node::Directory(names, _)) = self.node_mut(directory) {
            names.insert(name.to_owned(), number);
        }
        number
    }

    fn node(&self, number: u64) -> Option<&Node> {
        self.nodes
            .get(usize::try_from(number.checked_sub(ROOT)?).ok()?)
    }

    fn node_mut(&mut self, number: u64) -> Option<&mut Node> {
        self.nodes
            .get_mut(usize::try_from(number.checked_sub(ROOT)?).ok()?)
    }

    fn child(&self, directory: u64, name: &str) -> Option<u64> {
        match self.node(directory)? {
            Node::Directory(names, _) => names.get(name).copied(),
            Node::File(..) => None,
        }
    }

    /// Whether a number is that of a directory.
    pub fn is_directory(&self, number: u64) -> bool {
        matches!(self.node(number), Some(Node::Directory(..)))
    }

    /// Which of the files a number stands for; `None`: none.
    pub fn file(&self, number: u64) -> Option<usize> {
        match self.node(number)? {
            Node::File(index, _) => Some(*index),
            Node::Directory(..) => None,
        }
    }

    /// Attributes of a node; `None`: there is none of this number.
    pub fn attributes(&self, number: u64) -> Option<Attributes> {
        let (is_directory, size) = match self.node(number)? {
            Node::Directory(..) => (true, 0),
            Node::File(_, size) => (false, *size),
        };
        Some(Attributes {
            node: number,
            is_directory,
            size,
            held: size,
            time: self.time,
            owner: self.owner,
        })
    }

    /// Attributes of what has a name in a directory.
    pub fn lookup(&self, directory: u64, name: &[u8]) -> Option<Attributes> {
        let name = std::str::from_utf8(name).ok()?;
        self.attributes(self.child(directory, name)?)
    }

    /// How many files there are, and their bytes.
    pub fn totals(&self) -> (u64, u64) {
        let sizes = self.nodes.iter().filter_map(|node| match node {
            Node::File(_, size) => Some(*size),
            Node::Directory(..) => None,
        });
        sizes.fold((0, 0), |(count, bytes), size| {
            (count + 1, bytes.saturating_add(size))
        })
    }

    /// The reply to reading a directory from `offset` on, in at most `size` bytes; `None`: it is no directory.
    pub fn list(&self, unique: u64, directory: u64, (offset, size): (u64, u32)) -> Option<Vec<u8>> {
        let Some(Node::Directory(names, above)) = self.node(directory) else {
            return None;
        };
        let dots = [(".", directory), ("..", *above)];
        let names = names.iter().map(|(name, number)| (name.as_str(), *number));
        let all = dots.into_iter().chain(names);
        let mut body = Vec::new();
        for (place, (name, number)) in all
            .enumerate()
            .skip(usize::try_from(offset).unwrap_or(usize::MAX))
        {
            let length = (24 + name.len()).next_multiple_of(8);
            if body.len() + length > size as usize {
                break;
            }
            let end = body.len() + length;
            body.put64(number);
            body.put64(place as u64 + 1);
            body.put32(name.len() as u32);
            body.put32(if self.is_directory(number) {
                KIND_DIRECTORY
            } else {
                KIND_FILE
            });
            body.extend_from_slice(name.as_bytes());
            body.resize(end, 0);
        }
        let mut reply = reply::head(unique, body.len() as u32).bytes().to_vec();
        reply.append(&mut body);
        Some(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(names: &[&str]) -> Result<Tree, TreeError> {
        Tree::new(names.iter().map(|name| (*name, 4096)), 0, (0, 0))
    }

    /// Names of a directory, read in pieces of `size` bytes.
    fn names(tree: &Tree, directory: u64, size: u32) -> Vec<String> {
        let (mut names, mut offset) = (Vec::new(), 0);
        loop {
            let reply = tree.list(1, directory, (offset, size)).unwrap();
            let mut body = &reply[reply::HEAD_BYTES..];
            if body.is_empty() {
                return names;
            }
            while !body.is_empty() {
                offset = u64::from_ne_bytes(body[8..16].try_into().unwrap());
                let length = u32::from_ne_bytes(body[16..20].try_into().unwrap()) as usize;
                names.push(String::from_utf8(body[24..24 + length].to_vec()).unwrap());
                body = &body[(24 + length).next_multiple_of(8)..];
            }
        }
    }

    #[test]
    fn names_are_found_and_listed() {
        let tree = tree(&["data", "vm1/log", "vm2/log"]).unwrap();
        let data = tree.lookup(ROOT, b"data").unwrap();
        assert_eq!((tree.file(data.node), data.size), (Some(0), 4096));
        let vm2 = tree.lookup(ROOT, b"vm2").unwrap();
        assert!(vm2.is_directory);
        let log = tree.lookup(vm2.node, b"log").unwrap();
        assert_eq!(tree.file(log.node), Some(2));
        assert_eq!(tree.lookup(ROOT, b"log"), None);
        assert_eq!(tree.lookup(data.node, b"x"), None);
        for size in [40, 64, 4096] {
            assert_eq!(names(&tree, ROOT, size), [".", "..", "data", "vm1", "vm2"]);
        }
        assert_eq!(names(&tree, vm2.node, 4096), [".", "..", "log"]);
        assert_eq!(tree.totals(), (3, 3 * 4096));
    }

    #[test]
    fn names_that_cannot_stand_are_refused() {
        for names in [&["a", "a"][..], &["a", "a/b"], &["a/b", "a"]] {
            assert!(matches!(tree(names), Err(TreeError::Twice(_))), "{names:?}");
        }
        for name in ["", "..", "a//b", "a/./b", "/a", "nul\0"] {
            assert!(matches!(tree(&[name]), Err(TreeError::Name(_))), "{name:?}");
        }
    }

    #[test]
    fn unknown_numbers_are_nothing() {
        let tree = tree(&["a"]).unwrap();
        for number in [0, 3, u64::MAX] {
            assert_eq!(tree.attributes(number), None);
            assert_eq!(tree.file(number), None);
            assert_eq!(tree.list(1, number, (0, 4096)), None);
        }
        assert_eq!(tree.list(1, ROOT, (u64::MAX, 4096)).unwrap().len(), 16);
    }
}
