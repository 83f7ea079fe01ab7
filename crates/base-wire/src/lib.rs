//! base-wire owns the messages and server traits of Google's protocols, generated at build time.
//!
//! Documents and values are not generated: [`WireDocument`] and [`WireValue`] keep the encoded bytes of the fields,
//! so that a document passes from a request to the store and back without being taken apart. [`WireDocumentChange`]
//! keeps the bytes of the whole document.

#![forbid(unsafe_code)]

mod change;
mod document;
mod pool;
mod splice;
mod value;

pub use change::WireDocumentChange;
pub use document::WireDocument;
pub use pool::{admin_descriptor_pool, descriptor_pool};
pub use value::WireValue;

/// Google's packages, nested as their names are.
pub mod google {
    /// The packages of `google.firestore`.
    pub mod firestore {
        /// The packages of `google.firestore.admin`.
        pub mod admin {
            /// `google.firestore.admin.v1`: messages, and the server trait
            /// [`firestore_admin_server::FirestoreAdmin`].
            #[expect(
                missing_docs,
                clippy::all,
                clippy::allow_attributes,
                clippy::too_many_lines,
                reason = "generated at build time from Google's files, comments left out"
            )]
            pub mod v1 {
                include!(concat!(env!("OUT_DIR"), "/google.firestore.admin.v1.rs"));
            }
        }

        /// `google.firestore.v1`: messages, and the server trait [`firestore_server::Firestore`].
        #[expect(
            missing_docs,
            clippy::all,
            clippy::allow_attributes,
            clippy::too_many_lines,
            reason = "generated at build time from Google's files, comments left out"
        )]
        pub mod v1 {
            include!(concat!(env!("OUT_DIR"), "/google.firestore.v1.rs"));
        }
    }

    /// `google.longrunning`: operations, and the server trait [`operations_server::Operations`].
    #[expect(
        missing_docs,
        clippy::allow_attributes,
        clippy::too_many_lines,
        reason = "generated at build time from Google's files, comments left out"
    )]
    pub mod longrunning {
        include!(concat!(env!("OUT_DIR"), "/google.longrunning.rs"));
    }

    /// `google.rpc`: the status that answers carry inside messages.
    #[expect(
        missing_docs,
        reason = "generated at build time from Google's files, comments left out"
    )]
    pub mod rpc {
        include!(concat!(env!("OUT_DIR"), "/google.rpc.rs"));
    }

    /// `google.type`: small shared types.
    #[expect(
        missing_docs,
        reason = "generated at build time from Google's files, comments left out"
    )]
    pub mod r#type {
        include!(concat!(env!("OUT_DIR"), "/google.r#type.rs"));
    }
}
