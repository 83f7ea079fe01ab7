//! Properties of base-value's public surface, on values and paths drawn at random.

mod codec;
mod index_keys;
mod keys;
mod order;
mod paths;
mod strategies;
mod transforms;
