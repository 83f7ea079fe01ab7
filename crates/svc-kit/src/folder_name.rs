//! Names of projects and databases as names of folders, the same on every system.

/// A name as a folder's name. Case is not told apart everywhere, so capitals are escaped like all that could mean
/// something.
#[must_use]
pub fn escape(name: &str) -> String {
    let mut escaped = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'(' | b')' => escaped.push(char::from(byte)),
            other => escaped.push_str(&format!("%{other:02x}")),
        }
    }
    escaped
}

/// The name that a folder's name stands for; `None` if [`escape`] did not make it.
#[must_use]
pub fn unescape(escaped: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = escaped.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    let name = String::from_utf8(bytes).ok()?;
    (!name.is_empty() && escape(&name) == escaped).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        fn check(name: &str, folder: &str) {
            assert_eq!(escape(name), folder);
            assert_eq!(unescape(folder).as_deref(), Some(name));
        }
        check("demo-shop_1", "demo-shop_1");
        check("(default)", "(default)");
        check("Demo", "%44emo");
        check("example.com:shop", "example%2ecom%3ashop");
        check("..", "%2e%2e");
        check("a/b\\c%", "a%2fb%5cc%25");
        check("\u{e9}", "%c3%a9");
    }

    #[test]
    fn other_folders_are_nobodys() {
        for folder in ["", "Demo", "a.b", "%2E", "%zz", "%2", "%ff", "a b", "%61"] {
            assert_eq!(unescape(folder), None, "{folder}");
        }
    }
}
