//! Names of the published figures.

/// Articles and how many figures each has, numbered from 01: `S0-01` … `S4-23`.
const ARTICLES: [(&str, u32); 5] = [("S0", 62), ("S1", 11), ("S2", 19), ("S3", 23), ("S4", 23)];

/// Worked examples of the provider's pages on disk performance, bursting, network volumes and shares.
const WORKED: [&str; 50] = [
    "anf-auto-1",
    "anf-auto-2",
    "anf-auto-3",
    "anf-elastic",
    "anf-flexible-max",
    "anf-little-1",
    "anf-little-2",
    "anf-little-table",
    "anf-manual-pool",
    "anf-manual-pool-flexible",
    "anf-nfs41-slots",
    "anf-quota-4500",
    "burst-accrual-p1",
    "burst-accrual-p20",
    "burst-billing-1",
    "burst-billing-2",
    "burst-both-idle",
    "burst-on-demand-p30",
    "burst-p4-startup-factor",
    "burst-refill-derived",
    "burst-vm-batch",
    "burst-vm-normal",
    "cap-cached-2020",
    "cap-cached-2026",
    "cap-combined-1",
    "cap-disk-1",
    "cap-ds1-p10-mbps",
    "cap-ds1-p30",
    "cap-ds4-p30-mbps",
    "cap-vm-1",
    "files-depth-table",
    "files-thread-example",
    "files-throughput-example",
    "files-v1-100",
    "files-v1-1024",
    "files-v1-102400",
    "files-v1-33792",
    "files-v1-500",
    "files-v1-5120",
    "files-v1-51200",
    "files-v2-1000",
    "files-v2-10000",
    "files-v2-102400",
    "files-v2-3000",
    "files-v2-500",
    "files-v2-5000",
    "files-v2-50000",
    "files-v2-75000",
    "qd-1",
    "qd-stripe-idle",
];

/// Worked examples of stripes.
const STRIPES: [&str; 3] = [
    "stripe-10xp30-ds14-derived",
    "stripe-2xp30",
    "stripe-4xp30-ds13",
];

/// The figures of the articles.
pub fn of_articles() -> Vec<String> {
    let numbered = |(article, most): (&str, u32)| -> Vec<String> {
        (1..=most)
            .map(|number| format!("{article}-{number:02}"))
            .collect()
    };
    ARTICLES.into_iter().flat_map(numbered).collect()
}

/// Every figure.
pub fn all() -> Vec<String> {
    let worked = WORKED.into_iter().chain(STRIPES).map(str::to_owned);
    of_articles().into_iter().chain(worked).collect()
}
