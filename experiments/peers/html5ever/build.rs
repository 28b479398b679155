//! The version of html5ever that cargo settled on.
fn main() {
    let lock = std::fs::read_to_string("Cargo.lock").unwrap_or_default();
    let version = lock.split("name = \"html5ever\"\nversion = \"").nth(1).and_then(|rest| rest.split('"').next());
    println!("cargo:rustc-env=HTML5EVER={}", version.unwrap_or("of unknown version"));
}
