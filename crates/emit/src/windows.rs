//! Storage Spaces and SMB multichannel, as a script of PowerShell.

use std::fmt::Write as _;

use crate::build::{Build, DiskSet};
use crate::quote::powershell;

const HEAD: [&str; 4] = [
    "Run it as administrator on each machine, once its disks are attached. What exists is left as it is; a disk that",
    "cannot be pooled, because it holds something, is refused. For shares, sign in to them first:",
    "  cmdkey /add:ACCOUNT.file.core.windows.net /user:localhost\\ACCOUNT /pass:KEY",
    "",
];

const STRIPE: &str = r"
function New-Stripe([string] $Name, [int[]] $Luns, [int] $Columns, [long] $Interleave, [char] $Letter) {
    if (Get-StoragePool -FriendlyName $Name -ErrorAction SilentlyContinue) {
        Write-Host ('{0} exists and is left as it is' -f $Name)
        return
    }
    $disks = @(Get-PhysicalDisk -CanPool $true | Where-Object {
        $_.PhysicalLocation -match 'LUN\s+(\d+)' -and $Luns -contains [int] $Matches[1]
    })
    if ($disks.Count -ne $Luns.Count) {
        throw ('{0}: {1} of {2} disks are there and can be pooled' -f $Name, $disks.Count, $Luns.Count)
    }
    $system = (Get-StorageSubSystem | Where-Object FriendlyName -Like '*Storage*' | Select-Object -First 1).FriendlyName
    New-StoragePool -FriendlyName $Name -StorageSubSystemFriendlyName $system -PhysicalDisks $disks | Out-Null
    New-VirtualDisk -StoragePoolFriendlyName $Name -FriendlyName $Name -ResiliencySettingName Simple `
        -ProvisioningType Fixed -NumberOfColumns $Columns -Interleave $Interleave -UseMaximumSize |
        Initialize-Disk -PartitionStyle GPT -PassThru |
        New-Partition -DriveLetter $Letter -UseMaximumSize |
        Format-Volume -FileSystem NTFS -AllocationUnitSize 65536 -NewFileSystemLabel $Name | Out-Null
}
";

/// The script.
pub fn script(build: &Build<'_>) -> Result<String, String> {
    if build.disks().is_empty() && build.smb().is_empty() {
        return Err(
            "the design has neither disks nor shares; volumes over NFS are mounted by `--emit mount`"
                .to_owned(),
        );
    }
    let mut text = build.head("#", &HEAD);
    text.push_str("#Requires -RunAsAdministrator\nSet-StrictMode -Version Latest\n$ErrorActionPreference = 'Stop'\n");
    let sets = build.disks();
    if !sets.is_empty() {
        text.push_str(STRIPE);
    }
    let drives = build.drives();
    let pieces = sets.len() + build.shares().len();
    if drives.len() < pieces {
        return Err(format!(
            "{pieces} volumes have no drive letters: Windows has them up to Z"
        ));
    }
    let mut letters = drives.iter().map(|(_, letter)| *letter);
    for (set, letter) in sets.iter().zip(&mut letters) {
        stripe(&mut text, set, letter);
    }
    smb(&mut text, build, letters);
    Ok(text)
}

fn stripe(text: &mut String, set: &DiskSet<'_>, letter: char) {
    let luns: Vec<_> = set.luns().map(|lun| lun.to_string()).collect();
    let _ = writeln!(
        text,
        "\n# {}, a column each: more columns than eight are made here alone, and not by the Server Manager.\n\
         New-Stripe -Name {} -Luns @({}) -Columns {} -Interleave {} -Letter {letter}",
        set.told(),
        powershell(&set.volume.slug),
        luns.join(", "),
        set.disks.count,
        set.disks.stripe_unit.get()
    );
}

fn smb(text: &mut String, build: &Build<'_>, letters: impl Iterator<Item = char>) {
    let most = build.smb().iter().map(|(_, shares)| shares.channels).max();
    let Some(channels) = most else {
        return;
    };
    text.push_str(
        "\nif (-not $env:STORAGE_ACCOUNT) { throw 'set STORAGE_ACCOUNT to the name of the storage account' }\n",
    );
    if channels > 1 {
        let _ = writeln!(
            text,
            "Set-SmbClientConfiguration -EnableMultiChannel $true -ConnectionCountPerRssNetworkInterface {channels} -Force"
        );
    }
    for (part, letter) in build.shares().into_iter().zip(letters) {
        let _ = write!(
            text,
            "if (-not (Get-SmbMapping -LocalPath '{letter}:' -ErrorAction SilentlyContinue)) {{\n    \
             $remote = '\\\\{{0}}{}.file.core.windows.net\\{{1}}' -f $env:STORAGE_ACCOUNT, {}\n    \
             New-SmbMapping -LocalPath '{letter}:' -RemotePath $remote -Persistent $true | Out-Null\n}}\n",
            part.suffix,
            powershell(&part.name)
        );
    }
    text.push_str(
        "# The channels in use, once there is I/O:\nGet-SmbMultichannelConnection | Format-List\n",
    );
}
