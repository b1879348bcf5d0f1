//! Links release builds for Linux so that they start at once.
//!
//! At a fixed address: the tables of the engine hold tens of thousands of pointers, and giving each
//! its address costs every start more than all else a hook does. Libraries, heap and stack stay at
//! addresses nobody can guess.
//!
//! With the unwinder inside, as static builds have it: a library less to find and to map.

use std::path::Path;
use std::process::Command;

fn main() {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|set| set == value);
    // The path is good from both packages that are built with this: a file that is missing would
    // have the binary built anew each time.
    println!("cargo:rerun-if-changed=../hook-static/build.rs");
    if !is("CARGO_CFG_TARGET_OS", "linux") || !is("PROFILE", "release") {
        return;
    }
    println!("cargo:rustc-link-arg-bins=-no-pie");
    let is_native = std::env::var("TARGET").ok() == std::env::var("HOST").ok();
    if is("CARGO_CFG_TARGET_ENV", "gnu") && is_native {
        take_unwinder_in();
    }
}

/// Has the linker find the archives of the unwinder where it looks for the library, if this
/// machine has them.
fn take_unwinder_in() {
    let linker = std::env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned());
    let archive = |name: &str| {
        let said = Command::new(&linker).arg(format!("-print-file-name={name}")).output().ok()?;
        let path = String::from_utf8(said.stdout).ok()?.trim().to_owned();
        // What it does not find it names without a directory.
        Path::new(&path).is_absolute().then_some(path)
    };
    let (Some(unwinder), Some(rest), Some(out)) =
        (archive("libgcc_eh.a"), archive("libgcc.a"), std::env::var("OUT_DIR").ok())
    else {
        return;
    };
    let script = format!("GROUP ( \"{unwinder}\" \"{rest}\" )\n");
    if std::fs::write(Path::new(&out).join("libgcc_s.so"), script).is_ok() {
        println!("cargo:rustc-link-search=native={out}");
    }
}
