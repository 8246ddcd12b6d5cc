//! `fathom plan`: from what an application needs to the storage to buy, and the scripts that build it.

use std::path::PathBuf;

use clap::Args;
use fathom_catalog::{Catalog, Era};
use fathom_planner::{
    Family, MOST_MACHINES, Offer, Plan, PlanError, Prices, Prove, Request, nearest_product,
    plan_until,
};
use fathom_profile::{Level, Profile};
use fathom_session::{
    Code, Console, Failure, NewFile, Waiting, one_of, print_json, read_text, tell_warnings,
    whole_number,
};
use fathom_units::Nanos;

use crate::{Emit, emit};

/// `fathom plan`.
#[derive(Debug, Clone, Args)]
#[command(after_help = HELP)]
pub struct PlanArgs {
    /// What the application needs
    #[arg(value_name = "PROFILE")]
    profile: PathBuf,
    /// Take machine sizes from the pages of this era
    #[arg(long, default_value = "current")]
    era: String,
    /// Take machine sizes from these series alone, such as `DS` or `Dsv3`
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    series: Vec<String>,
    /// Products to search: premium, standard, v2, ultra, nfs, smb [default: the first two; all with --prices]
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    family: Vec<String>,
    /// Search these products alone, by their names on price lists: P30, premium-v2, nfs-premium, ssd-v2
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    only: Vec<String>,
    /// How many machines share the I/O [default: the fewest that carry it]
    #[arg(long, value_name = "N", value_parser = whole_number::<u32>(1, MOST_MACHINES.into()))]
    machines: Option<u32>,
    /// Round trip to volumes and shares: near, far, or a time such as 0.5ms
    #[arg(long, default_value = "near", value_name = "TIME")]
    rtt: String,
    /// Let credits carry the peak, which lasts so long, such as 30m; on-demand: let disks burst for pay; both: 30m,on-demand
    #[arg(long, value_delimiter = ',', value_name = "HOW")]
    burst: Vec<String>,
    /// Consider disks above 512 GiB with the option "performance plus", which is chosen as they are created
    #[arg(long)]
    performance_plus: bool,
    /// Your price list; without one, designs are ranked by what is provisioned
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// The most a month
    #[arg(
        long,
        value_name = "AMOUNT",
        requires = "prices",
        value_parser = most
    )]
    max_price: Option<u64>,
    /// Multiply the profile's figures, in place of its own growth
    #[arg(long, value_name = "1.5x", allow_hyphen_values = true)]
    growth: Option<String>,
    /// The percentile to carry: 50, 90 or 99
    #[arg(long, default_value = "99", value_parser = ["50", "90", "99"])]
    percentile: String,
    /// How many designs to offer
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = whole_number::<u8>(1, 100))]
    offers: u8,
    /// Predict the need on designs before they are offered: soon (what takes about 5 s), always, never
    #[arg(long, value_name = "WHEN", default_value = "soon", num_args = 0..=1, require_equals = true,
        default_missing_value = "always", value_parser = ["soon", "always", "never"])]
    prove: String,
    /// Write the first design and its workload as PREFIX.design.toml and PREFIX.workload.toml; one of these names will do
    #[arg(short, long, value_name = "PREFIX")]
    output: Option<String>,
    /// Print the plan as one JSON document
    #[arg(long)]
    json: bool,
    /// Print a script for an offer in place of the plan
    #[arg(long, value_name = "WHAT", value_parser = Emit::ALL.map(Emit::name))]
    emit: Option<String>,
    /// Write the script into this file, which must not exist yet, and print the plan
    #[arg(long, value_name = "FILE", requires = "emit")]
    emit_to: Option<PathBuf>,
    /// The offer that the script and the files are for
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole_number::<u8>(1, 100))]
    offer: u8,
}

const HELP: &str = "\
Offers are proven: the profile's own I/O is predicted on them, without credits
unless --burst asks for them. A design that fails is not offered.

Scripts are for az, bicep, terraform, powershell, mdadm, lvm, mount, logman, and
for fio, diskspd and vdbench, which verify the real thing. They are printed, and
run nothing.

Example:
  fathom profile new --app sql-server --tps 3500 -o shop.profile.toml
  fathom plan shop.profile.toml --series DSv2 -o shop
  fathom predict --on shop.design.toml shop.workload.toml
  fathom plan shop.profile.toml --series DSv2 --emit az --emit-to shop.sh";

/// Plans, prints the plan or a script of it, and writes the files that were asked for. `stop` is asked now and then.
///
/// # Errors
/// An input or option that is refused, a file that cannot be written; [`Code::Interrupted`] where `stop` said so before the
/// plan was made, with nothing printed and nothing written.
pub fn plan(
    args: &PlanArgs,
    console: &dyn Console,
    stop: &dyn Fn() -> bool,
) -> Result<Code, Failure> {
    let profile = profile(args, console)?;
    let prices = args.prices.as_ref().map(|path| {
        let name = path.display().to_string();
        Prices::read(&read_text("", path)?, &name).map_err(Failure::from)
    });
    let prices = prices.transpose()?;
    tell_unknown_items(prices.as_ref(), console);
    let request = request(args)?;
    look_at_outputs(args)?;
    let waiting = Waiting::new("planning", console);
    let stop = || {
        waiting.look();
        stop()
    };
    let planned = plan_until(&profile, &request, prices, (Catalog::builtin(), &stop));
    drop(waiting);
    let planned = planned.map_err(|error| match error {
        PlanError::Stopped => Failure::new(Code::Interrupted, error),
        other => Failure::new(Code::Input, other),
    })?;
    if planned.offers.is_empty() {
        show(&planned, args, console)?;
        return Ok(Code::Check);
    }
    let chosen = planned.offers.get(usize::from(args.offer) - 1);
    let chosen = chosen.ok_or_else(|| {
        let message = format!(
            "there is no offer {}, but {}",
            args.offer,
            planned.offers.len()
        );
        Failure::new(Code::Usage, message).hint("ask for more of them with `--offers N`")
    })?;
    let script = args.emit.as_deref().and_then(Emit::of_name);
    let script = script.map(|what| {
        emit(what, &planned, chosen).map_err(|message| Failure::new(Code::Usage, message))
    });
    match script.transpose()? {
        None => show(&planned, args, console)?,
        Some(script) => {
            if chosen.proof.proof().is_none() {
                console.tell("note: this offer is not proven; `--prove` predicts it first");
            }
            for note in &script.notes {
                console.tell(note);
            }
            match &args.emit_to {
                None => console.print(&script.text),
                Some(path) => {
                    NewFile::at(path)?.write(&script.text)?;
                    show(&planned, args, console)?;
                }
            }
        }
    }
    if let Some(prefix) = &args.output {
        write_files(chosen, prefix)?;
    }
    Ok(Code::Success)
}

/// Reads the profile, and tells what it warns of.
fn profile(args: &PlanArgs, console: &dyn Console) -> Result<Profile, Failure> {
    let name = args.profile.display().to_string();
    let (mut profile, warnings) = Profile::read(&read_text("", &args.profile)?, &name)?;
    tell_warnings(&warnings, console);
    if let Some(growth) = &args.growth {
        let parsed = growth.parse();
        profile.growth = parsed.map_err(|error| Failure::new(Code::Usage, error))?;
    }
    Ok(profile)
}

/// Prints the plan: for a reader, or as a document.
fn show(plan: &Plan, args: &PlanArgs, console: &dyn Console) -> Result<(), Failure> {
    if args.json {
        return print_json(&plan.to_json(), console);
    }
    console.show(&plan.to_text(console.width()));
    Ok(())
}

/// Warns of items on the price list that the catalogue does not have.
fn tell_unknown_items(prices: Option<&Prices>, console: &dyn Console) {
    let Some(prices) = prices else { return };
    let unknown = fathom_planner::unknown_items(prices, Catalog::builtin());
    if !unknown.is_empty() {
        console.tell(&format!(
            "warning: the catalogue has nothing of these names of the price list, which are left out: {}",
            unknown.join(", ")
        ));
    }
}

fn request(args: &PlanArgs) -> Result<Request, Failure> {
    let catalog = Catalog::builtin();
    let era = catalog.era(&args.era).ok_or_else(|| {
        let message = format!("the catalogue has no era `{}`", args.era);
        Failure::new(Code::Usage, message).hint(catalog.era_hint())
    })?;
    check_series(args, era, catalog)?;
    let (burst, on_demand) = bursts(&args.burst)?;
    let request = Request {
        era,
        series: args.series.clone(),
        families: families(args)?,
        max_price: args.max_price,
        only: args.only.clone(),
        machines: args.machines,
        distance: args.rtt.clone(),
        burst,
        on_demand,
        performance_plus: args.performance_plus,
        prove: match args.prove.as_str() {
            "always" => Prove::Always,
            "never" => Prove::Never,
            _ => Prove::Soon,
        },
        level: match args.percentile.as_str() {
            "50" => Level::P50,
            "90" => Level::P90,
            _ => Level::P99,
        },
        offers: usize::from(args.offers),
    };
    if let Some(name) = request.unknown_product(catalog) {
        let message = format!("`{name}` is no product of the catalogue");
        let hint = match nearest_product(name, catalog) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "products are such as P30, premium-v2, ultra, nfs-premium, ssd-v2".to_owned(),
        };
        return Err(Failure::new(Code::Usage, message).hint(hint));
    }
    if let Some((name, family)) = request.left_out_product(catalog) {
        let family = family.name();
        let message = format!("`{name}` is of family {family}, which `--family` leaves out");
        let hint = format!("add `{family}` to `--family`, or leave out one of the two options");
        return Err(Failure::new(Code::Usage, message).hint(hint));
    }
    let distance = request.round_trip(catalog);
    distance.map_err(|error| Failure::new(Code::Usage, error))?;
    Ok(request)
}

/// An amount of money in millionths.
fn most(text: &str) -> Result<u64, String> {
    let millionths = text.parse::<f64>().map(|amount| amount * 1e6);
    match millionths {
        Ok(millionths) if (0.0..=1e17).contains(&millionths) => Ok(millionths as u64),
        _ => Err(format!(
            "`{text}` is no price of a month: write an amount such as `1500` or `1499.50`, without a currency"
        )),
    }
}

/// How long credits last, and whether bursting is paid for.
fn bursts(words: &[String]) -> Result<(Option<Nanos>, bool), Failure> {
    let mut found = (None, false);
    for word in words {
        if word == "on-demand" {
            found.1 = true;
        } else if let Some(other) = found.0.replace(burst(word)?) {
            let message = format!("`--burst` has two lengths of a peak: {other} and `{word}`");
            return Err(Failure::new(Code::Usage, message).hint("leave one out"));
        }
    }
    Ok(found)
}

/// A peak's length: from a minute to a day.
fn burst(text: &str) -> Result<Nanos, Failure> {
    let parsed = text.parse::<Nanos>().ok();
    let sane = Nanos::from_secs(60)..=Nanos::from_secs(86_400);
    parsed.filter(|peak| sane.contains(peak)).ok_or_else(|| {
        let message = format!("`{text}` is no length of a peak");
        Failure::new(Code::Usage, message)
            .hint("write such as `30m`, from 1m to 24h, or `on-demand`")
    })
}

fn check_series(args: &PlanArgs, era: Era, catalog: &Catalog) -> Result<(), Failure> {
    let known = |series: &String| {
        let request = Request {
            era,
            series: vec![series.clone()],
            ..Request::default()
        };
        catalog.vms().iter().any(|vm| request.admits(vm))
    };
    match args.series.iter().find(|series| !known(series)) {
        None => Ok(()),
        Some(series) => {
            let message = format!("the catalogue has no series `{series}` of era `{era}`");
            Err(Failure::new(Code::Usage, message)
                .hint("`fathom catalog show NAME` says which series a size is of"))
        }
    }
}

fn families(args: &PlanArgs) -> Result<Vec<Family>, Failure> {
    let mut families = Vec::new();
    for name in &args.family {
        let found = Family::ALL.iter().find(|family| family.name() == name);
        families.push(*found.ok_or_else(|| {
            let names = Family::ALL.map(Family::name);
            let message = format!("`{name}` is no family of products that is planned");
            Failure::new(Code::Usage, message).hint(one_of(name, &names))
        })?);
    }
    if families.is_empty() {
        // What is provisioned ranks products whose limits are set to the need before all others, however dear they are.
        families = if args.prices.is_some() || !args.only.is_empty() {
            Family::ALL.to_vec()
        } else {
            vec![Family::Premium, Family::Standard]
        };
    }
    Ok(families)
}

/// Looks whether what is asked for can be printed and its files written, before anything is searched.
fn look_at_outputs(args: &PlanArgs) -> Result<(), Failure> {
    if args.json && args.emit.is_some() && args.emit_to.is_none() {
        let message = "`--json` and the script of `--emit` cannot both be printed";
        let hint = "store the script with `--emit-to FILE`, or leave one of them out";
        return Err(Failure::new(Code::Usage, message).hint(hint));
    }
    let is_nameless = |prefix: &&str| prefix.is_empty() || prefix.ends_with('/');
    let prefix = args.output.as_deref().map(beginning);
    if let Some(prefix) = prefix.filter(is_nameless) {
        let asked = args.output.as_deref().unwrap_or_default();
        let message = format!("`--output {asked}` does not say how the files' names begin");
        let hint = format!("write such as `{prefix}shop`, for `{prefix}shop.design.toml`");
        return Err(Failure::new(Code::Usage, message).hint(hint));
    }
    let offer = args.output.iter().flat_map(|prefix| offer_files(prefix));
    for path in offer.chain(args.emit_to.clone()) {
        NewFile::at(&path)?;
    }
    Ok(())
}

/// How the names of an offer's files begin, where it or one of the names is given.
fn beginning(given: &str) -> &str {
    let ends = [".design.toml", ".workload.toml"];
    let end = ends.iter().find_map(|end| given.strip_suffix(end));
    end.unwrap_or(given)
}

fn offer_files(given: &str) -> [PathBuf; 2] {
    let prefix = beginning(given);
    ["design", "workload"].map(|what| PathBuf::from(format!("{prefix}.{what}.toml")))
}

/// Writes an offer's files, both or none.
fn write_files(offer: &Offer, prefix: &str) -> Result<(), Failure> {
    let paths = offer_files(prefix);
    let [design, workload] = [NewFile::at(&paths[0])?, NewFile::at(&paths[1])?];
    design.write(&offer.design)?;
    workload
        .write(&offer.workload)
        .inspect_err(|_| design.remove())
}
