//! Telling albums of one name apart: `%aunique`.
//!
//! What a path says of one album depends on others, so that a first pass over all tracks fills a [`UniqueIndex`], which
//! the second pass asks. An album is here what has equal values in all identifiers and disambiguators.

use std::collections::HashMap;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::ast::Aunique;
use super::field::Field;
use super::value::{self, Form};
use super::{Fields, RenderOptions};
use crate::limits::TEMPLATE_UNIQUE_ALBUMS_MAX;

/// Which albums share a name, for the calls of `%aunique` of one template.
///
/// It holds hashes only: 8 bytes for each disambiguator of each album, and about 50 bytes for each name.
#[derive(Clone, Debug, Default)]
pub struct UniqueIndex {
    /// By call and identifiers: one hash for each disambiguator, album after album.
    albums: HashMap<(usize, u64), Vec<u64>>,
}

impl UniqueIndex {
    /// An index that knows no album: no two share a name.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the album of a track.
    pub(super) fn add(&mut self, call: &Aunique, fields: &dyn Fields, options: &RenderOptions) {
        let width = call.disambiguators.len();
        let album: Vec<u64> = call.disambiguators.iter().map(|field| hash_of(field, fields)).collect();
        let known = self.albums.entry((call.index, name_of(call, fields, options))).or_default();
        let is_known = known.chunks_exact(width).any(|other| other == album);
        if !is_known && known.len() < width * TEMPLATE_UNIQUE_ALBUMS_MAX {
            known.extend(album);
        }
    }

    /// Appends what tells the track's album from others of its name: the first disambiguator that differs between all
    /// of them, otherwise all those that differ between some.
    pub(super) fn write(&self, call: &Aunique, fields: &dyn Fields, options: &RenderOptions, out: &mut String) {
        let width = call.disambiguators.len();
        let Some(known) = self.albums.get(&(call.index, name_of(call, fields, options))) else { return };
        if known.len() <= width {
            return;
        }
        let distinct: Vec<usize> = (0..width).map(|at| distinct(known.iter().skip(at).step_by(width))).collect();
        let one = distinct.iter().position(|distinct| *distinct == known.len() / width);
        let tells = |at: usize| one.map_or(distinct[at] > 1, |one| at == one);
        let telling = call.disambiguators.iter().enumerate().filter(|(at, _)| tells(*at));
        let texts: Vec<String> = telling.filter_map(|(_, field)| text_of(field, fields)).collect();
        if !texts.is_empty() {
            let (open, close) = &call.brackets;
            out.extend([" ", open, &texts.join(", "), close]);
        }
    }
}

fn distinct<'a>(hashes: impl Iterator<Item = &'a u64>) -> usize {
    let mut hashes: Vec<u64> = hashes.copied().collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes.len()
}

fn text_of(field: &Field, fields: &dyn Fields) -> Option<String> {
    let mut text = String::new();
    value::write(field, fields, Form::default(), &mut text).then_some(text)
}

fn hash_of(field: &Field, fields: &dyn Fields) -> u64 {
    xxh3_64(text_of(field, fields).unwrap_or_default().as_bytes())
}

fn name_of(call: &Aunique, fields: &dyn Fields, options: &RenderOptions) -> u64 {
    let mut hash = Xxh3::new();
    for field in &call.identifiers {
        let fallback = || options.fallbacks.get(&field.name).cloned().unwrap_or_default();
        hash.update(text_of(field, fields).unwrap_or_else(fallback).as_bytes());
        hash.update(&[0]);
    }
    hash.digest()
}
