//! What a script says only where the design has it: an option too many is refused by the provider, one too few builds something
//! else than was planned.

use fathom_catalog::Catalog;
use fathom_emit::{Emit, Script, emit};
use fathom_planner::{Family, Plan, Prove, Request, Storage, plan};
use fathom_profile::Profile;

fn planned(family: Family, only: &str, figures: &str, machines: Option<u32>) -> Plan {
    let text = format!(
        "name = \"shop\"\n[[volume]]\nname = \"data\"\n{figures}\nreads = \"70%\"\nrandom = \"100%\"\n"
    );
    let (profile, _) = Profile::read(&text, "x").expect("a profile");
    let request = Request {
        families: vec![family],
        only: vec![only.to_owned()],
        prove: Prove::Never,
        offers: 1,
        machines,
        ..Request::default()
    };
    plan(&profile, &request, None, Catalog::builtin()).expect("a plan")
}

/// Figures of the only volume, which lies on so much space.
fn figures(capacity: &str, rate: &str) -> String {
    format!("capacity = \"{capacity}\"\n[[volume.period]]\nname = \"peak\"\n{rate}")
}

fn script(what: Emit, plan: &Plan) -> Script {
    let offer = plan.offers.first().expect("an offer");
    emit(what, plan, offer).expect("a script")
}

/// Each script has its own words for something, where `with` has it and `without` has not.
#[track_caller]
fn check(words: &[(Emit, &str)], with: &Plan, without: &Plan) {
    for (what, words) in words {
        let text = script(*what, with).text;
        assert!(text.contains(words), "{what:?}: no `{words}` in\n{text}");
        let text = script(*what, without).text;
        assert!(!text.contains(words), "{what:?}: `{words}` in\n{text}");
    }
}

const SMALL: &str = "iops = 1_000\nsize = \"8KiB\"";

#[test]
fn only_large_volumes_are_ordered_as_such() {
    let of = |capacity| planned(Family::Nfs, "nfs-standard", &figures(capacity, SMALL), None);
    let (large, regular) = (of("150TiB"), of("2TiB"));
    let is_large = |plan: &Plan| match &plan.offers[0].candidate.volumes[0] {
        Storage::Nfs(volumes) => volumes.large,
        Storage::Disks(_) | Storage::Smb(_) => false,
    };
    assert!(is_large(&large) && !is_large(&regular), "{large}");
    let words = [
        (Emit::Az, "--is-large-volume true"),
        (Emit::Bicep, "isLargeVolume: true"),
        (Emit::Terraform, "large_volume_enabled"),
    ];
    check(&words, &large, &regular);
}

#[test]
fn bandwidth_of_a_volume_is_ordered_only_where_it_is_assigned() {
    let of = |level| planned(Family::Nfs, level, &figures("2TiB", SMALL), None);
    let words = [
        (Emit::Az, "--throughput-mibps 8"),
        (Emit::Bicep, "throughputMibps: 8"),
        (Emit::Terraform, "throughput_in_mibps = 8"),
    ];
    check(&words, &of("nfs-flexible"), &of("nfs-premium"));
}

#[test]
fn several_channels_are_turned_on_only_where_they_are_planned() {
    let of = |iops: u32| {
        let rate = format!("iops = {iops}\nsize = \"8KiB\"");
        planned(Family::Smb, "ssd-v2", &figures("2TiB", &rate), None)
    };
    let (several, one) = (of(60_000), of(1_000));
    let channels = |plan: &Plan| match &plan.offers[0].candidate.volumes[0] {
        Storage::Smb(shares) => shares.channels,
        Storage::Disks(_) | Storage::Nfs(_) => 0,
    };
    assert!(channels(&several) > 1, "{several}");
    assert_eq!(channels(&one), 1, "{one}");
    let words = [
        (Emit::Az, "--enable-smb-multichannel true"),
        (Emit::Bicep, "multichannel:"),
        (Emit::Terraform, "multichannel_enabled"),
        (Emit::Mount, "multichannel,max_channels="),
    ];
    check(&words, &several, &one);
}

/// A mount of shares asks for their account; one of volumes over NFS for their server, and for no other's.
#[test]
fn mounts_ask_for_what_they_mount() {
    let shares = planned(Family::Smb, "ssd-v2", &figures("2TiB", SMALL), None);
    let volumes = planned(Family::Nfs, "nfs-premium", &figures("2TiB", SMALL), None);
    check(&[(Emit::Mount, "STORAGE_ACCOUNT:?")], &shares, &volumes);
    check(&[(Emit::Mount, "NFS_SERVER:?")], &volumes, &shares);
}

#[test]
fn a_single_disk_is_no_stripe() {
    let of = |iops: u32| {
        let rate = format!("iops = {iops}\nsize = \"8KiB\"");
        planned(Family::Premium, "P30", &figures("500GiB", &rate), None)
    };
    let (single, several) = (of(4_000), of(9_000));
    let count = |plan: &Plan| plan.offers[0].candidate.volumes[0].count();
    assert_eq!((count(&single), count(&several)), (1, 2), "{several}");
    let words = [(Emit::Mdadm, "mdadm --create"), (Emit::Lvm, "lvcreate --")];
    check(&words, &several, &single);
    let words = [Emit::Mdadm, Emit::Lvm].map(|what| (what, "mounted \"${devices[0]}\""));
    check(&words, &single, &several);
    let words = [
        (Emit::Az, "# data: 1 disk, caching"),
        (Emit::Mdadm, "# data: 1 disk\n"),
        (Emit::Powershell, "# 1 disk, a column each"),
    ];
    check(&words, &single, &several);
    // Windows makes a pool of a single disk too, and none of a share.
    let share = planned(Family::Smb, "ssd-v2", &figures("500GiB", SMALL), None);
    check(
        &[(Emit::Powershell, "function New-Stripe")],
        &single,
        &share,
    );
}

/// What a peer runs is one machine's part, which is told where there are several.
#[test]
fn the_part_of_a_machine_is_told_to_be_one() {
    let of = |machines| {
        let figures = figures("500GiB", SMALL);
        planned(Family::Premium, "P30", &figures, Some(machines))
    };
    for what in [Emit::Fio, Emit::Vdbench] {
        let told = |machines| {
            let notes = script(what, &of(machines)).notes;
            notes
                .iter()
                .any(|note| note.contains("the part of the first of"))
        };
        assert!(told(2) && !told(1), "{what:?}");
    }
}
