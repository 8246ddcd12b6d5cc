//! `fathom profile`: what an application needs, by a rule of thumb.

use fathom_profile::Template;
use fathom_session::{Code, Failure, NewFile, one_of};

use crate::args::ProfileAction;
use crate::print;

/// `fathom profile …`.
pub fn profile(action: &ProfileAction) -> Result<Code, Failure> {
    let ProfileAction::New {
        app,
        users,
        tps,
        output,
    } = action;
    let template = Template::by_name(app).ok_or_else(|| {
        let message = format!("`{app}` is no template");
        Failure::new(Code::Usage, message).hint(one_of(app, &Template::names()))
    })?;
    let (flag, count) = match template.counts {
        "users" => ("--users", users),
        _ => ("--tps", tps),
    };
    let count = count.ok_or_else(|| {
        let message = format!("the template `{app}` counts {}", template.counts);
        Failure::new(Code::Usage, message).hint(format!("say how many with `{flag} N`"))
    })?;
    let made = template.profile(count);
    let hint = format!("say another number with `{flag} N`");
    let made = made.map_err(|error| Failure::new(Code::Usage, error).hint(hint))?;
    match output {
        Some(path) => NewFile::at(path)?.write(&made.to_toml())?,
        None => print(&made.to_toml()),
    }
    Ok(Code::Success)
}
