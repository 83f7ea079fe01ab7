//! The protocol of the tests: a small library, compiled in memory.

use std::sync::LazyLock;

use prost_reflect::DescriptorPool;
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

/// The part of Google's annotations that matters here.
const ANNOTATIONS: &str = r#"
syntax = "proto3";
package google.api;
import "google/protobuf/descriptor.proto";
message HttpRule {
  string selector = 1;
  oneof pattern { string get = 2; string put = 3; string post = 4; string delete = 5; string patch = 6; }
  string body = 7;
  string response_body = 12;
  repeated HttpRule additional_bindings = 11;
}
extend google.protobuf.MethodOptions { HttpRule http = 72295728; }
"#;

const STATUS: &str = r#"
syntax = "proto3";
package google.rpc;
import "google/protobuf/any.proto";
message Status { int32 code = 1; string message = 2; repeated google.protobuf.Any details = 3; }
"#;

const LIBRARY: &str = r#"
syntax = "proto3";
package library.v1;
import "google/api/annotations.proto";
import "google/rpc/status.proto";
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/empty.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";

service Library {
  rpc GetBook(GetBookRequest) returns (Book) {
    option (google.api.http) = { get: "/v1/{name=shelves/*/**}" };
  }
  rpc ListBooks(ListBooksRequest) returns (ListBooksResponse) {
    option (google.api.http) = {
      get: "/v1/{parent=shelves/*/**}/{collection}"
      additional_bindings { get: "/v1/{parent=shelves}/{collection}" }
    };
  }
  rpc CreateBook(CreateBookRequest) returns (Book) {
    option (google.api.http) = { post: "/v1/{parent=shelves/**}/{collection}" body: "book" };
  }
  rpc UpdateBook(UpdateBookRequest) returns (Book) {
    option (google.api.http) = { patch: "/v1/{book.name=shelves/*/**}" body: "book" };
  }
  rpc DeleteBook(GetBookRequest) returns (google.protobuf.Empty) {
    option (google.api.http) = { delete: "/v1/{name=shelves/*/**}" };
  }
  rpc ReadBooks(ReadBooksRequest) returns (stream Book) {
    option (google.api.http) = { post: "/v1/{parent=shelves/*}:read" body: "*" };
  }
  rpc Echo(All) returns (All) {
    option (google.api.http) = { post: "/v1/echo:echo" body: "*" };
  }
  rpc Chat(stream Book) returns (stream Book) {
    option (google.api.http) = { post: "/v1/shelves:chat" body: "*" };
  }
  rpc Unserved(Book) returns (Book);
}
message Book {
  string name = 1;
  string title = 2;
  map<string, Page> pages = 3;
  google.protobuf.Timestamp printed = 4;
}
message Page { oneof content { string text = 1; int64 number = 2; bool blank = 3; google.protobuf.NullValue none = 4; } }
message Mask { repeated string field_paths = 1; }
enum Order { ORDER_UNSPECIFIED = 0; UP = 1; DOWN = 2; }
message GetBookRequest {
  string name = 1;
  Mask mask = 2;
  oneof at { bytes transaction = 3; google.protobuf.Timestamp read_time = 4; }
}
message ListBooksRequest {
  string parent = 1;
  string collection = 2;
  int32 page_size = 3;
  Order order = 4;
  google.protobuf.Int32Value limit = 5;
  google.protobuf.BoolValue deep = 6;
  repeated Order orders = 7;
  double weight = 8;
  bool all = 9;
  Mask mask = 10;
  map<string, string> labels = 11;
}
message ListBooksResponse { repeated Book books = 1; string echo = 2; }
message CreateBookRequest { string parent = 1; string collection = 2; string book_id = 3; Book book = 4; }
message UpdateBookRequest { Book book = 1; Mask update_mask = 2; }
message ReadBooksRequest { string parent = 1; int32 count = 2; string then = 3; }
message All {
  double double_ = 1 [json_name = "double"]; float float_ = 2 [json_name = "float"];
  int32 int32_ = 3; int64 int64_ = 4; uint32 uint32_ = 5; uint64 uint64_ = 6;
  sint32 sint32_ = 7; sint64 sint64_ = 8; fixed32 fixed32_ = 9; fixed64 fixed64_ = 10;
  sfixed32 sfixed32_ = 11; sfixed64 sfixed64_ = 12; bool bool_ = 13; string string_ = 14; bytes bytes_ = 15;
  Order order = 16; All child = 17;
  repeated int32 numbers = 18; repeated double doubles = 19; repeated string strings = 20; repeated All children = 21;
  repeated sint64 zigzags = 22; repeated fixed32 fixed = 23; repeated Order orders = 24;
  map<string, int64> by_name = 25; map<int32, All> by_number = 26; map<bool, string> by_bool = 27; map<int64, bytes> by_long = 28;
  oneof choice { bool yes = 29; int64 count = 30; google.protobuf.NullValue nothing = 31; string text = 32; double ratio = 33; Mask mask = 34; }
  google.protobuf.Timestamp at = 35; google.protobuf.Duration lasts = 36; google.protobuf.FieldMask fields = 37;
  google.protobuf.Struct struct = 38; google.protobuf.Value any_value = 39; google.protobuf.Int64Value wrapped = 40;
  google.protobuf.Any any = 41; google.protobuf.Empty empty = 42; optional int32 perhaps = 43;
  repeated google.protobuf.Timestamp times = 44;
}
"#;

struct Sources;

impl FileResolver for Sources {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let source = match name {
            "google/api/annotations.proto" => ANNOTATIONS,
            "google/rpc/status.proto" => STATUS,
            "library.proto" => LIBRARY,
            _ => return Err(protox::Error::file_not_found(name)),
        };
        File::from_source(name, source)
    }
}

static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    let mut resolver = ChainFileResolver::new();
    resolver.add(Sources);
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler.include_imports(true).open_file("library.proto").expect("the sources compile");
    let encoded = compiler.encode_file_descriptor_set();
    DescriptorPool::decode(encoded.as_slice()).expect("what the compiler wrote can be read")
});

/// The descriptors of `library.v1`.
pub(crate) fn pool() -> &'static DescriptorPool {
    &POOL
}
