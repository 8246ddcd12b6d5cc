//! Machines, disks, volumes and shares with the provider's command line.

use std::fmt::Write as _;

use fathom_catalog::DiskKind;

use crate::build::{Build, account, caching, level, names, pool_mibps, pool_tib, sku};
use crate::quote::sh;

const HEAD: [&str; 13] = [
    "Needs the command line `az`, signed in, and these variables:",
    "  RESOURCE_GROUP, LOCATION   where everything is made",
    "  SUBNET_ID                  the machines' subnet",
    "  IMAGE, ADMIN               of machines (Ubuntu2204, azureuser)",
    "  ZONE                       of machines and disks, where products ask for one",
    "  STORAGE_ACCOUNT            for shares: 3 to 22 lower-case letters and digits, unique in the world; a second share",
    "                             has an account of that name with a 2 behind it",
    "  DELEGATED_SUBNET_ID        for volumes over NFS: a subnet delegated to Microsoft.NetApp/volumes",
    "  OS_CACHING                 to change the caching of the machines' system disks",
    "",
    "What exists is left as it is. A change of a disk's caching detaches the disk, and of a system disk's restarts the",
    "machine: it is asked for each time, and what uses the disk must be stopped before.",
    "",
];

const FUNCTIONS: &str = r#"set -euo pipefail

: "${RESOURCE_GROUP:?set it to the resource group}"
: "${LOCATION:?set it to the region}"
IMAGE="${IMAGE:-Ubuntu2204}"
ADMIN="${ADMIN:-azureuser}"
ZONE="${ZONE:-}"

exists() {
    "$@" --resource-group "$RESOURCE_GROUP" --output none 2>/dev/null
}

ask() {
    local answer
    printf '%s\nType yes to do it: ' "$1" >&2
    read -r answer || answer=""
    [ "$answer" = yes ]
}

zone() {
    if [ -n "$ZONE" ]; then printf '%s\n' --zone "$ZONE"; fi
}
"#;

const MACHINE: &str = r#"
# machine NAME SIZE [OPTION...]
machine() {
    local name="$1" size="$2" now zone
    shift 2
    mapfile -t zone < <(zone)
    if ! exists az vm show --name "$name"; then
        az vm create --resource-group "$RESOURCE_GROUP" --location "$LOCATION" --name "$name" \
            --size "$size" --image "$IMAGE" --admin-username "$ADMIN" --generate-ssh-keys \
            --subnet "${SUBNET_ID:?set it to the id of the subnet of the machines}" \
            --public-ip-address "" "${zone[@]}" "$@" --output none
    fi
    if [ -n "${OS_CACHING:-}" ]; then
        now="$(az vm show --resource-group "$RESOURCE_GROUP" --name "$name" \
            --query storageProfile.osDisk.caching --output tsv)"
        if [ "$now" != "$OS_CACHING" ] &&
            ask "The system disk of $name has caching $now. To make it $OS_CACHING restarts the machine."; then
            az vm update --resource-group "$RESOURCE_GROUP" --name "$name" \
                --disk-caching "os=$OS_CACHING" --output none
        fi
    fi
}
"#;

const DISK: &str = r#"
# disk MACHINE NAME SKU GIB LUN CACHING [OPTION...]
disk() {
    local machine="$1" name="$2" sku="$3" gib="$4" lun="$5" caching="$6" now there zone
    shift 6
    mapfile -t zone < <(zone)
    if ! exists az disk show --name "$name"; then
        az disk create --resource-group "$RESOURCE_GROUP" --location "$LOCATION" --name "$name" \
            --sku "$sku" --size-gb "$gib" "${zone[@]}" "$@" --output none
    fi
    there="$(az vm show --resource-group "$RESOURCE_GROUP" --name "$machine" \
        --query "storageProfile.dataDisks[?lun==\`$lun\`].name | [0]" --output tsv)"
    if [ -z "$there" ]; then
        az vm disk attach --resource-group "$RESOURCE_GROUP" --vm-name "$machine" --name "$name" \
            --lun "$lun" --caching "$caching" --output none
        return
    fi
    if [ "$there" != "$name" ]; then
        printf 'LUN %s of %s holds the disk %s, not %s\n' "$lun" "$machine" "$there" "$name" >&2
        return 1
    fi
    now="$(az vm show --resource-group "$RESOURCE_GROUP" --name "$machine" \
        --query "storageProfile.dataDisks[?lun==\`$lun\`].caching | [0]" --output tsv)"
    if [ "$now" != "$caching" ]; then
        if ask "$name of $machine has caching $now. To make it $caching detaches the disk and attaches it again."; then
            az vm update --resource-group "$RESOURCE_GROUP" --name "$machine" \
                --disk-caching "$lun=$caching" --output none
        else
            printf '%s keeps caching %s, which is not what was planned\n' "$name" "$now" >&2
        fi
    fi
}
"#;

/// The script.
pub fn script(build: &Build<'_>) -> String {
    let mut text = String::from("#!/usr/bin/env bash\n");
    text.push_str(&build.head("#", &HEAD));
    text.push_str(FUNCTIONS);
    text.push_str(MACHINE);
    let sets = build.disks();
    if !sets.is_empty() {
        text.push_str(DISK);
    }
    let kinds: Vec<_> = sets.iter().map(|set| set.disks.kind.kind()).collect();
    let ultra = if kinds.contains(&DiskKind::Ultra) {
        " --ultra-ssd-enabled true"
    } else {
        ""
    };
    if kinds
        .iter()
        .any(|kind| matches!(kind, DiskKind::Ultra | DiskKind::PremiumSsdV2))
    {
        text.push_str("\n: \"${ZONE:?these disks are made in a zone: set it, such as 1}\"\n");
    }
    let machines: Vec<_> = build.machines.iter().map(|name| sh(name)).collect();
    let size = sh(build.offer.candidate.vm.name);
    let _ = writeln!(text, "\nmachines=({})", machines.join(" "));
    text.push_str("for vm in \"${machines[@]}\"; do\n");
    let _ = writeln!(text, "    machine \"$vm\" {size}{ultra}");
    for set in &sets {
        let name = &set.volume.slug;
        let options = set.set().map_or(String::new(), |(iops, mbps)| {
            format!(" --disk-iops-read-write {iops} --disk-mbps-read-write {mbps}")
        });
        let raised = if set.disks.on_demand {
            " --enable-bursting true"
        } else if set.disks.kind.has_plus() {
            " --performance-plus true"
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "    # {name}: {}, caching {}",
            set.told(),
            caching(set.disks.caching)
        );
        let _ = writeln!(
            text,
            "    for lun in {{{}..{}}}; do",
            set.first,
            set.luns().end - 1
        );
        let _ = writeln!(
            text,
            "        disk \"$vm\" \"$vm-{name}-$lun\" {} {} \"$lun\" {}{options}{raised}",
            sku(set.disks.kind.kind()),
            set.gib(),
            caching(set.disks.caching)
        );
        text.push_str("    done\n");
    }
    text.push_str("done\n");
    nfs(&mut text, build);
    smb(&mut text, build);
    text
}

fn nfs(text: &mut String, build: &Build<'_>) {
    if build.nfs().is_empty() {
        return;
    }
    let account = sh(&build.app);
    text.push_str(
        "\n: \"${DELEGATED_SUBNET_ID:?set it to the id of a subnet delegated to Microsoft.NetApp/volumes}\"\n\
         netapp() { az netappfiles \"$@\" --resource-group \"$RESOURCE_GROUP\" --output none; }\n",
    );
    let _ = writeln!(
        text,
        "netapp account show --account-name {account} 2>/dev/null ||\n    \
         netapp account create --account-name {account} --location \"$LOCATION\""
    );
    for (volume, volumes) in build.nfs() {
        let pool = sh(&format!("{}-pool", volume.slug));
        let level = level(volumes);
        let _ = writeln!(
            text,
            "netapp pool show --account-name {account} --pool-name {pool} 2>/dev/null ||\n    \
             netapp pool create --account-name {account} --pool-name {pool} --location \"$LOCATION\" \\\n        \
             --service-level {level} --size {}{}",
            pool_tib(volumes),
            pool_mibps(volumes).map_or(String::new(), |mibps| format!(
                " --qos-type Manual \\\n        --custom-throughput-mibps {mibps}"
            ))
        );
        for name in names(&volume.slug, volumes.count) {
            let name = sh(&name);
            let mut options = String::new();
            if volumes.large {
                options.push_str(" --is-large-volume true");
            }
            if volumes.is_assigned() {
                let mib = volumes.bandwidth.get() >> 20;
                let _ = write!(options, " --throughput-mibps {mib}");
            }
            let _ = writeln!(
                text,
                "netapp volume show --account-name {account} --pool-name {pool} --name {name} 2>/dev/null ||\n    \
                 netapp volume create --account-name {account} --pool-name {pool} --name {name} \\\n        \
                 --location \"$LOCATION\" --service-level {level} --usage-threshold {} \\\n        \
                 --file-path {name} --protocol-types NFSv3 \\\n        \
                 --vnet \"${{DELEGATED_SUBNET_ID%/subnets/*}}\" --subnet \"$DELEGATED_SUBNET_ID\"{options}",
                volumes.quota.get() >> 30
            );
        }
    }
}

fn smb(text: &mut String, build: &Build<'_>) {
    for part in build.shares() {
        let shares = part.shares;
        let (kind, redundancy) = account(shares);
        let _ = write!(
            text,
            "\naccount=\"${{STORAGE_ACCOUNT:?set it to the name of a storage account}}{}\"\n\
             exists az storage account show --name \"$account\" ||\n    \
             az storage account create --resource-group \"$RESOURCE_GROUP\" --location \"$LOCATION\" \\\n        \
             --name \"$account\" --kind {kind} --sku {redundancy} --output none\n",
            part.suffix
        );
        if shares.channels > 1 {
            text.push_str(
                "az storage account file-service-properties update --resource-group \"$RESOURCE_GROUP\" \\\n    \
                 --account-name \"$account\" --enable-smb-multichannel true --output none\n",
            );
        }
        let bought = if shares.is_set() {
            format!(
                " \\\n        --provisioned-iops {} --provisioned-bandwidth-mibps {}",
                shares.iops.get(),
                shares.bandwidth.get() >> 20
            )
        } else {
            String::new()
        };
        let name = sh(&part.name);
        let _ = writeln!(
            text,
            "exists az storage share-rm show --storage-account \"$account\" --name {name} ||\n    \
             az storage share-rm create --resource-group \"$RESOURCE_GROUP\" --storage-account \"$account\" \\\n        \
             --name {name} --enabled-protocols SMB --quota {}{bought} --output none",
            shares.size.get() >> 30
        );
    }
}
