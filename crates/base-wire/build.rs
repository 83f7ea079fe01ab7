//! Compiles Google's own protocol files, taken from the installed npm package, into servers and messages.
//!
//! The files are read where npm put them and never copied into the repository. One member that Google's servers
//! accept but do not publish is added while reading (see `VERIFY`).

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

/// The package, seen from the workspace root.
const PACKAGE: &str = "node_modules/@google-cloud/firestore/build/protos";

/// Where to look instead of `PACKAGE`.
const OVERRIDE: &str = "FIRELET_PROTOS";

/// The roots, and the file that gets the descriptors of each with those of the roots before; what they import comes
/// with them. Who decodes one pays for all that is in it, and few need the admin API.
const ROOTS: &[(&str, &str)] = &[
    ("google/firestore/v1/firestore.proto", "descriptors.bin"),
    ("google/firestore/admin/v1/firestore_admin.proto", "admin-descriptors.bin"),
];

/// Packages that only describe options: they reach the descriptor pool, but no Rust is made of them.
const OPTIONS_ONLY: &[&str] = &["google.api"];

/// `Write.verify` (checks a precondition and writes nothing) is served and sent by the web SDKs, but is missing
/// from the published file.
const VERIFY: Patch = Patch {
    file: "google/firestore/v1/write.proto",
    after: "string delete = 2;",
    insert: " string verify = 5;",
};

struct Patch {
    file: &'static str,
    after: &'static str,
    insert: &'static str,
}

/// Reads below one folder and applies `VERIFY` on the way.
struct Patched(PathBuf);

impl FileResolver for Patched {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let path = self.0.join(name);
        if !path.is_file() {
            return Err(protox::Error::file_not_found(name));
        }
        let mut source = fs::read_to_string(&path).map_err(protox::Error::new)?;
        if name == VERIFY.file {
            let found = source.matches(VERIFY.after).count();
            if found != 1 {
                let text = format!("`{}` stands {found} times in `{name}`", VERIFY.after);
                return Err(protox::Error::new(text));
            }
            let patched = format!("{}{}", VERIFY.after, VERIFY.insert);
            source = source.replace(VERIFY.after, &patched);
        }
        File::from_source(name, &source)
    }
}

fn main() -> ExitCode {
    println!("cargo::rerun-if-env-changed={OVERRIDE}");
    println!("cargo::rerun-if-changed=build.rs");
    match protos().and_then(|folder| {
        println!("cargo::rerun-if-changed={}", folder.display());
        compile(folder)
    }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={error}");
            ExitCode::FAILURE
        }
    }
}

fn protos() -> Result<PathBuf, Box<dyn Error>> {
    let folder = match std::env::var_os(OVERRIDE) {
        Some(folder) => PathBuf::from(folder),
        None => {
            let manifest = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
            let root = manifest.ancestors().nth(2).ok_or("base-wire is not below a workspace")?;
            root.join(PACKAGE)
        }
    };
    match ROOTS.iter().find(|(root, _)| !folder.join(root).is_file()) {
        None => Ok(folder),
        Some((root, _)) => Err(format!(
            "`{}` is missing: run `npm ci` in the repository first, or set {OVERRIDE} to a folder that holds it",
            folder.join(root).display()
        )
        .into()),
    }
}

fn compile(folder: PathBuf) -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let mut resolver = ChainFileResolver::new();
    resolver.add(Patched(folder));
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler.include_imports(true).include_source_info(false);
    for (root, file) in ROOTS {
        compiler.open_file(root)?;
        // prost-types forgets extensions, so the bytes that keep `google.api.http` come from the compiler itself.
        fs::write(out.join(file), compiler.encode_file_descriptor_set())?;
    }

    let mut files = compiler.file_descriptor_set();
    files.file.retain(|file| !OPTIONS_ONLY.contains(&file.package()));
    generate(&out, files)
}

fn generate(out: &Path, files: prost_types::FileDescriptorSet) -> Result<(), Box<dyn Error>> {
    let mut messages = tonic_prost_build::Config::new();
    messages.enable_type_names();
    tonic_prost_build::configure()
        .out_dir(out)
        .build_client(false)
        .build_server(true)
        .build_transport(false)
        .disable_comments(["."])
        .bytes(".")
        .btree_map(".")
        .extern_path(".google.firestore.v1.Document", "crate::WireDocument")
        .extern_path(".google.firestore.v1.Value", "crate::WireValue")
        .extern_path(".google.firestore.v1.DocumentChange", "crate::WireDocumentChange")
        .compile_fds_with_config(files, messages)?;
    Ok(())
}
