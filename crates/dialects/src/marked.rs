//! Texts in UTF-8, or in UTF-16 with its mark, as Windows and PowerShell write them.

/// What `bytes` hold, without the mark before it; `None` where that is no text of Unicode.
pub fn marked(bytes: &[u8]) -> Option<String> {
    let units = |one: fn([u8; 2]) -> u16| {
        let pairs = bytes[2..].chunks_exact(2);
        let units = pairs.map(|pair| one([pair[0], pair[1]]));
        char::decode_utf16(units).collect::<Result<String, _>>()
    };
    match bytes {
        [0xff, 0xfe, ..] => units(u16::from_le_bytes).ok(),
        [0xfe, 0xff, ..] => units(u16::from_be_bytes).ok(),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8(rest.to_vec()).ok(),
        _ => String::from_utf8(bytes.to_vec()).ok(),
    }
}
