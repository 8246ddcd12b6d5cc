//! What a file is that is no trace, where it can be told.

/// How files begin that are something else, what they are, and what to do.
const STARTS: &[(&[u8], &str)] = &[
    (
        b"\x1f\x8b",
        "it is compressed by gzip: unpack it (`gunzip FILE`)",
    ),
    (
        b"\xfd7zXZ",
        "it is compressed by xz: unpack it (`unxz FILE`)",
    ),
    (
        b"\x28\xb5\x2f\xfd",
        "it is compressed by zstd: unpack it (`unzstd FILE`)",
    ),
    (
        b"BZh",
        "it is compressed by bzip2: unpack it (`bunzip2 FILE`)",
    ),
    (
        b"PK\x03\x04",
        "it is a zip archive: unpack it (`unzip FILE`)",
    ),
    (
        b"\xff\xfe",
        "it is text in UTF-16: convert it (`iconv -f UTF-16 -t UTF-8 FILE`)",
    ),
    (
        b"\xef\xbb\xbf",
        "it begins with a byte order mark: take that away (`tail -c +4 FILE`)",
    ),
    (
        b"PERFILE2",
        "it is a recording of perf, which is not read: record by `blktrace` or `fio --write_iolog`",
    ),
    (
        b"\x17\x08\x44tracing",
        "it is a recording of trace-cmd, which is not read: record by `blktrace`",
    ),
    (
        b"[",
        "it looks like a fio job file, which `fathom run FILE` runs",
    ),
    (b"{", "it looks like JSON, which no trace is"),
];

/// Bytes of a beginning that are told.
const TOLD: usize = 8;
/// Bytes of the first line that are looked at to tell text from other files.
const LOOKED_AT: usize = 512;

/// How a file begins that is no text: none of the formats but blktrace's, whose mark stands first, is anything else.
pub(super) fn beginning(start: &[u8]) -> Option<String> {
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or(start);
    let looked_at = &line[..line.len().min(LOOKED_AT)];
    // A character may be cut at the end.
    let is_text = match std::str::from_utf8(looked_at) {
        Ok(text) => !text.contains('\0'),
        Err(error) => error.error_len().is_none() && !looked_at.contains(&0),
    };
    if is_text {
        return None;
    }
    let bytes = start.iter().take(TOLD).map(|byte| format!("{byte:02x}"));
    let bytes = bytes.collect::<Vec<_>>().join(" ");
    Some(format!(
        "it is no text, and no binary trace of blktrace: it begins with the bytes {bytes}"
    ))
}

/// What a file is that begins with `start`, with what to do; `None` where that cannot be told.
pub(super) fn foreign(start: &[u8]) -> Option<&'static str> {
    let known = STARTS.iter().find(|(mark, _)| start.starts_with(mark));
    if let Some((_, what)) = known {
        return Some(what);
    }
    let text = String::from_utf8_lossy(start);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next()?;
    if is_strace(first) {
        return Some(
            "it is output of strace, which tells calls and not where on the storage they went: record by `blktrace`",
        );
    }
    let columns: Vec<&str> = first.split(',').map(str::trim).collect();
    let number = |text: &str| text.parse::<u64>().is_ok();
    match columns.as_slice() {
        [asu, lba, size, op, at, ..]
            if [asu, lba, size].iter().all(|text| number(text))
                && ["R", "W", "r", "w"].contains(op)
                && at.parse::<f64>().is_ok() =>
        {
            Some("it looks like a trace in SPC's format, which is not read")
        }
        [at, value, way, size, ..]
            if [at, value, size].iter().all(|text| number(text))
                && ["0", "1", "2"].contains(way) =>
        {
            Some(
                "it is a log of fio (latency, bandwidth or IOPS) and names no places: record by `fio --write_iolog`",
            )
        }
        _ => None,
    }
}

/// `write(3, "…", 512) = 512`, with a process or a time before it.
fn is_strace(line: &str) -> bool {
    let Some((call, rest)) = line.split_once('(') else {
        return false;
    };
    let name = call.rsplit(' ').next().unwrap_or_default();
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    !name.is_empty() && name.bytes().all(is_name) && rest.contains(" = ")
}
