//! Base64 (RFC 4648, section 4), decoded only.

/// The bytes of `text` up to the first character that is not of the alphabet.
pub(super) fn decode(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut bits = 0_u32;
    let mut count = 0;
    for sextet in text.iter().map_while(|character| sextet(*character)) {
        bits = bits << 6 | sextet;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

fn sextet(character: u8) -> Option<u32> {
    let value = match character {
        b'A'..=b'Z' => character - b'A',
        b'a'..=b'z' => character - b'a' + 26,
        b'0'..=b'9' => character - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    #[test]
    fn text_is_decoded_up_to_its_padding() {
        for (text, bytes) in
            [("", ""), ("TQ==", "M"), ("TWE=", "Ma"), ("TWFu", "Man"), ("TWF1TQ", "MauM"), ("TW!u", "M")]
        {
            assert_eq!(super::decode(text.as_bytes()), bytes.as_bytes(), "{text}");
        }
    }
}
