//! Exports of NBD servers, which jobs of the engine `nbd` work on: one each, named by `uri` in place of files.

use fathom_workload::Backend;

use super::engine::backend;
use super::settings::Settings;

/// The URI of the job's export; `None` where it works on files.
pub fn uri(settings: &Settings) -> Option<&str> {
    let uri = settings.control.uri.as_deref();
    uri.filter(|_| backend(settings) == Backend::Nbd)
}

/// What is wrong with the job's export, the option it is about, and what to do.
pub fn problem(settings: &Settings) -> Option<(&'static str, String, &'static str)> {
    if backend(settings) != Backend::Nbd {
        return None;
    }
    if settings.control.uri.is_none() {
        let message = "the engine `nbd` needs the URI of an export".to_owned();
        let hint = "add uri=, such as nbd://HOST/EXPORT or nbd+unix:///EXPORT?socket=PATH";
        return Some(("ioengine", message, hint));
    }
    let several = [
        ("nrfiles", settings.file_count > 1),
        ("filename", settings.named_files.len() > 1),
        ("opendir", settings.control.open_directory.is_some()),
    ];
    let (option, _) = several.into_iter().find(|(_, is_given)| *is_given)?;
    let message =
        format!("the engine `nbd` has one export and no files, and `{option}` asks for more");
    Some((
        option,
        message,
        "leave it out, or give each export a job of its own",
    ))
}
