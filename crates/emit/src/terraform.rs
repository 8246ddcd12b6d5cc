//! Machines, disks, volumes and shares for Terraform.

use fathom_catalog::DiskKind;

use crate::build::{Build, account, caching, level, names, pool_mibps, pool_tib, sku};
use crate::hcl::{Item, block, set, write};
use crate::quote::hcl;

const HEAD: [&str; 5] = [
    "Needs a resource group, a subnet of the machines, and a public key.",
    "A change of a disk's caching detaches the disk, and of a system disk's restarts the machine: such changes are",
    "ignored here, so that none is made in silence. To make one, stop what uses the disk, take the line",
    "`ignore_changes` out, look at `terraform plan`, and apply.",
    "",
];

/// The configuration.
pub fn configuration(build: &Build<'_>) -> String {
    let mut body = vec![block(
        "terraform",
        vec![block(
            "required_providers",
            vec![Item::Object(
                "azurerm = {".to_owned(),
                vec![
                    set("source", hcl("hashicorp/azurerm")),
                    // The first that knows every argument below (its changelog, 21 August 2025).
                    set("version", hcl(">= 4.41")),
                ],
                "}",
            )],
        )],
    )];
    body.push(block(
        "provider \"azurerm\"",
        vec![block("features", vec![])],
    ));
    body.extend(variables(build));
    body.push(machines_local(build));
    body.extend(machines(build));
    body.extend(disks(build));
    body.extend(nfs(build));
    body.extend(smb(build));
    let mut text = build.head("#", &HEAD);
    text.push('\n');
    write(&mut text, &body, 0);
    // An empty block stands on one line.
    text.replace("features {\n  }", "features {}")
}

fn variable(name: &str) -> Item {
    block(
        &format!("variable {}", hcl(name)),
        vec![set("type", "string")],
    )
}

fn variables(build: &Build<'_>) -> Vec<Item> {
    let mut names = vec![
        "resource_group_name",
        "location",
        "subnet_id",
        "admin_username",
        "admin_public_key",
    ];
    if needs_zone(build) {
        names.push("zone");
    }
    if !build.nfs().is_empty() {
        names.push("delegated_subnet_id");
    }
    if !build.smb().is_empty() {
        names.push("storage_account_name");
    }
    names.into_iter().map(variable).collect()
}

fn machines_local(build: &Build<'_>) -> Item {
    let names: Vec<_> = build.machines.iter().map(|name| hcl(name)).collect();
    block(
        "locals",
        vec![set("machines", format!("toset([{}])", names.join(", ")))],
    )
}

/// Whether a product is there that is made in a zone.
fn needs_zone(build: &Build<'_>) -> bool {
    let sets = build.disks();
    let mut kinds = sets.iter().map(|set| set.disks.kind.kind());
    kinds.any(|kind| matches!(kind, DiskKind::Ultra | DiskKind::PremiumSsdV2))
}

fn placed() -> Vec<Item> {
    vec![
        set("resource_group_name", "var.resource_group_name"),
        set("location", "var.location"),
    ]
}

fn card() -> Item {
    let mut card = vec![
        set("for_each", "local.machines"),
        set("name", "\"${each.key}-nic\""),
    ];
    card.extend(placed());
    card.push(block(
        "ip_configuration",
        vec![
            set("name", hcl("internal")),
            set("subnet_id", "var.subnet_id"),
            set("private_ip_address_allocation", hcl("Dynamic")),
        ],
    ));
    block("resource \"azurerm_network_interface\" \"machine\"", card)
}

fn machines(build: &Build<'_>) -> Vec<Item> {
    let mut machine = vec![set("for_each", "local.machines"), set("name", "each.key")];
    machine.extend(placed());
    machine.extend([
        set("size", hcl(build.offer.candidate.vm.name)),
        set("admin_username", "var.admin_username"),
        set(
            "network_interface_ids",
            "[azurerm_network_interface.machine[each.key].id]",
        ),
    ]);
    if needs_zone(build) {
        machine.push(set("zone", "var.zone"));
    }
    machine.extend([
        block(
            "admin_ssh_key",
            vec![
                set("username", "var.admin_username"),
                set("public_key", "var.admin_public_key"),
            ],
        ),
        block(
            "os_disk",
            vec![
                set("caching", hcl("ReadWrite")),
                set("storage_account_type", hcl("Premium_LRS")),
            ],
        ),
        block(
            "source_image_reference",
            vec![
                set("publisher", hcl("Canonical")),
                set("offer", hcl("0001-com-ubuntu-server-jammy")),
                set("sku", hcl("22_04-lts-gen2")),
                set("version", hcl("latest")),
            ],
        ),
    ]);
    let sets = build.disks();
    if sets
        .iter()
        .any(|set| set.disks.kind.kind() == DiskKind::Ultra)
    {
        machine.push(block(
            "additional_capabilities",
            vec![set("ultra_ssd_enabled", "true")],
        ));
    }
    machine.push(block(
        "lifecycle",
        vec![set("ignore_changes", "[os_disk[0].caching]")],
    ));
    vec![
        card(),
        block(
            "resource \"azurerm_linux_virtual_machine\" \"machine\"",
            machine,
        ),
    ]
}

/// Every disk of one machine, by name.
fn disk_map(build: &Build<'_>) -> Vec<Item> {
    let mut disks = Vec::new();
    for set_of in build.disks() {
        let kind = set_of.disks.kind.kind();
        let (iops, mbps) = set_of
            .set()
            .map_or(("null".to_owned(), "null".to_owned()), |it| {
                (it.0.to_string(), it.1.to_string())
            });
        for lun in set_of.luns() {
            let name = hcl(&format!("{}-{lun}", set_of.volume.slug));
            let value = format!(
                "{{ sku = {}, gib = {}, lun = {lun}, caching = {}, iops = {iops}, mbps = {mbps}, bursts = {}, plus = {} }}",
                hcl(sku(kind)),
                set_of.gib(),
                hcl(caching(set_of.disks.caching)),
                set_of.bursts(),
                set_of.plus(),
            );
            disks.push(set(&name, value));
        }
    }
    disks
}

fn disks(build: &Build<'_>) -> Vec<Item> {
    if build.disks().is_empty() {
        return Vec::new();
    }
    let of_machine = "for name, disk in local.disks : \"${machine}-${name}\" => merge(disk, { machine = machine })";
    let all = format!("merge([for machine in local.machines : {{ {of_machine} }}]...)");
    let mut disk = vec![
        set("for_each", "local.machine_disks"),
        set("name", "each.key"),
    ];
    disk.extend(placed());
    disk.extend([
        set("storage_account_type", "each.value.sku"),
        set("create_option", hcl("Empty")),
        set("disk_size_gb", "each.value.gib"),
        set("disk_iops_read_write", "each.value.iops"),
        set("disk_mbps_read_write", "each.value.mbps"),
        set("on_demand_bursting_enabled", "each.value.bursts"),
        set("performance_plus_enabled", "each.value.plus"),
    ]);
    if needs_zone(build) {
        disk.push(set("zone", "var.zone"));
    }
    let attachment = vec![
        set("for_each", "local.machine_disks"),
        set("managed_disk_id", "azurerm_managed_disk.disk[each.key].id"),
        set(
            "virtual_machine_id",
            "azurerm_linux_virtual_machine.machine[each.value.machine].id",
        ),
        set("lun", "each.value.lun"),
        set("caching", "each.value.caching"),
        block("lifecycle", vec![set("ignore_changes", "[caching]")]),
    ];
    vec![
        block(
            "locals",
            vec![Item::Object("disks = {".to_owned(), disk_map(build), "}")],
        ),
        block("locals", vec![set("machine_disks", all)]),
        block("resource \"azurerm_managed_disk\" \"disk\"", disk),
        block(
            "resource \"azurerm_virtual_machine_data_disk_attachment\" \"disk\"",
            attachment,
        ),
    ]
}

fn nfs(build: &Build<'_>) -> Vec<Item> {
    if build.nfs().is_empty() {
        return Vec::new();
    }
    let mut own = vec![set("name", hcl(&build.app))];
    own.extend(placed());
    let mut items = vec![block(
        "resource \"azurerm_netapp_account\" \"account\"",
        own,
    )];
    for (volume, volumes) in build.nfs() {
        let label = &volume.slug;
        let of_account = || set("account_name", "azurerm_netapp_account.account.name");
        let mut pool = vec![set("name", hcl(&format!("{label}-pool")))];
        pool.extend(placed());
        pool.extend([
            of_account(),
            set("service_level", hcl(level(volumes))),
            set("size_in_tb", pool_tib(volumes).to_string()),
        ]);
        if let Some(mibps) = pool_mibps(volumes) {
            pool.push(set("qos_type", hcl("Manual")));
            pool.push(set("custom_throughput_mibps", mibps.to_string()));
        }
        let header = format!(
            "resource \"azurerm_netapp_pool\" {}",
            hcl(&format!("p_{label}"))
        );
        items.push(block(&header, pool));
        let all: Vec<_> = names(label, volumes.count)
            .iter()
            .map(|name| hcl(name))
            .collect();
        let mut own = vec![
            set("for_each", format!("toset([{}])", all.join(", "))),
            set("name", "each.key"),
        ];
        own.extend(placed());
        own.extend([
            of_account(),
            set("pool_name", format!("azurerm_netapp_pool.p_{label}.name")),
            set("volume_path", "each.key"),
            set("service_level", hcl(level(volumes))),
            set("subnet_id", "var.delegated_subnet_id"),
            set("protocols", format!("[{}]", hcl("NFSv3"))),
            set(
                "storage_quota_in_gb",
                (volumes.quota.get() >> 30).to_string(),
            ),
        ]);
        if volumes.large {
            own.push(set("large_volume_enabled", "true"));
        }
        if volumes.is_assigned() {
            let mib = volumes.bandwidth.get() >> 20;
            own.push(set("throughput_in_mibps", mib.to_string()));
        }
        let header = format!(
            "resource \"azurerm_netapp_volume\" {}",
            hcl(&format!("v_{label}"))
        );
        items.push(block(&header, own));
    }
    items
}

fn smb(build: &Build<'_>) -> Vec<Item> {
    let mut items = Vec::new();
    for (number, part) in build.shares().iter().enumerate() {
        let shares = part.shares;
        let (kind, redundancy) = account(shares);
        let (tier, replication) = redundancy.split_once('_').unwrap_or((redundancy, "LRS"));
        let name = match part.suffix.as_str() {
            "" => "var.storage_account_name".to_owned(),
            suffix => format!("\"${{var.storage_account_name}}{suffix}\""),
        };
        let mut own = vec![set("name", name)];
        own.extend(placed());
        // The resource takes the tier and the version of how shares are billed apart.
        let (tier, version) = match tier.strip_suffix("V2") {
            Some(tier) => (tier, Some("V2")),
            None => (tier, None),
        };
        own.extend([
            set("account_kind", hcl(kind)),
            set("account_tier", hcl(tier)),
            set("account_replication_type", hcl(replication)),
        ]);
        if let Some(version) = version {
            own.push(set("provisioned_billing_model_version", hcl(version)));
        }
        if shares.channels > 1 {
            own.push(block(
                "share_properties",
                vec![block("smb", vec![set("multichannel_enabled", "true")])],
            ));
        }
        let account = format!("account_{number}");
        items.push(block(
            &format!("resource \"azurerm_storage_account\" {}", hcl(&account)),
            own,
        ));
        let mut share = Vec::new();
        if shares.is_set() {
            share.push(Item::Comment(format!(
                "set to {} IOPS and {} MiB/s once it is there, where the provider's version has no arguments for them",
                shares.iops.get(),
                shares.bandwidth.get() >> 20
            )));
        }
        share.extend([
            set("name", hcl(&part.name)),
            set(
                "storage_account_id",
                format!("azurerm_storage_account.{account}.id"),
            ),
            set("enabled_protocol", hcl("SMB")),
            set("quota", (shares.size.get() >> 30).to_string()),
        ]);
        items.push(block(
            &format!(
                "resource \"azurerm_storage_share\" {}",
                hcl(&format!("share_{number}"))
            ),
            share,
        ));
    }
    items
}
