//! What frames are made of, by their name.

/// The layout of a frame's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Encoding, text.
    Text,
    /// Encoding, description, text.
    UserText,
    /// Latin-1 address.
    Url,
    /// Encoding, description, Latin-1 address.
    UserUrl,
    /// Encoding, language, description, text: comments and lyrics.
    Comment,
    /// Owner, bytes.
    UniqueId,
    /// Encoding, pairs of role and name.
    People,
    /// A picture.
    Picture,
    /// Being there says yes (iTunes).
    Mark,
    /// Owner first, then something else.
    Owned,
    /// Anything else.
    Binary,
}

impl Kind {
    pub(super) fn of(name: &str) -> Self {
        match name {
            "TXXX" | "TXX" => Self::UserText,
            "WXXX" | "WXX" => Self::UserUrl,
            "COMM" | "COM" | "USLT" | "ULT" => Self::Comment,
            "UFID" | "UFI" => Self::UniqueId,
            "TIPL" | "TMCL" | "IPLS" | "IPL" => Self::People,
            "APIC" | "PIC" => Self::Picture,
            "PCST" | "PCS" => Self::Mark,
            "PRIV" | "GEOB" => Self::Owned,
            // Apple's text frames with names of their own, and its address that has an encoding byte.
            "GRP1" | "GP1" | "MVNM" | "MVN" | "MVIN" | "MVI" | "WFED" | "WFD" => Self::Text,
            _ if name.starts_with('T') => Self::Text,
            _ if name.starts_with('W') => Self::Url,
            _ => Self::Binary,
        }
    }

    /// Whether values of it are read and can be written.
    pub(super) fn is_readable(self) -> bool {
        !matches!(self, Self::Picture | Self::Owned | Self::Binary)
    }
}

/// Whether the frame holds genres, which have references of their own.
pub(super) fn is_genre(name: &str) -> bool {
    matches!(name, "TCON" | "TCO")
}

/// Whether a name can be one of a frame.
pub(super) fn is_name(name: &[u8]) -> bool {
    let letters = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    match name {
        // Three-letter names in later tags, by early iTunes and others.
        [a, b, c, 0 | b' '] => a.is_ascii_uppercase() && [b, c].into_iter().all(letters),
        [first, others @ ..] => first.is_ascii_uppercase() && others.iter().all(letters),
        [] => false,
    }
}
