//! Path patterns.

/// Whether a glob of `[paths]` can be read.
///
/// # Errors
/// The way out.
pub fn check_braces(glob: &str) -> Result<(), String> {
    match glob {
        "" => Err("leave it out, or name a path".to_owned()),
        _ if glob.starts_with('!') => {
            Err("a leading `!` means nothing here; use the deny list".to_owned())
        }
        _ => Ok(()),
    }
}
