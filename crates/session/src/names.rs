//! Names on the command line that are none of those there are.

use fathom_diagnostics::nearest;

/// What to do about `name`, which is none of `names`: the nearest, where one is near, and all.
pub fn one_of(name: &str, names: &[&str]) -> String {
    let all = names.join(", ");
    match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? one of {all}"),
        None => format!("one of {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_comes_first() {
        let names = ["premium", "nfs", "smb"];
        assert_eq!(
            one_of("smbb", &names),
            "did you mean `smb`? one of premium, nfs, smb"
        );
        assert_eq!(one_of("tapes", &names), "one of premium, nfs, smb");
    }
}
