//! Mounts of volumes over NFS and shares over SMB on Linux, with what they ask of the network's windows.

use std::fmt::Write as _;

use crate::build::{Build, names};
use crate::quote::sh;

/// Smallest largest window that is set: larger than what Linux begins with.
const LEAST_WINDOW: u64 = 16 << 20;
/// Largest I/O in one call, as the pages recommend.
const CALL: u64 = 256 << 10;

const HEAD: [&str; 6] = [
    "Run it as root on each machine. It needs nfs-common for volumes over NFS, cifs-utils for shares over SMB, and:",
    "  NFS_SERVER        address of the volumes' mount target",
    "  STORAGE_ACCOUNT   of the shares; credentials of each share lie in /etc/smbcredentials/ACCOUNT.cred,",
    "                    readable by root alone, with the lines username=ACCOUNT and password=KEY",
    "",
    "What is mounted is left as it is.",
];

const FUNCTIONS: &str = r#"set -euo pipefail

if [ "$(id -u)" != 0 ]; then
    echo "run it as root" >&2
    exit 1
fi

# attach SOURCE DIRECTORY TYPE OPTIONS: mounts it, now and at every start
attach() {
    local source="$1" directory="$2" type="$3" options="$4"
    if findmnt --noheadings "$directory" >/dev/null; then
        printf '%s is mounted and left as it is\n' "$directory"
        return
    fi
    mkdir -p "$directory"
    printf '%s %s %s %s,_netdev,nofail 0 0\n' "$source" "$directory" "$type" "$options" >>/etc/fstab
    mount "$directory"
}
"#;

/// The script.
pub fn script(build: &Build<'_>) -> Result<String, String> {
    if build.nfs().is_empty() && build.smb().is_empty() {
        return Err(
            "the design has no volumes over the network: `--emit mdadm` or `--emit lvm` makes its disks ready"
                .to_owned(),
        );
    }
    let mut text = String::from("#!/usr/bin/env bash\n");
    text.push_str(&build.head("#", &HEAD));
    text.push_str(FUNCTIONS);
    windows(&mut text, build);
    if !build.nfs().is_empty() {
        text.push_str(
            "\n# 128 calls in flight are what the server takes on one connection.\n\
             echo 'options sunrpc tcp_slot_table_entries=128 tcp_max_slot_table_entries=128' >/etc/modprobe.d/fathom-sunrpc.conf\n\
             sysctl -w sunrpc.tcp_max_slot_table_entries=128 sunrpc.tcp_slot_table_entries=128 || true\n\
             : \"${NFS_SERVER:?set it to the address of the mount target}\"\n",
        );
    }
    for (volume, volumes) in build.nfs() {
        for name in names(&volume.slug, volumes.count) {
            let _ = writeln!(
                text,
                "attach \"$NFS_SERVER\":{} {} nfs rw,hard,vers=3,tcp,nconnect={},rsize={CALL},wsize={CALL}",
                sh(&format!("/{name}")),
                sh(&format!("/mnt/{name}")),
                volumes.connections
            );
        }
    }
    if !build.smb().is_empty() {
        text.push_str("\n: \"${STORAGE_ACCOUNT:?set it to the name of the storage account}\"\n");
    }
    for part in build.shares() {
        let channels = match part.shares.channels {
            1 => String::new(),
            several => format!(",multichannel,max_channels={several}"),
        };
        let _ = write!(
            text,
            "account=\"${{STORAGE_ACCOUNT}}{}\"\n\
             attach \"//$account.file.core.windows.net\"{} {} cifs \\\n    \
             \"vers=3.1.1,credentials=/etc/smbcredentials/$account.cred,serverino,nosharesock,actimeo=30{channels}\"\n",
            part.suffix,
            sh(&format!("/{}", part.name)),
            sh(&format!("/mnt/{}", part.name))
        );
    }
    if build.smb().iter().any(|(_, shares)| shares.channels > 1) {
        text.push_str(
            "\n# As many channels as were asked for must be there.\n\
             grep -A 3 -i channel /proc/fs/cifs/DebugData || true\n",
        );
    }
    Ok(text)
}

/// What TCP may have in flight: twice what the need puts on the way in a round trip.
fn windows(text: &mut String, build: &Build<'_>) {
    let part = build.plan.need.part(build.offer.candidate.machines);
    let volumes = part.volumes.iter().zip(&build.offer.candidate.volumes);
    let over = volumes.filter(|(_, storage)| storage.disks().is_none());
    let rates = over.map(|(volume, _)| {
        let loads = volume.loads.iter();
        loads.map(|load| load.bandwidth.get()).max().unwrap_or(0)
    });
    let rate: u64 = rates.sum();
    let rtt = build.plan.round_trip.get();
    let flying = (u128::from(rate) * u128::from(rtt) / 1_000_000_000) as u64;
    let window = flying
        .saturating_mul(2)
        .max(LEAST_WINDOW)
        .checked_next_power_of_two()
        .unwrap_or(LEAST_WINDOW);
    let _ = write!(
        text,
        "\n# Windows of TCP: {rate} bytes a second over a round trip of {} us are {flying} bytes on the way.\n\
         # They must grow with the distance: measure it with ping.\n\
         cat >/etc/sysctl.d/90-fathom.conf <<'END'\n\
         net.core.rmem_max = {window}\n\
         net.core.wmem_max = {window}\n\
         net.ipv4.tcp_rmem = 4096 131072 {window}\n\
         net.ipv4.tcp_wmem = 4096 65536 {window}\n\
         net.ipv4.tcp_window_scaling = 1\n\
         END\n\
         sysctl --quiet --load /etc/sysctl.d/90-fathom.conf\n",
        rtt / 1000
    );
}
