//! Links release builds for Linux at a fixed address: the tables of the engine hold tens of
//! thousands of pointers, and giving each its address costs every start more than all else a hook
//! does. Libraries, heap and stack stay at addresses nobody can guess.

fn main() {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|set| set == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("PROFILE", "release") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
