//! How long `fathom plan` takes to search the whole catalogue, for a profile and a price list that leave it most to weigh.

use serde_json::{Value, json};

use super::start_up::spreads;
use crate::command::root;

const ROUNDS: usize = 7;
/// What the search may take at most, in ms.
const WANTED: f64 = 1000.0;

/// Prints and gives the time from start to end.
pub fn measure(fathom: &str) -> Result<Value, String> {
    println!("plan");
    let folder = root().join("benches/plan");
    let path = |name: &str| folder.join(name).display().to_string();
    let (profile, prices) = (path("four.profile.toml"), path("prices.toml"));
    let words = [
        "plan",
        &profile,
        "--prices",
        &prices,
        "--family=premium,standard,v2,ultra,nfs,smb",
        "--burst=30m,on-demand",
        "--prove=never",
    ];
    let (time, memory) = spreads(fathom, &words, ROUNDS)?;
    println!(
        "    {:24} {:8.2} ({:.2} to {:.2})   wanted < {WANTED:.0}   {}",
        "whole catalogue, ms",
        time.median,
        time.least,
        time.most,
        if time.median < WANTED {
            "reached"
        } else {
            "MISSED"
        },
    );
    Ok(json!({
        "case": "plan",
        "whole_catalogue_ms": [time.least, time.median, time.most],
        "memory_mb": [memory.least, memory.median, memory.most],
    }))
}
