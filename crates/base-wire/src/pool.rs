//! The descriptors of everything compiled here, for JSON and for REST routes.

use std::sync::LazyLock;

use prost_reflect::DescriptorPool;

// Decoding costs milliseconds, and a suite that only speaks gRPC never needs it.
static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| decode(include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"))));
static ADMIN_POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| decode(include_bytes!(concat!(env!("OUT_DIR"), "/admin-descriptors.bin"))));

fn decode(encoded: &[u8]) -> DescriptorPool {
    DescriptorPool::decode(encoded).expect("the build script wrote what the compiler had accepted")
}

/// The descriptors of the Firestore service, with all options (`google.api.http` included), decoded at the first call.
///
/// Here `Document` and `Value` have their published shape, with `Write.verify` added.
pub fn descriptor_pool() -> &'static DescriptorPool {
    &POOL
}

/// The same with those of the admin API and its operations, which are as many again.
pub fn admin_descriptor_pool() -> &'static DescriptorPool {
    &ADMIN_POOL
}
