//! A generated data set in the shape of a real application's: the same documents on every run and machine.

mod documents;
mod random;

pub use documents::{Document, Grown};
pub(crate) use random::{id, number};

pub(crate) use documents::new_order;
use documents::{account, article, entry, list_entry, order};

/// The large collection: documents of about 30 KiB.
pub const ARTICLES: &str = "articles";
/// The second collection: a few thousand documents of some KiB.
pub const ORDERS: &str = "orders";
/// The collection whose documents own [`ENTRIES`].
pub const ACCOUNTS: &str = "accounts";
/// The subcollection that makes a collection group.
pub const ENTRIES: &str = "entries";
/// The collection that is grown.
pub const GROWN: &str = "grown";
/// Documents in each small collection.
pub const LIST_DOCUMENTS: u64 = 50;

/// How much there is of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Documents of [`ARTICLES`].
    pub articles: u64,
    /// Documents of [`ORDERS`].
    pub orders: u64,
    /// Small collections at the root.
    pub lists: u64,
    /// All documents; what the others leave is accounts and their entries.
    pub all: u64,
}

impl Sizes {
    /// As many documents as the application has that the published comparison was made with.
    pub const FULL: Self = Self { articles: 10_918, orders: 4_200, lists: 40, all: 211_205 };
    /// A tenth of it.
    pub const SMALL: Self = Self { articles: 1_092, orders: 420, lists: 4, all: 21_120 };

    /// The documents in the order they are written.
    pub fn documents(self) -> impl Iterator<Item = Document> {
        let lists = (0..self.lists)
            .flat_map(|list| (0..LIST_DOCUMENTS).map(move |number| list_entry(list, number)));
        let articles = (0..self.articles).map(move |number| article(self, number));
        let orders = (0..self.orders).map(move |number| order(self, number));
        let rest = self.all - self.articles - self.orders - self.lists * LIST_DOCUMENTS;
        let accounts = (0..).flat_map(|number| {
            let owned =
                (0..entries_of(number)).map(move |entry_number| entry(number, entry_number));
            std::iter::once(account(number)).chain(owned)
        });
        let rest = accounts.take(usize::try_from(rest).unwrap_or(usize::MAX));
        articles.chain(orders).chain(lists).chain(rest)
    }

    /// How many different tags there are: so many that each is on some ninety articles.
    #[must_use]
    pub fn tags(self) -> u64 {
        (self.articles / 23).max(1)
    }

    /// How many different labels there are: each is on some sixteen articles.
    #[must_use]
    pub fn labels(self) -> u64 {
        (self.articles * 3 / 16).max(1)
    }

    /// How many different categories there are: each has some twenty articles.
    #[must_use]
    pub fn categories(self) -> u64 {
        (self.articles / 20).max(1)
    }

    /// How many regions orders come from: some fifty from each.
    #[must_use]
    pub fn regions(self) -> u64 {
        (self.orders / 50).max(1)
    }
}

fn entries_of(account: u64) -> u64 {
    20 + number("entries", account) % 21
}

/// The name of a small collection.
#[must_use]
pub fn list(number: u64) -> String {
    format!("list-{number:02}")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_data_set_has_its_size_and_no_name_twice() {
        let mut names = HashSet::new();
        let mut articles = 0_usize;
        let mut article_bytes = 0_usize;
        for document in Sizes::SMALL.documents() {
            if document.path.starts_with("articles/") {
                articles += 1;
                article_bytes += document.fields.len();
            }
            assert!(names.insert(document.path));
        }
        assert_eq!(names.len(), 21_120);
        let mean = article_bytes / articles;
        assert!((27 * 1024..33 * 1024).contains(&mean), "{mean}");
    }

    #[test]
    fn a_data_set_is_always_the_same() {
        let first = |sizes: Sizes| sizes.documents().take(2).collect::<Vec<_>>();
        assert_eq!(first(Sizes::SMALL), first(Sizes::SMALL));
        assert_eq!(Grown::document(7), Grown::document(7));
    }
}
