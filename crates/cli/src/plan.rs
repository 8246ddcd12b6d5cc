//! `fathom profile` and `fathom plan`: from what an application needs to the storage to buy.

use std::path::Path;

use fathom_catalog::Catalog;
use fathom_planner::{Family, Plan, Prices, Request};
use fathom_profile::{Level, Profile, Template};
use fathom_session::{Code, Failure, tell_warnings};

use crate::args::{PlanArgs, ProfileAction};
use crate::print;
use crate::terminal::TERMINAL;

/// `fathom profile …`.
pub fn profile(action: &ProfileAction) -> Result<Code, Failure> {
    let ProfileAction::New {
        app,
        users,
        tps,
        output,
    } = action;
    let template = Template::by_name(app).ok_or_else(|| {
        let names: Vec<_> = Template::all().iter().map(|it| it.name).collect();
        let message = format!("`{app}` is no template");
        Failure::new(Code::Usage, message).hint(format!("one of {}", names.join(", ")))
    })?;
    let (flag, count) = if template.counts == "users" {
        ("--users", users)
    } else {
        ("--tps", tps)
    };
    let count = count.ok_or_else(|| {
        let message = format!("the template `{app}` counts {}", template.counts);
        Failure::new(Code::Usage, message).hint(format!("say how many with `{flag} N`"))
    })?;
    let made = template.profile(count);
    let made = made.map_err(|error| Failure::new(Code::Usage, error))?;
    match output {
        Some(path) => write_new(path, &made.to_toml())?,
        None => print(&made.to_toml()),
    }
    Ok(Code::Success)
}

/// `fathom plan`.
pub fn plan(args: &PlanArgs) -> Result<Code, Failure> {
    let (text, name) = (read(&args.profile)?, args.profile.display().to_string());
    let (mut profile, warnings) = Profile::read(&text, &name)?;
    tell_warnings(&warnings, &TERMINAL);
    if let Some(growth) = &args.growth {
        let parsed = growth.parse();
        profile.growth = parsed.map_err(|error| Failure::new(Code::Usage, error))?;
    }
    let prices = args.prices.as_ref().map(|path| {
        let name = path.display().to_string();
        Prices::read(&read(path)?, &name).map_err(Failure::from)
    });
    let request = request(args)?;
    let planned = fathom_planner::plan(&profile, &request, prices.transpose()?, Catalog::builtin());
    let planned = planned.map_err(|error| Failure::new(Code::Input, error))?;
    print(&planned.to_string());
    if let Some(prefix) = &args.output {
        write_first(&planned, prefix)?;
    }
    Ok(if planned.offers.is_empty() {
        Code::Check
    } else {
        Code::Success
    })
}

fn request(args: &PlanArgs) -> Result<Request, Failure> {
    let catalog = Catalog::builtin();
    let era = catalog.era(&args.era).ok_or_else(|| {
        let message = format!("the catalogue has no era `{}`", args.era);
        Failure::new(Code::Usage, message).hint("eras are `current`, `2020`, `2016` and others")
    })?;
    let mut families = Vec::new();
    for name in &args.family {
        let found = Family::ALL.iter().find(|family| family.name() == name);
        families.push(*found.ok_or_else(|| {
            let message = format!("`{name}` is no family of products that is planned");
            Failure::new(Code::Usage, message).hint("one of premium, standard, v2, ultra")
        })?);
    }
    // What is provisioned ranks products whose limits are set to the need before all others, however dear they are.
    if families.is_empty() {
        families = if args.prices.is_some() {
            Family::ALL.to_vec()
        } else {
            vec![Family::Premium, Family::Standard]
        };
    }
    let known = |series: &String| {
        let request = Request {
            era,
            series: vec![series.clone()],
            ..Request::default()
        };
        catalog.vms().iter().any(|vm| request.admits(vm))
    };
    if let Some(series) = args.series.iter().find(|series| !known(series)) {
        let message = format!("the catalogue has no series `{series}` of era `{era}`");
        return Err(Failure::new(Code::Usage, message)
            .hint("`fathom catalog show NAME` says which series a size is of"));
    }
    Ok(Request {
        era,
        series: args.series.clone(),
        families,
        max_price: args.max_price.map(|most| (most * 100.0).max(0.0) as u64),
        level: match args.percentile.as_str() {
            "50" => Level::P50,
            "90" => Level::P90,
            _ => Level::P99,
        },
        offers: usize::from(args.offers),
    })
}

/// Writes the first offer's files, both or none.
fn write_first(planned: &Plan, prefix: &str) -> Result<(), Failure> {
    let Some(offer) = planned.offers.first() else {
        return Ok(());
    };
    let design = format!("{prefix}.design.toml");
    let workload = format!("{prefix}.workload.toml");
    for path in [&design, &workload] {
        if Path::new(path).exists() {
            return Err(taken(path));
        }
    }
    write_new(Path::new(&design), &offer.design)?;
    write_new(Path::new(&workload), &offer.workload)
}

fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| {
        Failure::new(
            Code::Input,
            format!("`{}` cannot be read: {error}", path.display()),
        )
    })
}

fn taken(path: &str) -> Failure {
    let message = format!("`{path}` exists, and nothing is written over");
    Failure::new(Code::Input, message).hint("name another file with `-o`")
}

/// Writes a file that does not exist yet.
fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let file = std::fs::File::create_new(path);
    let written = file.and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => taken(&path.display().to_string()),
        _ => Failure::new(
            Code::Target,
            format!("`{}` cannot be written: {error}", path.display()),
        ),
    })
}
