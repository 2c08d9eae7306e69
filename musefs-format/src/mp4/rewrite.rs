//! Items with other values: new ones for what the edits touch, ranges of the source for all others.

use std::collections::BTreeSet;

use super::boxes::{Kind, boxed};
use super::names::{Name, home, spare_home};
use super::structure::{Container, Form, Item, Part, Role};
use super::text;
use super::values::{Native, encode, encode_pair, side};
use crate::container::Refusal;
use crate::table::{self, total_of};
use crate::{ByteRange, Edits, Tags, numbers};

/// A part of the file to serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// As it is.
    Source(ByteRange),
    /// New bytes.
    Made(Vec<u8>),
    /// A free box: where it is in the source (no bytes: nowhere), and how long it becomes.
    Free(ByteRange, u64),
    /// A box of other boxes.
    Box(Box<Inner>),
}

/// A box of other boxes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inner {
    pub(super) kind: Kind,
    /// Whether its size has 64 bits in any case.
    pub(super) wide: bool,
    pub(super) nodes: Vec<Node>,
}

/// Where new items go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// The list of items at this offset.
    Items(u64),
    /// A new list in the `meta` box there.
    Meta(u64),
    /// A new `meta` box in the user data there.
    UserData(u64),
    /// New user data.
    Movie,
}

/// What becomes of the tags.
struct Plan<'a> {
    /// For all places that hold edited keys.
    edits: &'a Edits,
    /// For the list that gets new items.
    target: Target,
    target_edits: &'a Edits,
}

/// `moov` with the edits.
///
/// # Errors
/// A value or key that the items cannot hold.
pub(super) fn movie(moov: &Container, speaks: bool, edits: &Edits) -> Result<Node, Refusal> {
    check(moov, edits)?;
    let adds = edits.changed().any(|key| !edits.effective().get(key).is_empty());
    let spelt_out = (adds && !speaks).then(|| edits.spelt_out(|key| home(key).is_some()));
    let plan = Plan { edits, target: target(moov), target_edits: spelt_out.as_ref().unwrap_or(edits) };
    plan.container(moov)
}

fn check(moov: &Container, edits: &Edits) -> Result<(), Refusal> {
    for key in edits.changed() {
        let refuse = |reason: &str| Err(Refusal::Value { key: key.to_owned(), reason: reason.to_owned() });
        let values = edits.effective().get(key);
        if values.iter().any(|value| value.contains('\0')) {
            return refuse("many readers end a value at a NUL");
        }
        if !values.is_empty() && home(key).is_none() && !carries(moov, key) {
            return refuse("MP4 files have no place for it");
        }
    }
    Ok(())
}

fn carries(container: &Container, key: &str) -> bool {
    container.parts.iter().any(|part| match part {
        Part::Item(item) => item.keys.iter().any(|known| known == key),
        Part::Container(inner) => carries(inner, key),
        _ => false,
    })
}

fn inner(container: &Container, role: Role) -> impl Iterator<Item = &Container> {
    container.parts.iter().filter_map(move |part| match part {
        Part::Container(inner) if inner.role == role => Some(inner),
        _ => None,
    })
}

fn target(moov: &Container) -> Target {
    let metas = || inner(moov, Role::UserData).flat_map(|udta| inner(udta, Role::Meta));
    let items = metas().flat_map(|meta| inner(meta, Role::Items)).next().map(|items| Target::Items(items.offset));
    let meta = || metas().next().map(|meta| Target::Meta(meta.offset));
    let udta = || inner(moov, Role::UserData).next().map(|udta| Target::UserData(udta.offset));
    items.or_else(meta).or_else(udta).unwrap_or(Target::Movie)
}

impl Plan<'_> {
    fn container(&self, container: &Container) -> Result<Node, Refusal> {
        let preface =
            ByteRange { offset: container.offset + container.head() - container.preface, len: container.preface };
        let mut nodes = vec![Node::Source(preface)];
        nodes.extend(match container.role {
            Role::Items => self.items(container)?,
            _ => self.parts(container)?,
        });
        Ok(Node::Box(Box::new(Inner { kind: container.role.kind(), wide: container.wide, nodes })))
    }

    /// The parts of any container but iTunes' list, with what is new in it.
    fn parts(&self, container: &Container) -> Result<Vec<Node>, Refusal> {
        let mut new = self.new_box(container)?;
        let mut nodes = Vec::new();
        for (part, range) in ranged(container) {
            // Readers that look at one list only look at the first.
            let is_behind = match part {
                Part::Container(inner) => container.role == Role::UserData && inner.role == Role::OtherMeta,
                part => matches!(part, Part::Rest(_)),
            };
            if is_behind {
                nodes.extend(new.take());
            }
            match part {
                Part::Container(inner) => nodes.push(self.container(inner)?),
                Part::Item(item) if self.touches(item) => nodes.extend(self.replaced(container.role, item)),
                Part::Free(len) => nodes.push(Node::Free(range, *len)),
                _ => nodes.push(Node::Source(range)),
            }
        }
        nodes.extend(new);
        Ok(nodes)
    }

    /// The box for new items that `container` gets, if it is the one.
    fn new_box(&self, container: &Container) -> Result<Option<Node>, Refusal> {
        let at = container.offset;
        let is_target = match container.role {
            Role::Movie => self.target == Target::Movie,
            Role::UserData => self.target == Target::UserData(at),
            Role::Meta => self.target == Target::Meta(at),
            _ => false,
        };
        if !is_target {
            return Ok(None);
        }
        let items = Container { role: Role::Items, offset: 0, wide: false, preface: 0, parts: Vec::new() };
        let items = rewritten(&items, self.target_edits, true)?;
        if items.is_empty() {
            return Ok(None);
        }
        let wrap = |kind, nodes| Node::Box(Box::new(Inner { kind, wide: false, nodes }));
        let items = wrap(*b"ilst", items);
        let meta = |items| wrap(*b"meta", vec![Node::Made(vec![0; 4]), Node::Made(itunes_handler()), items]);
        Ok(Some(match container.role {
            Role::Meta => items,
            Role::UserData => meta(items),
            _ => wrap(*b"udta", vec![meta(items)]),
        }))
    }

    fn items(&self, list: &Container) -> Result<Vec<Node>, Refusal> {
        if self.target == Target::Items(list.offset) {
            return rewritten(list, self.target_edits, true);
        }
        rewritten(list, self.edits, false)
    }

    fn touches(&self, item: &Item) -> bool {
        item.keys.iter().any(|key| self.edits.touches(key))
    }

    /// An item outside of iTunes' list with its new values; nothing if there are none, or it cannot hold them.
    fn replaced(&self, role: Role, item: &Item) -> Option<Node> {
        let values = joined(&item.keys, self.edits.effective());
        if item.form != Form::Data {
            return text::write(item.kind, item.form, values.first()?).map(Node::Made);
        }
        let native = if role == Role::KeyedItems { Native::Text } else { Native::of(item.kind) };
        let data: Option<Vec<_>> = values.iter().map(|value| encode(native, value)).collect();
        let data = data.filter(|data| !data.is_empty())?;
        Some(Node::Made(boxed(item.kind, &data.concat())))
    }
}

/// The values of the keys of one item; of a number and its total those together.
fn joined(keys: &[String], tags: &Tags) -> Vec<String> {
    match keys {
        [number, total] if total_of(number) == Some(total) => numbers::join(tags.get(number), tags.get(total)),
        [key, ..] => tags.get(key).to_vec(),
        [] => Vec::new(),
    }
}

/// What tells that the items are iTunes': a `hdlr` box of the type `mdir` (section 8.4.3).
fn itunes_handler() -> Vec<u8> {
    boxed(*b"hdlr", &[&[0; 8][..], b"mdirappl", &[0; 9]].concat())
}

/// Parts with where they are in the source.
fn ranged(container: &Container) -> impl Iterator<Item = (&Part, ByteRange)> {
    let mut offset = container.offset + container.head();
    container.parts.iter().map(move |part| {
        let range = ByteRange { offset, len: part.len().unwrap_or(0) };
        offset = range.end();
        (part, range)
    })
}

/// A new item.
struct Home {
    name: Name,
    /// The part in front of which it stands.
    before: usize,
    /// Keys whose values it gets, in order: a number before its total.
    keys: Vec<String>,
}

/// The parts of a list of items with the edits; with `adds`, edited keys that it did not have are added.
fn rewritten(list: &Container, edits: &Edits, adds: bool) -> Result<Vec<Node>, Refusal> {
    let mut keys: BTreeSet<String> =
        edits.changed().filter(|key| adds || carries(list, key)).map(str::to_owned).collect();
    close(list, &mut keys);
    let homes = homes(list, &keys, edits.effective())?;
    let mut nodes = Vec::new();
    for (at, (part, range)) in ranged(list).enumerate() {
        nodes.extend(new_items(&homes, at, edits.effective()));
        match part {
            Part::Item(item) if item.keys.iter().any(|key| keys.contains(key)) => {}
            Part::Free(len) => nodes.push(Node::Free(range, *len)),
            _ => nodes.push(Node::Source(range)),
        }
    }
    nodes.extend(new_items(&homes, list.parts.len(), edits.effective()));
    Ok(nodes)
}

/// A touched item is written anew whole, so that all its keys are, and then all items that carry one of those.
fn close(list: &Container, keys: &mut BTreeSet<String>) {
    loop {
        let names: Vec<_> = keys.iter().filter_map(|key| home(key)).map(|(name, _)| name).collect();
        let is_home = |item: &Item| names.iter().any(|name| name.is(&Name::of(item)));
        let touched =
            items_of(list).filter(|(_, item)| is_home(item) || item.keys.iter().any(|key| keys.contains(key)));
        let more: Vec<_> =
            touched.flat_map(|(_, item)| &item.keys).filter(|key| !keys.contains(*key)).cloned().collect();
        if more.is_empty() {
            return;
        }
        keys.extend(more);
    }
}

fn items_of(list: &Container) -> impl Iterator<Item = (usize, &Item)> {
    list.parts.iter().enumerate().filter_map(|(at, part)| match part {
        Part::Item(item) => Some((at, item)),
        _ => None,
    })
}

/// The new items, each in the place of the first that carried one of its keys, and under the name that it had.
fn homes(list: &Container, keys: &BTreeSet<String>, tags: &Tags) -> Result<Vec<Home>, Refusal> {
    let end = list.parts.iter().position(|part| matches!(part, Part::Rest(_))).unwrap_or(list.parts.len());
    let mut homes: Vec<Home> = Vec::new();
    for key in keys.iter().filter(|key| !tags.get(key).is_empty()) {
        let Some(name) = name_for(list, key, tags.get(key))? else { continue };
        if let Some(known) = homes.iter_mut().find(|home| home.name.is(&name)) {
            known.keys.push(key.clone());
            continue;
        }
        let before = items_of(list).find(|(_, item)| item.keys.contains(key)).map_or(end, |(at, _)| at);
        let spelt = items_of(list).map(|(_, item)| Name::of(item)).find(|known| known.is(&name));
        homes.push(Home { name: spelt.unwrap_or(name), before, keys: vec![key.clone()] });
    }
    for home in &mut homes {
        home.keys.sort_by_key(|key| total_of(key).is_none());
    }
    Ok(homes)
}

/// The name of the item that takes the values; `None` if the key has no place of its own (and was not asked for by a user).
fn name_for(list: &Container, key: &str, values: &[String]) -> Result<Option<Name>, Refusal> {
    let own = items_of(list).map(|(_, item)| item).find(|item| item.keys == [key]);
    // Such an item's kind has letters that its key, in lower case, does not tell.
    let is_known = table::keys().contains(&key);
    let (name, part) = match (own, home(key)) {
        (Some(item), _) if !is_known => (Name::of(item), None),
        (_, Some(home)) => home,
        (_, None) => return Ok(None),
    };
    let native = match name {
        Name::Kind(kind) => Native::of(kind),
        Name::Free(..) => Native::Text,
    };
    let fits = |value: &String| if part.is_some() { side(value).is_some() } else { encode(native, value).is_some() };
    if values.iter().all(fits) {
        return Ok(Some(name));
    }
    let no_number = || Refusal::Value { key: key.to_owned(), reason: "MP4 files keep it as a number".to_owned() };
    spare_home(key).map(Some).ok_or_else(no_number)
}

fn new_items<'a>(homes: &'a [Home], at: usize, tags: &'a Tags) -> impl Iterator<Item = Node> + 'a {
    homes.iter().filter(move |home| home.before == at).map(|home| Node::Made(home.encode(tags)))
}

impl Home {
    fn encode(&self, tags: &Tags) -> Vec<u8> {
        let texts = |native| {
            let values = self.keys.iter().flat_map(|key| tags.get(key));
            values.filter_map(|value| encode(native, value)).flatten().collect::<Vec<u8>>()
        };
        match &self.name {
            Name::Kind(kind) => match Native::of(*kind) {
                Native::Pair(bytes) => boxed(*kind, &self.pairs(bytes, tags)),
                native => boxed(*kind, &texts(native)),
            },
            Name::Free(mean, name) => {
                let named = |kind, text: &str| boxed(kind, &[&[0; 4], text.as_bytes()].concat());
                boxed(*b"----", &[named(*b"mean", mean), named(*b"name", name), texts(Native::Text)].concat())
            }
        }
    }

    fn pairs(&self, bytes: u8, tags: &Tags) -> Vec<u8> {
        let of = |is_number: bool| {
            let key = self.keys.iter().find(|key| total_of(key).is_some() == is_number);
            key.map_or(&[][..], |key| tags.get(key))
        };
        let (numbers, totals) = (of(true), of(false));
        let side_at = |values: &[String], at: usize| values.get(at).and_then(|value| side(value)).unwrap_or(0);
        let pair = |at| encode_pair(bytes, side_at(numbers, at), side_at(totals, at));
        (0..numbers.len().max(totals.len())).flat_map(pair).collect()
    }
}
