//! What a plan says raises the limit that binds first: it names what binds, and what there is.

use fathom_catalog::Catalog;
use fathom_planner::{Family, Prove, Request, plan};
use fathom_profile::Profile;

/// What would raise the first limit to bind of the only product there is.
#[track_caller]
fn check(only: &str, capacity: &str, iops: u32, expected: &str) {
    let text = format!(
        "name = \"a\"\n[[volume]]\nname = \"data\"\ncapacity = \"{capacity}\"\n[[volume.period]]\nname = \"peak\"\n\
         iops = {iops}\nsize = \"8KiB\"\n"
    );
    let (profile, _) = Profile::read(&text, "a.profile.toml").expect("a profile");
    let request = Request {
        series: vec!["Dsv3".to_owned()],
        families: Family::ALL.to_vec(),
        only: vec![only.to_owned()],
        prove: Prove::Never,
        offers: 1,
        ..Request::default()
    };
    let plan = plan(&profile, &request, None, Catalog::builtin()).expect("a plan");
    let (line, _) = plan.offers[0].first_to_bind().expect("a limit");
    assert_eq!(line.raise, expected, "{only}, {capacity}: {plan}");
}

#[test]
fn a_quota_that_is_full_is_raised_by_space() {
    let more = "a larger quota, up to 100 TiB";
    check("nfs-premium", "50TiB", 100, more);
    // It has all the bandwidth that a volume can have.
    check("nfs-ultra", "90TiB", 100, more);
    let full = "another volume, since one holds 100 TiB at most";
    check("nfs-ultra", "100TiB", 100, full);
    let rate = "a larger quota: each TiB gives 64 MiB/s";
    check("nfs-premium", "1GiB", 30_000, rate);
}

#[test]
fn a_share_that_is_full_is_raised_by_space() {
    let then = "; then another share";
    let share = |only, expected: &str| check(only, "10TiB", 100, &format!("{expected}{then}"));
    share("ssd-v2", "more space bought, up to 256 TiB");
    share("ssd-v1", "a larger share, up to 100 TiB");
    share("hdd-payg", "a larger quota, up to 100 TiB");
    let another = "another share in a storage account of its own";
    check("ssd-v1", "100TiB", 100, another);
}

#[test]
fn disks_are_raised_by_what_there_is_more_of() {
    check(
        "premium-v2",
        "300GiB",
        100,
        "2 disks in place of 1, or more space bought for each disk",
    );
    check(
        "E20",
        "512GiB",
        100,
        "2 disks in place of 1, or E30 in place of E20",
    );
    // E30 to E50 have as many I/Os a second as an E20.
    check(
        "E20",
        "100GiB",
        480,
        "2 disks in place of 1, or E60 in place of E20",
    );
    // There is no larger one.
    check("P80", "32TiB", 100, "3 disks in place of 2");
    // A machine of this series takes 32 disks.
    let all = "P15 in place of P10, or a machine that takes more disks";
    check("P10", "4096GiB", 100, all);
}
