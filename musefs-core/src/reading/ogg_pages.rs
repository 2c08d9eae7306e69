//! What reading pages of Ogg that are numbered anew needs besides its source.
//!
//! Where pages begin is found for each range, by the rule of `musefs_format::ogg`. Its room is each thread's own, so
//! that nothing is allocated per read; where a page is known to begin is the source's, so that a stream that
//! runs on searches only once.

use std::cell::RefCell;

use musefs_format::ogg::PageSearch;

use super::OpenSource;

thread_local! {
    static SEARCH: RefCell<PageSearch> = RefCell::default();
}

/// Runs `read` with what is known of the pages of `source`, and remembers what it learns.
pub(super) fn with_search<T>(source: &OpenSource, read: impl FnOnce(&mut PageSearch) -> T) -> T {
    SEARCH.with_borrow_mut(|search| {
        let known = source.known_page();
        search.known = known;
        let result = read(search);
        if search.known != known {
            source.know_page(search.known);
        }
        result
    })
}
