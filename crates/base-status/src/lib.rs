//! What an operation answers when it does not succeed: a canonical code, a stable reason, a message.
//!
//! Every service maps its own errors to a [`Status`]; `front` maps a status to gRPC, HTTP and close
//! codes. The crate knows no protocol: it holds Google's canonical code names and numbers because all
//! of those protocols are defined in terms of them (google/rpc/code.proto).
#![forbid(unsafe_code)]

use std::fmt;

/// The result of an operation that can be refused.
pub type Result<T> = std::result::Result<T, Status>;

/// A canonical error code, as in google/rpc/code.proto. Success has no code: it is `Ok`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are Google's and their meaning is documented there")]
pub enum Code {
    Cancelled,
    Unknown,
    InvalidArgument,
    DeadlineExceeded,
    NotFound,
    AlreadyExists,
    PermissionDenied,
    ResourceExhausted,
    FailedPrecondition,
    Aborted,
    OutOfRange,
    Unimplemented,
    Internal,
    Unavailable,
    DataLoss,
    Unauthenticated,
}

/// Every code with its number, its name and the HTTP status production sends for it.
const CODES: [(Code, i32, &str, u16); 16] = [
    (Code::Cancelled, 1, "CANCELLED", 499),
    (Code::Unknown, 2, "UNKNOWN", 500),
    (Code::InvalidArgument, 3, "INVALID_ARGUMENT", 400),
    (Code::DeadlineExceeded, 4, "DEADLINE_EXCEEDED", 504),
    (Code::NotFound, 5, "NOT_FOUND", 404),
    (Code::AlreadyExists, 6, "ALREADY_EXISTS", 409),
    (Code::PermissionDenied, 7, "PERMISSION_DENIED", 403),
    (Code::ResourceExhausted, 8, "RESOURCE_EXHAUSTED", 429),
    (Code::FailedPrecondition, 9, "FAILED_PRECONDITION", 400),
    (Code::Aborted, 10, "ABORTED", 409),
    (Code::OutOfRange, 11, "OUT_OF_RANGE", 400),
    (Code::Unimplemented, 12, "UNIMPLEMENTED", 501),
    (Code::Internal, 13, "INTERNAL", 500),
    (Code::Unavailable, 14, "UNAVAILABLE", 503),
    (Code::DataLoss, 15, "DATA_LOSS", 500),
    (Code::Unauthenticated, 16, "UNAUTHENTICATED", 401),
];

impl Code {
    fn row(self) -> &'static (Code, i32, &'static str, u16) {
        CODES.iter().find(|row| row.0 == self).expect("the table holds every variant (tested)")
    }

    /// The number used by gRPC and by `google.rpc.Status`.
    pub fn as_i32(self) -> i32 {
        self.row().1
    }

    /// The name used in JSON errors, for example `INVALID_ARGUMENT`.
    pub fn name(self) -> &'static str {
        self.row().2
    }

    /// The HTTP status production answers with.
    pub fn http(self) -> u16 {
        self.row().3
    }

    /// The code with this number; `None` for 0 (OK) and for numbers that are no code.
    pub fn from_i32(number: i32) -> Option<Code> {
        CODES.iter().find(|row| row.1 == number).map(|row| row.0)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why an operation was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Status {
    /// The canonical code, which clients act on.
    pub code: Code,
    /// A stable name for this refusal, which tests and logs match; never sent as the message.
    pub reason: &'static str,
    /// The text sent to the client.
    pub message: String,
}

impl Status {
    /// A status with its own reason.
    pub fn new(code: Code, reason: &'static str, message: impl Into<String>) -> Self {
        Status { code, reason, message: message.into() }
    }

    /// INVALID_ARGUMENT: the request is wrong whatever the state.
    pub fn invalid_argument(message: impl Into<String>) -> Self {
        Status::new(Code::InvalidArgument, "invalid-argument", message)
    }

    /// NOT_FOUND: what the request names does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Status::new(Code::NotFound, "not-found", message)
    }

    /// ALREADY_EXISTS: what the request creates is there already.
    pub fn already_exists(message: impl Into<String>) -> Self {
        Status::new(Code::AlreadyExists, "already-exists", message)
    }

    /// FAILED_PRECONDITION: the state does not allow the request.
    pub fn failed_precondition(message: impl Into<String>) -> Self {
        Status::new(Code::FailedPrecondition, "failed-precondition", message)
    }

    /// ABORTED: another client was first; trying again may succeed.
    pub fn aborted(message: impl Into<String>) -> Self {
        Status::new(Code::Aborted, "aborted", message)
    }

    /// PERMISSION_DENIED: the caller may not do this.
    pub fn permission_denied(message: impl Into<String>) -> Self {
        Status::new(Code::PermissionDenied, "permission-denied", message)
    }

    /// UNIMPLEMENTED: firelet does not have this operation.
    pub fn unimplemented(message: impl Into<String>) -> Self {
        Status::new(Code::Unimplemented, "unimplemented", message)
    }

    /// RESOURCE_EXHAUSTED: a bound of the suite was met.
    pub fn resource_exhausted(message: impl Into<String>) -> Self {
        Status::new(Code::ResourceExhausted, "resource-exhausted", message)
    }

    /// UNAVAILABLE: the suite is stopping or not ready.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Status::new(Code::Unavailable, "unavailable", message)
    }

    /// INTERNAL: a fault of ours.
    pub fn internal(message: impl Into<String>) -> Self {
        Status::new(Code::Internal, "internal", message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_from_1_to_16_is_one_code_and_back() {
        for number in 1..=16 {
            let code = Code::from_i32(number).unwrap();
            assert_eq!(code.as_i32(), number);
            assert!(code.http() >= 400, "{code}");
        }
        assert_eq!(Code::from_i32(0), None);
        assert_eq!(Code::from_i32(17), None);
    }

    #[test]
    fn a_status_shows_its_code_and_message() {
        let status = Status::not_found("Document (x) not found.");
        assert_eq!(status.to_string(), "NOT_FOUND: Document (x) not found.");
    }
}
