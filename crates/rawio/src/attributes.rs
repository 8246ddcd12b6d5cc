//! Calls on a file's attributes by its path.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Asks whether the file may be read (`access`).
///
/// # Errors
/// That it may not be, or is not there.
pub fn may_read(path: &Path) -> io::Result<()> {
    may(path, libc::R_OK)
}

/// Asks whether the file may be written, or files made in the directory (`access`).
///
/// # Errors
/// That it may not be, or is not there.
pub fn may_write(path: &Path) -> io::Result<()> {
    may(path, libc::W_OK)
}

fn may(path: &Path, what: libc::c_int) -> io::Result<()> {
    let path = terminated(path)?;
    // SAFETY: the path ends with a zero byte.
    ended(unsafe { libc::access(path.as_ptr(), what) })
}

/// Sets a file's times of access and modification to now (`utimensat`).
///
/// # Errors
/// Those of the call.
pub fn touch(path: &Path) -> io::Result<()> {
    let path = terminated(path)?;
    // SAFETY: the path ends with a zero byte; no times means now.
    ended(unsafe { libc::utimensat(libc::AT_FDCWD, path.as_ptr(), std::ptr::null(), 0) })
}

fn terminated(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn ended(result: libc::c_int) -> io::Result<()> {
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn a_file_is_touched_and_a_missing_one_is_told() {
        let name = format!("fathom-attributes-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let file = std::fs::File::create(&path).unwrap();
        file.set_modified(UNIX_EPOCH).unwrap();
        touch(&path).unwrap();
        let modified = file.metadata().unwrap().modified().unwrap();
        assert!(modified > UNIX_EPOCH + Duration::from_secs(86_400));
        may_read(&path).unwrap();
        may_write(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        for error in [touch(&path), may_read(&path), may_write(&path)].map(Result::unwrap_err) {
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
        }
    }
}
