//! What a metric is of: the resource in the name of a metric.
//!
//! `/subscriptions/…/providers/Microsoft.Compute/virtualMachines/db1/providers/Microsoft.Insights/metrics/Disk Read Bytes`
//! is a metric of the virtual machine `db1`. Names of resources are the same in large and in small letters.

/// A resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resource {
    /// As it is asked for, without the metric.
    pub id: String,
    /// Its type in small letters: `microsoft.compute/virtualmachines`.
    pub kind: String,
    /// Its own name, of a machine of a scale set with the set's before it.
    pub name: String,
}

/// Where the metric begins in the name of one.
const METRICS: &str = "/providers/microsoft.insights/";
const PROVIDERS: &str = "/providers/";
/// A machine of a scale set.
const OF_SCALE_SET: &str = "microsoft.compute/virtualmachinescalesets/virtualmachines";

impl Resource {
    /// The resource of a metric or of an answer by its id; `None` where it names none.
    pub fn of(id: &str) -> Option<Self> {
        let small = id.to_ascii_lowercase();
        let id = &id[..small.find(METRICS).unwrap_or(id.len())];
        let begin = small[..id.len()].rfind(PROVIDERS)? + PROVIDERS.len();
        let mut parts = id[begin..].split('/');
        let mut kind = parts.next()?.to_ascii_lowercase();
        let mut names = Vec::new();
        while let (Some(part), Some(name)) = (parts.next(), parts.next()) {
            kind.push('/');
            kind.push_str(&part.to_ascii_lowercase());
            names.push(name);
        }
        let name = match names.as_slice() {
            [.., set, name] if kind == OF_SCALE_SET => format!("{set}/{name}"),
            [.., name] => (*name).to_owned(),
            [] => return None,
        };
        (!name.is_empty()).then(|| Self {
            id: id.to_owned(),
            kind,
            name,
        })
    }

    /// What names none.
    pub fn unnamed() -> Self {
        Self {
            id: String::new(),
            kind: String::new(),
            name: String::new(),
        }
    }

    /// Whether both are the same one.
    pub fn is(&self, other: &Self) -> bool {
        self.id.eq_ignore_ascii_case(&other.id)
    }

    /// Its id for a command line, where it stands in quotes; a word in its place where it has letters that no id has.
    pub fn word(&self) -> &str {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._()-".contains(&byte);
        let is_plain = !self.id.is_empty() && self.id.bytes().all(plain);
        if is_plain { &self.id } else { "ID" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(id: &str, expected: Option<(&str, &str)>) {
        let found = Resource::of(id);
        let told = found
            .as_ref()
            .map(|it| (it.kind.as_str(), it.name.as_str()));
        assert_eq!(told, expected, "{id}");
    }

    #[test]
    fn ids_name_type_and_resource() {
        let group = "/subscriptions/0/resourceGroups/shop";
        let of = |rest: &str| format!("{group}/providers/{rest}");
        let machine = Some(("microsoft.compute/virtualmachines", "db1"));
        check(&of("Microsoft.Compute/virtualMachines/db1"), machine);
        let metric = "Microsoft.Compute/virtualMachines/db1/providers/Microsoft.Insights/metrics/OS Disk Read Bytes/sec";
        check(&of(metric), machine);
        let set = "microsoft.compute/virtualMachineScaleSets/web/virtualMachines/3/providers/microsoft.insights/metrics/x";
        check(&of(set), Some((OF_SCALE_SET, "web/3")));
        let volume = "Microsoft.NetApp/netAppAccounts/a/capacityPools/p/volumes/v";
        let kind = "microsoft.netapp/netappaccounts/capacitypools/volumes";
        check(&of(volume), Some((kind, "v")));
        for none in [
            "",
            "/",
            "db1",
            "/providers/",
            &of("Microsoft.Compute"),
            &of("Microsoft.Compute/disks"),
        ] {
            check(none, None);
        }
    }

    #[test]
    fn a_name_does_not_become_a_command() {
        let of = |name: &str| {
            let id = format!("/subscriptions/0/resourceGroups/r(1)/providers/a.b/c/{name}");
            Resource::of(&id).unwrap().word() == "ID"
        };
        assert!(!of("db-1_x.y"));
        assert!(of("a;reboot") && of("a b") && of("a'") && of("$(x)") && of("\u{1b}[2J"));
    }
}
