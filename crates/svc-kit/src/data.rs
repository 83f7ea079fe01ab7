//! What a service keeps for its clients, as the suite sees it: where it lives, and everything that is done
//! with all of it at once.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use base_status::Status;

use crate::{Exported, Import, Progress};

/// Where a service keeps its data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// In memory, until the suite stops.
    #[default]
    Memory,
    /// In a folder, to be found there by the next suite.
    Kept {
        /// The service's own folder. It may not exist yet.
        dir: PathBuf,
        /// What an acknowledged write has survived.
        durability: Durability,
    },
}

/// What an acknowledged write in kept data has survived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process. A power cut takes about the last second.
    #[default]
    WriteBehind,
    /// A power cut as well.
    PerCommit,
}

/// A moment of a service's data, which only the service itself can read.
pub type Saved = Box<dyn Any + Send + Sync>;

/// The data of one service. Nothing here needs more than a millisecond, however much data there is,
/// unless it says so.
pub trait Data: Send + Sync {
    /// Forgets the data of one project, or of all projects.
    ///
    /// # Errors
    /// Whatever the product answers when its data cannot be cleared.
    fn clear(&self, project: Option<&str>) -> Result<(), Status>;

    /// The data of one project, or of all projects, as it is now.
    fn save(&self, project: Option<&str>) -> Saved;

    /// Makes the projects that `saved` was made of what they were then, those made since included.
    /// In kept data it costs as much as has changed.
    ///
    /// # Errors
    /// Whatever the product answers when its data cannot be written.
    fn restore(&self, saved: &Saved) -> Result<(), Status>;

    /// Writes what `saved` holds of kept data to `dir`, for [`Data::find`] of this suite or a later one, and returns
    /// when it is on the disk: as long as there is much. Data that would not outlive the suite is left out.
    ///
    /// # Errors
    /// The disk's; and when `cancelled` is set, which is looked at all the time.
    fn write(&self, saved: &Saved, dir: &Path, cancelled: &AtomicBool) -> Result<(), Status>;

    /// What was written to `dir`, which was made of one project or of all. A folder that does not exist holds nothing.
    ///
    /// # Errors
    /// The disk's.
    fn find(&self, project: Option<&str>, dir: &Path) -> Result<Saved, Status>;

    /// Makes the files of kept data as small as they can be, and returns when that is done: as long as there is much.
    ///
    /// # Errors
    /// The disk's.
    fn compact(&self) -> Result<(), Status>;

    /// Makes the project `to` a copy of `from`, in place of what it may have held.
    ///
    /// # Errors
    /// Whatever the product answers when its data cannot be written.
    fn fork(&self, from: &str, to: &str) -> Result<(), Status>;

    /// Whether there is nothing in it.
    fn is_empty(&self) -> bool;

    /// Takes in what others have exported, into the suite's own project, as long as it takes. Rules are not
    /// asked, and what is kept is on the disk when it returns. After an error some of it may be there.
    ///
    /// # Errors
    /// What is wrong with the export, with the file and the place in it; whatever the product answers when its
    /// data cannot be written.
    fn import(&self, import: &Import, progress: &Progress) -> Result<(), Status>;

    /// Writes the data of the suite's own project, as it is when this is called, into the folder `into` in the
    /// product's official format, as long as it takes. Clients read and write meanwhile. The files are on the
    /// disk when it returns, their folders may not be. After an error some of them may be there.
    ///
    /// # Errors
    /// The disk's; a value that the format cannot hold.
    fn export(&self, into: &Path, progress: &Progress) -> Result<Exported, Status>;

    /// Writes everything to the disk, where it is kept there, when no request is served any more. May be
    /// called more than once.
    ///
    /// # Errors
    /// The disk's.
    fn close(&self) -> Result<(), Status>;
}
