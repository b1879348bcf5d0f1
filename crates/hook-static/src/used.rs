//! Receipts that were used: what a person approved for once runs once, even if somebody plays the
//! daemon's answer again.
//!
//! The daemon hands an approval out once; this is the same promise kept by the hook alone. A host
//! that tells of one call twice gives it the same name, and the second is no second call.

use std::fs::{self, DirBuilder};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use portcullis_approval::Moment;
use portcullis_approval::key::hex_sha256;
use portcullis_approval::receipt::Receipt;
use portcullis_hook::call::Call;

/// The directory in the data directory.
const DIRECTORY: &str = "receipts";

/// Why a receipt was not claimed.
#[derive(Debug, PartialEq, Eq)]
pub enum Unclaimed {
    /// Another call has used it.
    Used,
    /// It could not be written down.
    Unwritten,
}

/// Uses a receipt for a call.
///
/// # Errors
/// It was used for another one, or nobody could tell later that it was used.
pub fn claim(data: &Path, receipt: &Receipt, call: &Call, now: Moment) -> Result<(), Unclaimed> {
    let directory = data.join(DIRECTORY);
    let unwritten = |_| Unclaimed::Unwritten;
    DirBuilder::new().recursive(true).mode(0o700).create(&directory).map_err(unwritten)?;
    forget_old(&directory, now);
    let name = hex_sha256(format!("{}\0{}", receipt.id, call.slot).as_bytes());
    let path = directory.join(&name);
    let line = format!("{} {}", receipt.expires_at.ms(), call.call_id.as_deref().unwrap_or(""));
    // Whole before it has its name: whoever finds it can read it.
    let (mut file, beside) =
        portcullis_layers::files::beside(&directory, 0o600).map_err(unwritten)?;
    let linked = file.write_all(line.as_bytes()).and_then(|()| fs::hard_link(&beside, &path));
    let _ = fs::remove_file(&beside);
    match linked {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let is_same = call.call_id.is_some() && fs::read(&path).ok() == Some(line.into_bytes());
            if is_same { Ok(()) } else { Err(Unclaimed::Used) }
        }
        Err(_) => Err(Unclaimed::Unwritten),
    }
}

/// Takes away what is known of receipts that count no longer.
fn forget_old(directory: &Path, now: Moment) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let until = text.split(' ').next().and_then(|until| until.parse::<i64>().ok());
        if until.is_some_and(|until| until <= now.ms()) {
            let _ = fs::remove_file(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_approval::Id;

    use super::*;

    #[test]
    fn a_receipt_is_used_by_one_call() {
        let data = std::env::temp_dir().join(format!("portcullis-used-{}", std::process::id()));
        let (now, later) = (Moment::from_ms(1000), Moment::from_ms(9000));
        let receipt = |number: u8| Receipt {
            id: Id::new(now, &[number; 10]),
            digest: String::new(),
            outcome: "allow".to_owned(),
            ask: None,
            by: "x".to_owned(),
            at: now,
            expires_at: later,
            bound: None,
        };
        let call = |slot: &str, id: Option<&str>| Call {
            slot: slot.to_owned(),
            call_id: id.map(str::to_owned),
            ..Call::default()
        };
        let first = receipt(7);
        let claim = |receipt, call: Call| claim(&data, receipt, &call, now);
        assert_eq!(claim(&first, call("claude/PreToolUse", Some("1"))), Ok(()));
        assert_eq!(claim(&first, call("claude/PreToolUse", Some("1"))), Ok(()), "told twice");
        let other = claim(&first, call("claude/PreToolUse", Some("2")));
        assert_eq!(other, Err(Unclaimed::Used));
        assert_eq!(claim(&first, call("claude/PreToolUse", None)), Err(Unclaimed::Used));
        assert_eq!(claim(&first, call("claude/PermissionRequest", None)), Ok(()), "its prompt");
        let again = claim(&first, call("claude/PermissionRequest", None));
        assert_eq!(again, Err(Unclaimed::Used), "nothing says that it is the same call");
        assert_eq!(fs::read_dir(data.join(DIRECTORY)).unwrap().count(), 2);
        // What has ended is refused by itself; nobody needs to remember it.
        forget_old(&data.join(DIRECTORY), later);
        assert_eq!(fs::read_dir(data.join(DIRECTORY)).unwrap().count(), 0);
        fs::remove_dir_all(&data).unwrap();
    }
}
