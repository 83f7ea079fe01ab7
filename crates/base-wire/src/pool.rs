//! The descriptors of everything compiled here, for JSON and for REST routes.

use std::sync::LazyLock;

use prost_reflect::DescriptorPool;

static ENCODED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

// Decoding costs milliseconds, and a suite that only speaks gRPC never needs it.
static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    DescriptorPool::decode(ENCODED).expect("the build script wrote what the compiler had accepted")
});

/// The descriptors with all options (`google.api.http` included), decoded at the first call.
///
/// Here `Document` and `Value` have their published shape, with `Write.verify` added.
pub fn descriptor_pool() -> &'static DescriptorPool {
    &POOL
}
