//! Who a web page is: what pages of strangers may not do.

use std::net::IpAddr;

use http::header::ORIGIN;
use http::{HeaderMap, Uri};

/// Whether a request comes from a web page that this machine has not served. Browsers name the page's
/// origin with everything but plain reads of the same origin, also where a stranger's name was made to
/// lead here; other programs name none.
pub fn is_foreign_page(headers: &HeaderMap) -> bool {
    headers.get(ORIGIN).is_some_and(|origin| {
        let uri = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
        !uri.as_ref().and_then(Uri::host).is_some_and(is_loopback)
    })
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn pages_of_this_machine_are_told_from_others() {
        fn check(origin: Option<&str>, foreign: bool) {
            let mut headers = HeaderMap::new();
            if let Some(origin) = origin {
                headers.insert(ORIGIN, HeaderValue::from_str(origin).unwrap());
            }
            assert_eq!(is_foreign_page(&headers), foreign, "{origin:?}");
        }
        check(None, false);
        check(Some("http://localhost:5173"), false);
        check(Some("https://localhost"), false);
        check(Some("http://127.0.0.1:3000"), false);
        check(Some("http://[::1]:3000"), false);
        check(Some("http://app.localhost:3000"), false);
        check(Some("https://evil.example"), true);
        check(Some("http://localhost.evil.example"), true);
        check(Some("http://127.0.0.1.evil.example:8080"), true);
        check(Some("http://192.168.0.7:8080"), true);
        check(Some("null"), true);
        check(Some(""), true);
    }
}
