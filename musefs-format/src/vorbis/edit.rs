//! A packet of comments with edits laid over it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Field, Layout};
use crate::table::{Column, Slot, free_name, slots};
use crate::{Edits, Refusal};

/// A run of the edited packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// New bytes.
    Made(Vec<u8>),
    /// A range of the old packet: offset of its first byte and length.
    Kept(u32, u32),
}

impl Piece {
    /// In bytes.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Made(bytes) => bytes.len() as u64,
            Self::Kept(_, len) => u64::from(*len),
        }
    }
}

/// The packet of `layout` with edited keys replaced: every field that holds one is dropped, whatever its name;
/// the new values stand where the first of them stood, keys that are new at the end if `adds`.
/// Vendor and all other fields are kept as ranges. `None` if no field changes.
///
/// What stands behind the last field is the caller's to keep.
///
/// # Errors
/// A value or key that the fields cannot hold.
pub fn edited(layout: &Layout, edits: &Edits, adds: bool) -> Result<Option<Vec<Piece>>, Refusal> {
    for key in edits.changed() {
        if edits.effective().get(key).iter().any(|value| value.contains('\0')) {
            return Err(Refusal::Value { key: key.to_owned(), reason: "many readers end a value at a NUL".to_owned() });
        }
    }
    let plan = Plan::of(layout, edits, adds);
    if !plan.touched.contains(&true) && plan.added.is_empty() {
        return Ok(None);
    }
    let mut fields = Vec::new();
    let mut count = 0;
    let mut written = BTreeSet::new();
    for (field, touched) in layout.fields.iter().zip(&plan.touched) {
        if !touched {
            keep(&mut fields, field.offset, 4 + field.len);
            count += 1;
            continue;
        }
        for key in field.keys() {
            if plan.wanted.contains(&key) && written.insert(key.clone()) {
                count += make(&mut fields, &key, &field.name, edits)?;
            }
        }
    }
    for key in plan.added.iter().filter(|key| !written.contains(*key)) {
        count += make(&mut fields, key, "", edits)?;
    }
    let mut pieces = match layout.vendor_len {
        Some(len) => vec![Piece::Kept(0, 4 + len)],
        None => vec![Piece::Made(vec![0; 4])],
    };
    pieces.push(Piece::Made(u32::to_le_bytes(count).to_vec()));
    pieces.extend(fields);
    Ok(Some(pieces))
}

struct Plan {
    /// For each field whether it is dropped.
    touched: Vec<bool>,
    /// Keys whose values are written where a dropped field held them.
    wanted: BTreeSet<String>,
    /// Keys that are written in any case: at the end if no dropped field held them.
    added: BTreeSet<String>,
}

impl Plan {
    fn of(layout: &Layout, edits: &Edits, adds: bool) -> Self {
        let holds_edited = |field: &&Field| field.keys().iter().any(|key| edits.touches(key));
        // All fields of a name go together: the values of a key keep their order, "number/total" among them.
        let names: BTreeSet<_> =
            layout.fields.iter().filter(holds_edited).map(|field| field.name.to_lowercase()).collect();
        let touched: Vec<_> = layout.fields.iter().map(|field| names.contains(&field.name.to_lowercase())).collect();
        let mut wanted = lost_keys(layout, &touched, edits);
        let mut added = BTreeSet::new();
        if adds {
            added.extend(edits.changed().filter(|key| !edits.effective().get(key).is_empty()).map(str::to_owned));
            wanted.extend(added.iter().cloned());
        }
        Self { touched, wanted, added }
    }
}

/// Keys without an edit whose values stood in a dropped field: the other side of a "number/total".
fn lost_keys(layout: &Layout, touched: &[bool], edits: &Edits) -> BTreeSet<String> {
    let best = |dropped: bool| {
        let mut best = BTreeMap::new();
        for (field, _) in layout.fields.iter().zip(touched).filter(|(_, touched)| **touched == dropped) {
            for (key, rank) in field.ranked_keys() {
                let entry = best.entry(key).or_insert(rank);
                *entry = rank.min(*entry);
            }
        }
        best
    };
    let (dropped, kept) = (best(true), best(false));
    let is_lost = |key: &str, rank: u8| !edits.touches(key) && kept.get(key).is_none_or(|other| rank < *other);
    dropped.into_iter().filter(|(key, rank)| is_lost(key, *rank)).map(|(key, _)| key).collect()
}

fn keep(pieces: &mut Vec<Piece>, offset: u32, len: u32) {
    match pieces.last_mut() {
        Some(Piece::Kept(start, before)) if *start + *before == offset => *before += len,
        _ => pieces.push(Piece::Kept(offset, len)),
    }
}

/// Appends a field for each value of a key; gives their number.
fn make(pieces: &mut Vec<Piece>, key: &str, old_name: &str, edits: &Edits) -> Result<u32, Refusal> {
    let values = edits.effective().get(key);
    if values.is_empty() {
        return Ok(0);
    }
    let mut name = field_name(key)?;
    if name.eq_ignore_ascii_case(old_name) {
        old_name.clone_into(&mut name);
    }
    let mut bytes = Vec::new();
    for value in values {
        let len = name.len() + 1 + value.len();
        let len = u32::try_from(len).map_err(|_| too_large(key, len as u64))?;
        bytes.extend(len.to_le_bytes());
        bytes.extend([name.as_bytes(), b"=", value.as_bytes()].concat());
    }
    match pieces.last_mut() {
        Some(Piece::Made(before)) => before.extend(bytes),
        _ => pieces.push(Piece::Made(bytes)),
    }
    Ok(values.len() as u32)
}

fn too_large(key: &str, bytes: u64) -> Refusal {
    Refusal::TooLarge { key: key.to_owned(), bytes, what: "a comment field", limit: u64::from(u32::MAX) }
}

/// Whether comments can hold a key.
pub fn can_hold(key: &str) -> bool {
    field_name(key).is_ok()
}

/// The name under which a key is written (Vorbis I specification, section 5.2.2: ASCII 0x20 to 0x7D without `=`).
fn field_name(key: &str) -> Result<String, Refusal> {
    let refuse = |reason: &str| Err(Refusal::Value { key: key.to_owned(), reason: reason.to_owned() });
    let name = match slots(key, Column::Vorbis).first() {
        Some(Slot::Whole(name) | Slot::Part(name, _)) => return Ok((*name).to_owned()),
        Some(Slot::Detail(..) | Slot::Date(_)) | None => free_name(Column::Vorbis, key),
    };
    let Some(name) = name else { return refuse("the key belongs to another kind of file") };
    if super::layout::is_picture_name(&name) {
        return refuse("pictures are not edited as text");
    }
    if name.is_empty() || !name.bytes().all(|byte| matches!(byte, 0x20..=0x7d) && byte != b'=') {
        return refuse("names of comment fields have only printable ASCII characters, and no =");
    }
    Ok(name)
}
