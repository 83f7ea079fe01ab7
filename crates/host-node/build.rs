//! Tells the linker that Node provides the N-API symbols.

fn main() {
    napi_build::setup();
}
