//! Names of Linux's error numbers (`errno(3)`), as fio's `ignore_error` takes them and Vdbench tells them.

/// Names by number, from 1; numbers that are not in use are empty.
#[rustfmt::skip]
const NAMES: [&str; 133] = [
    "EPERM", "ENOENT", "ESRCH", "EINTR", "EIO", "ENXIO", "E2BIG", "ENOEXEC", "EBADF", "ECHILD",
    "EAGAIN", "ENOMEM", "EACCES", "EFAULT", "ENOTBLK", "EBUSY", "EEXIST", "EXDEV", "ENODEV", "ENOTDIR",
    "EISDIR", "EINVAL", "ENFILE", "EMFILE", "ENOTTY", "ETXTBSY", "EFBIG", "ENOSPC", "ESPIPE", "EROFS",
    "EMLINK", "EPIPE", "EDOM", "ERANGE", "EDEADLK", "ENAMETOOLONG", "ENOLCK", "ENOSYS", "ENOTEMPTY", "ELOOP",
    "", "ENOMSG", "EIDRM", "ECHRNG", "EL2NSYNC", "EL3HLT", "EL3RST", "ELNRNG", "EUNATCH", "ENOCSI",
    "EL2HLT", "EBADE", "EBADR", "EXFULL", "ENOANO", "EBADRQC", "EBADSLT", "", "EBFONT", "ENOSTR",
    "ENODATA", "ETIME", "ENOSR", "ENONET", "ENOPKG", "EREMOTE", "ENOLINK", "EADV", "ESRMNT", "ECOMM",
    "EPROTO", "EMULTIHOP", "EDOTDOT", "EBADMSG", "EOVERFLOW", "ENOTUNIQ", "EBADFD", "EREMCHG", "ELIBACC", "ELIBBAD",
    "ELIBSCN", "ELIBMAX", "ELIBEXEC", "EILSEQ", "ERESTART", "ESTRPIPE", "EUSERS", "ENOTSOCK", "EDESTADDRREQ", "EMSGSIZE",
    "EPROTOTYPE", "ENOPROTOOPT", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT", "EOPNOTSUPP", "EPFNOSUPPORT", "EAFNOSUPPORT", "EADDRINUSE", "EADDRNOTAVAIL", "ENETDOWN",
    "ENETUNREACH", "ENETRESET", "ECONNABORTED", "ECONNRESET", "ENOBUFS", "EISCONN", "ENOTCONN", "ESHUTDOWN", "ETOOMANYREFS", "ETIMEDOUT",
    "ECONNREFUSED", "EHOSTDOWN", "EHOSTUNREACH", "EALREADY", "EINPROGRESS", "ESTALE", "EUCLEAN", "ENOTNAM", "ENAVAIL", "EISNAM",
    "EREMOTEIO", "EDQUOT", "ENOMEDIUM", "EMEDIUMTYPE", "ECANCELED", "ENOKEY", "EKEYEXPIRED", "EKEYREVOKED", "EKEYREJECTED", "EOWNERDEAD",
    "ENOTRECOVERABLE", "ERFKILL", "EHWPOISON",
];

/// The number of a name, or a number in decimal or hexadecimal, whose sign does not count; `None` for all else and for 0.
pub fn number(text: &str) -> Option<i32> {
    match text {
        "EWOULDBLOCK" => return number("EAGAIN"),
        "EDEADLOCK" => return number("EDEADLK"),
        _ => {}
    }
    if text.starts_with('E') {
        let place = NAMES.iter().position(|name| *name == text)?;
        return i32::try_from(place + 1).ok();
    }
    let hexadecimal = text.strip_prefix("0x").or(text.strip_prefix("0X"));
    let value = match hexadecimal {
        Some(digits) => i32::from_str_radix(digits, 16).ok()?,
        None => text.parse::<i32>().ok()?,
    };
    value.checked_abs().filter(|value| *value != 0)
}

/// The name of a number that has one.
pub fn name(number: i32) -> Option<&'static str> {
    let place = usize::try_from(number).ok()?.checked_sub(1)?;
    NAMES.get(place).copied().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{name, number};

    #[test]
    fn numbers_are_called_what_they_are_known_by() {
        assert_eq!(name(5), Some("EIO"));
        assert_eq!(name(133), Some("EHWPOISON"));
        for nameless in [-5, 0, 41, 134] {
            assert_eq!(name(nameless), None, "{nameless}");
        }
        for known in 1..=133 {
            assert!(name(known).is_none_or(|it| number(it) == Some(known)));
        }
    }

    #[track_caller]
    fn check(text: &str, expected: Option<i32>) {
        assert_eq!(number(text), expected, "{text}");
    }

    #[test]
    fn errors_are_known_by_name_and_number() {
        for (name, value) in [("EPERM", 1), ("EIO", 5), ("ENOSPC", 28), ("EREMOTEIO", 121)] {
            check(name, Some(value));
        }
        check("EHWPOISON", Some(133));
        check("ETIMEDOUT", Some(110));
        check("EWOULDBLOCK", Some(11));
        check("-5", Some(5));
        check("0x1c", Some(28));
        for nonsense in ["0", "E", "ENOSPACE", "enospc", ""] {
            check(nonsense, None);
        }
    }
}
