//! Where the fields of an event stand, by its `format` file.
//!
//! The kernel moves fields between versions, so nothing is read at a place of our own.

/// A field: its place within the event, and its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    offset: usize,
    size: usize,
}

/// One kind of event of requests: issue, completion, requeue, split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Number of the kind, the first field of each event.
    pub id: u16,
    pid: Field,
    dev: Field,
    sector: Field,
    sectors: Option<Field>,
    bytes: Option<Field>,
    operation: Field,
    command: Option<Field>,
}

/// What an event says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words<'a> {
    /// Thread that was running.
    pub thread: u32,
    /// Number of the disk.
    pub dev: u32,
    /// First sector.
    pub sector: u64,
    /// Bytes.
    pub bytes: u64,
    /// What is done: `W`, `RA`, `FWS`.
    pub operation: &'a [u8],
    /// Name of the thread.
    pub command: &'a [u8],
}

/// What is done to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// A read.
    Read,
    /// A write.
    Write,
}

impl Layout {
    /// Reads a `format` file; `None` where a field is missing that nothing can be said without.
    pub fn read(text: &str) -> Option<Self> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"))?;
        let field = |name: &str| text.lines().find_map(|line| field_named(line, name));
        Some(Self {
            id: id.trim().parse().ok()?,
            pid: field("common_pid")?,
            dev: field("dev")?,
            sector: field("sector")?,
            sectors: field("nr_sector"),
            bytes: field("bytes"),
            operation: field("rwbs")?,
            command: field("comm"),
        })
    }

    /// The event's fields; `None` where it is too short.
    #[inline]
    pub fn words<'a>(&self, event: &'a [u8]) -> Option<Words<'a>> {
        let bytes = match (self.bytes, self.sectors) {
            (Some(bytes), _) => number(event, bytes)?,
            (None, Some(sectors)) => number(event, sectors)? * super::super::devices::SECTOR,
            (None, None) => 0,
        };
        Some(Words {
            thread: number(event, self.pid)? as u32,
            dev: number(event, self.dev)? as u32,
            sector: number(event, self.sector)?,
            bytes,
            operation: text(event, self.operation)?,
            command: self
                .command
                .map_or(Some(&[][..]), |field| text(event, field))?,
        })
    }
}

/// Number of an event's kind.
#[inline]
pub fn kind(event: &[u8]) -> u16 {
    match event {
        [low, high, ..] => u16::from_ne_bytes([*low, *high]),
        _ => 0,
    }
}

/// Whether data is read or written; flushes, discards and the like are neither.
#[inline]
pub fn direction(operation: &[u8]) -> Option<Direction> {
    // A write that is to flush the cache first has an F before it.
    let operation = match operation {
        [b'F', rest @ ..] if matches!(rest, [b'W' | b'R', ..]) => rest,
        all => all,
    };
    match operation {
        [b'R', ..] => Some(Direction::Read),
        [b'W', ..] => Some(Direction::Write),
        _ => None,
    }
}

fn field_named(line: &str, name: &str) -> Option<Field> {
    let line = line.trim().strip_prefix("field:")?;
    let mut parts = line.split(';').map(str::trim);
    let declared = parts.next()?.rsplit([' ', '\t', '*']).next()?;
    let declared = declared.split('[').next()?;
    if declared != name {
        return None;
    }
    let (mut offset, mut size) = (None, None);
    for part in parts {
        if let Some(value) = part.strip_prefix("offset:") {
            offset = value.parse().ok();
        } else if let Some(value) = part.strip_prefix("size:") {
            size = value.parse().ok();
        }
    }
    Some(Field {
        offset: offset?,
        size: size?,
    })
}

#[inline]
fn number(event: &[u8], field: Field) -> Option<u64> {
    let bytes = event.get(field.offset..field.offset + field.size)?;
    match field.size {
        4 => Some(u64::from(u32::from_ne_bytes(bytes.try_into().ok()?))),
        8 => Some(u64::from_ne_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

#[inline]
fn text(event: &[u8], field: Field) -> Option<&[u8]> {
    let bytes = event.get(field.offset..field.offset + field.size)?;
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    Some(&bytes[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux 6.18 has it.
    const ISSUE: &str = "name: block_rq_issue\nID: 2104\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n\
        \tfield:unsigned int bytes;\toffset:28;\tsize:4;\tsigned:0;\n\
        \tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n\
        \tfield:char comm[16];\toffset:44;\tsize:16;\tsigned:0;\n";

    #[test]
    fn fields_are_found_by_name() {
        let layout = Layout::read(ISSUE).unwrap();
        let mut event = [0u8; 64];
        event[..2].copy_from_slice(&2104u16.to_ne_bytes());
        event[4..8].copy_from_slice(&77u32.to_ne_bytes());
        event[8..12].copy_from_slice(&(7u32 << 20).to_ne_bytes());
        event[16..24].copy_from_slice(&800u64.to_ne_bytes());
        event[28..32].copy_from_slice(&4096u32.to_ne_bytes());
        event[34..36].copy_from_slice(b"WS");
        event[44..47].copy_from_slice(b"fio");
        let expected = Words {
            thread: 77,
            dev: 7 << 20,
            sector: 800,
            bytes: 4096,
            operation: b"WS",
            command: b"fio",
        };
        assert_eq!(layout.words(&event), Some(expected));
        assert_eq!((layout.id, kind(&event)), (2104, 2104));
        assert_eq!(layout.words(&event[..40]), None);
        assert_eq!(Layout::read("ID: 5\n"), None);
    }

    #[track_caller]
    fn check(operation: &str, expected: Option<Direction>) {
        assert_eq!(direction(operation.as_bytes()), expected, "{operation}");
    }

    #[test]
    fn only_data_has_a_direction() {
        check("R", Some(Direction::Read));
        check("RAM", Some(Direction::Read));
        check("WS", Some(Direction::Write));
        check("FWFS", Some(Direction::Write));
        for none in ["F", "FF", "FN", "D", "DE", "N", ""] {
            check(none, None);
        }
    }
}
