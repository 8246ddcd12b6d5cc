//! Machines, disks, volumes and shares for the provider's resource manager, as a template of Bicep.

use std::fmt::Write as _;

use fathom_catalog::DiskKind;

use crate::build::{Build, DiskSet, account, caching, level, names, pool_mibps, pool_tib, sku};
use crate::quote::bicep;

const HEAD: [&str; 6] = [
    "Deploy it into a resource group: az deployment group create -g GROUP -f FILE",
    "",
    "A template puts every disk's caching to what stands here, also of machines that exist. A change of it detaches the",
    "disk, and of a system disk's restarts the machine: stop what uses the disk before. The parameter",
    "cachingMayChange has no default, so that it is asked for at every deployment.",
    "",
];

/// The template.
pub fn template(build: &Build<'_>) -> String {
    let mut text = build.head("//", &HEAD);
    parameters(&mut text, build);
    machines(&mut text, build);
    nfs(&mut text, build);
    smb(&mut text, build);
    text
}

/// Whether a product is there that is made in a zone.
fn needs_zone(sets: &[DiskSet<'_>]) -> bool {
    let mut kinds = sets.iter().map(|set| set.disks.kind.kind());
    kinds.any(|kind| matches!(kind, DiskKind::Ultra | DiskKind::PremiumSsdV2))
}

fn parameters(text: &mut String, build: &Build<'_>) {
    text.push_str(
        "\n@description('Whether disks of machines that exist may be detached, and such machines restarted, to change caching.')\n\
         @allowed([\n  'yes'\n])\n\
         param cachingMayChange string\n\
         param location string = resourceGroup().location\n\
         param subnetId string\n\
         param adminUsername string\n\
         param adminPublicKey string\n",
    );
    if needs_zone(&build.disks()) {
        text.push_str("param zone string\n");
    }
    if !build.nfs().is_empty() {
        text.push_str("param delegatedSubnetId string\n");
    }
    if !build.smb().is_empty() {
        text.push_str("param storageAccountName string\n");
    }
    text.push_str("\nvar machines = [\n");
    for name in &build.machines {
        let _ = writeln!(text, "  {}", bicep(name));
    }
    text.push_str("]\nvar disks = [\n");
    for set in build.disks() {
        let (iops, mbps) = set
            .set()
            .map_or(("null".to_owned(), "null".to_owned()), |it| {
                (it.0.to_string(), it.1.to_string())
            });
        for lun in set.luns() {
            let _ = writeln!(
                text,
                "  {{ name: {}, sku: {}, gib: {}, lun: {lun}, caching: {}, iops: {iops}, mbps: {mbps}, bursts: {}, plus: {} }}",
                bicep(&format!("{}-{lun}", set.volume.slug)),
                bicep(sku(set.disks.kind.kind())),
                set.gib(),
                bicep(caching(set.disks.caching)),
                set.bursts(),
                set.plus(),
            );
        }
    }
    text.push_str("]\n");
}

const NETWORK_CARD: &str = "
resource card 'Microsoft.Network/networkInterfaces@2023-11-01' = [
  for machine in machines: {
    name: '${machine}-nic'
    location: location
    properties: {
      ipConfigurations: [
        {
          name: 'internal'
          properties: {
            subnet: {
              id: subnetId
            }
            privateIPAllocationMethod: 'Dynamic'
          }
        }
      ]
    }
  }
]
";

const LOGIN: &str = "      osProfile: {
        computerName: machine
        adminUsername: adminUsername
        linuxConfiguration: {
          disablePasswordAuthentication: true
          ssh: {
            publicKeys: [
              {
                path: '/home/${adminUsername}/.ssh/authorized_keys'
                keyData: adminPublicKey
              }
            ]
          }
        }
      }
      networkProfile: {
        networkInterfaces: [
          {
            id: card[index].id
          }
        ]
      }
";

const SYSTEM: &str = "        imageReference: {
          publisher: 'Canonical'
          offer: '0001-com-ubuntu-server-jammy'
          sku: '22_04-lts-gen2'
          version: 'latest'
        }
        osDisk: {
          createOption: 'FromImage'
          caching: 'ReadWrite'
          managedDisk: {
            storageAccountType: 'Premium_LRS'
          }
        }
";

const ATTACHED: &str = "        dataDisks: [
          for (disk, place) in disks: {
            lun: disk.lun
            createOption: 'Attach'
            caching: cachingMayChange == 'yes' ? disk.caching : null
            managedDisk: {
              id: resourceId('Microsoft.Compute/disks', '${machine}-${disk.name}')
            }
          }
        ]
";

fn machines(text: &mut String, build: &Build<'_>) {
    let sets = build.disks();
    let zoned = if needs_zone(&sets) {
        "    zones: [\n      zone\n    ]\n"
    } else {
        ""
    };
    text.push_str(NETWORK_CARD);
    if !sets.is_empty() {
        let _ = write!(
            text,
            "\nresource disk 'Microsoft.Compute/disks@2024-03-02' = [\n  \
             for index in range(0, length(machines) * length(disks)): {{\n    \
             name: '${{machines[index / length(disks)]}}-${{disks[index % length(disks)].name}}'\n    \
             location: location\n{zoned}    \
             sku: {{\n      name: disks[index % length(disks)].sku\n    }}\n    \
             properties: {{\n      \
             creationData: {{\n        createOption: 'Empty'\n        performancePlus: disks[index % length(disks)].plus\n      }}\n      \
             diskSizeGB: disks[index % length(disks)].gib\n      \
             diskIOPSReadWrite: disks[index % length(disks)].iops\n      \
             diskMBpsReadWrite: disks[index % length(disks)].mbps\n      \
             burstingEnabled: disks[index % length(disks)].bursts\n    \
             }}\n  }}\n]\n"
        );
    }
    let _ = write!(
        text,
        "\nresource vm 'Microsoft.Compute/virtualMachines@2024-07-01' = [\n  \
         for (machine, index) in machines: {{\n    \
         name: machine\n    location: location\n{zoned}    \
         properties: {{\n      \
         hardwareProfile: {{\n        vmSize: {}\n      }}\n",
        bicep(build.offer.candidate.vm.name)
    );
    if sets
        .iter()
        .any(|set| set.disks.kind.kind() == DiskKind::Ultra)
    {
        text.push_str("      additionalCapabilities: {\n        ultraSSDEnabled: true\n      }\n");
    }
    text.push_str("      storageProfile: {\n");
    text.push_str(SYSTEM);
    if !sets.is_empty() {
        text.push_str(ATTACHED);
    }
    text.push_str("      }\n");
    text.push_str(LOGIN);
    text.push_str("    }\n");
    if !sets.is_empty() {
        text.push_str("    dependsOn: [\n      disk\n    ]\n");
    }
    text.push_str("  }\n]\n");
}

fn nfs(text: &mut String, build: &Build<'_>) {
    if build.nfs().is_empty() {
        return;
    }
    let _ = write!(
        text,
        "\nresource netapp 'Microsoft.NetApp/netAppAccounts@2025-09-01' = {{\n  \
         name: {}\n  location: location\n}}\n",
        bicep(&build.app)
    );
    for (number, (volume, volumes)) in build.nfs().into_iter().enumerate() {
        let level = bicep(level(volumes));
        let manual = pool_mibps(volumes).map_or(String::new(), |mibps| {
            format!("    qosType: 'Manual'\n    customThroughputMibps: {mibps}\n")
        });
        let _ = write!(
            text,
            "\nresource pool{number} 'Microsoft.NetApp/netAppAccounts/capacityPools@2025-09-01' = {{\n  \
             parent: netapp\n  name: {}\n  location: location\n  properties: {{\n    \
             serviceLevel: {level}\n    size: {}\n{manual}  }}\n}}\n",
            bicep(&format!("{}-pool", volume.slug)),
            pool_tib(volumes) << 40
        );
        let mut options = String::new();
        if volumes.large {
            options.push_str("    isLargeVolume: true\n");
        }
        if volumes.is_assigned() {
            let _ = writeln!(
                options,
                "    throughputMibps: {}",
                volumes.bandwidth.get() >> 20
            );
        }
        for (part, name) in names(&volume.slug, volumes.count).iter().enumerate() {
            let name = bicep(name);
            let _ = write!(
                text,
                "\nresource volume{number}part{part} 'Microsoft.NetApp/netAppAccounts/capacityPools/volumes@2025-09-01' = {{\n  \
                 parent: pool{number}\n  name: {name}\n  location: location\n  properties: {{\n    \
                 creationToken: {name}\n    serviceLevel: {level}\n    \
                 usageThreshold: {}\n    subnetId: delegatedSubnetId\n    \
                 protocolTypes: [\n      'NFSv3'\n    ]\n{options}  }}\n}}\n",
                volumes.quota.get()
            );
        }
    }
}

fn smb(text: &mut String, build: &Build<'_>) {
    for (number, part) in build.shares().iter().enumerate() {
        let shares = part.shares;
        let (kind, redundancy) = account(shares);
        let bought = if shares.is_set() {
            format!(
                "    provisionedIops: {}\n    provisionedBandwidthMibps: {}\n",
                shares.iops.get(),
                shares.bandwidth.get() >> 20
            )
        } else {
            String::new()
        };
        let protocol = if shares.channels > 1 {
            "  properties: {\n    protocolSettings: {\n      smb: {\n        multichannel: {\n          \
             enabled: true\n        }\n      }\n    }\n  }\n"
        } else {
            ""
        };
        let _ = write!(
            text,
            "\nresource account{number} 'Microsoft.Storage/storageAccounts@2024-01-01' = {{\n  \
             name: '${{storageAccountName}}{}'\n  location: location\n  kind: {}\n  \
             sku: {{\n    name: {}\n  }}\n}}\n\
             \nresource service{number} 'Microsoft.Storage/storageAccounts/fileServices@2024-01-01' = {{\n  \
             parent: account{number}\n  name: 'default'\n{protocol}}}\n\
             \nresource share{number} 'Microsoft.Storage/storageAccounts/fileServices/shares@2024-01-01' = {{\n  \
             parent: service{number}\n  name: {}\n  properties: {{\n    \
             enabledProtocols: 'SMB'\n    shareQuota: {}\n{bought}  }}\n}}\n",
            part.suffix,
            bicep(kind),
            bicep(redundancy),
            bicep(&part.name),
            shares.size.get() >> 30
        );
    }
}
