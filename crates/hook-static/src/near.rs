//! Whether a directory is near: whoever looks into it waits for this machine's disk at most.
//!
//! A server that is gone keeps whoever looks into its directory waiting for as long as it is gone.
//! This asks without looking there: what the kernel knows of the way by itself, and on what kind of
//! device it ends.

use std::path::Path;

/// Whether a directory is near; no where nobody can tell.
#[cfg(target_os = "linux")]
pub fn is_near(directory: &Path) -> bool {
    use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, StatxFlags, openat2, statx};
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(found) = openat2(CWD, directory, flags, Mode::empty(), ResolveFlags::CACHED) else {
        return false;
    };
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    // Disks have a number of their own; what is served from elsewhere has none.
    statx(&found, c"", flags, StatxFlags::TYPE).is_ok_and(|known| known.stx_dev_major != 0)
}

/// Whether a directory is near; no where nobody can tell.
#[cfg(not(target_os = "linux"))]
pub fn is_near(_: &Path) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::is_near;
    use std::path::Path;

    #[test]
    fn what_is_on_no_disk_is_not_near() {
        assert!(!is_near(Path::new("/proc/self")), "a file system without a device");
        assert!(!is_near(Path::new("/nothing/there")));
        assert!(!is_near(Path::new("/etc/passwd")), "no directory");
    }
}
