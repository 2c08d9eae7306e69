//! Who is at the keyboard, for the log of edits.

use std::fs;

use musefs_db::limits::WHO_BYTES_MAX;

/// The name of the user, or their number.
pub(crate) fn name() -> String {
    let user = rustix::process::getuid().as_raw();
    let name = std::env::var("SUDO_USER").ok().or_else(|| name_in(&fs::read_to_string("/etc/passwd").ok()?, user));
    name.filter(|name| (1..=WHO_BYTES_MAX).contains(&name.len())).unwrap_or_else(|| format!("user {user}"))
}

/// The name of a user in a text like `/etc/passwd` (passwd(5)).
fn name_in(users: &str, user: u32) -> Option<String> {
    let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let number = user.to_string();
    fields.into_iter().find(|fields| fields.get(2) == Some(&number.as_str())).map(|fields| fields[0].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_named_by_number() {
        let users = "root:x:0:0::/root:/bin/sh\nodd\nanna:x:1000:1000:Anna:/home/anna:/bin/sh\n";
        assert_eq!(name_in(users, 1000).as_deref(), Some("anna"));
        assert_eq!(name_in(users, 7), None);
    }
}
