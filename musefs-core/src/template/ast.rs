//! A template as a tree.

use super::field::Field;

/// One piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// Text as it stands; `/` in it makes levels.
    Text(Box<str>),
    /// `$field`, `${a|b|"text"}`, `$!{field}`.
    Value(Value),
    /// `[ … ]`.
    Group(Vec<Node>),
    /// `%function{…}`.
    Call(Call),
}

/// The first of some fields that has a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value {
    /// In the order in which they are asked; at least one.
    pub(super) fields: Vec<Field>,
    /// Stands in when none has a value.
    pub(super) text: Option<Box<str>>,
    /// `/` in the value makes levels.
    pub(super) levels: bool,
}

/// A function with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Call {
    If { condition: Vec<Node>, then: Vec<Node>, otherwise: Vec<Node> },
    IfDef { field: Field, then: Option<Vec<Node>>, otherwise: Vec<Node> },
    Change { text: Vec<Node>, change: Change },
    Aunique(Aunique),
}

/// What is done to a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Left(usize),
    Right(usize),
    Upper,
    Lower,
    Capitalize,
    Title,
    First { count: usize, skip: usize, separator: Box<str>, join: Box<str> },
    Pad { width: usize, fill: char },
    Year,
    The,
    Replace { from: Box<str>, to: Box<str> },
}

/// `%aunique{identifiers,disambiguators,brackets}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Aunique {
    /// Which of the template's calls this is.
    pub(super) index: usize,
    /// Fields that say which albums have one name.
    pub(super) identifiers: Vec<Field>,
    /// Fields that tell such albums apart, best first.
    pub(super) disambiguators: Vec<Field>,
    /// Put around what tells them apart.
    pub(super) brackets: (Box<str>, Box<str>),
}

/// Calls `visit` for each node, outer ones first.
pub(super) fn walk<'a>(nodes: &'a [Node], visit: &mut dyn FnMut(&'a Node)) {
    for node in nodes {
        visit(node);
        match node {
            Node::Text(_) | Node::Value(_) | Node::Call(Call::Aunique(_)) => {}
            Node::Group(nodes) | Node::Call(Call::Change { text: nodes, .. }) => walk(nodes, visit),
            Node::Call(Call::If { condition, then, otherwise }) => {
                for nodes in [condition, then, otherwise] {
                    walk(nodes, visit);
                }
            }
            Node::Call(Call::IfDef { then, otherwise, .. }) => {
                walk(then.as_deref().unwrap_or_default(), visit);
                walk(otherwise, visit);
            }
        }
    }
}

/// The fields that a node names itself, without those inside it.
pub(super) fn fields(node: &Node) -> impl Iterator<Item = &Field> {
    let (some, more): (&[Field], &[Field]) = match node {
        Node::Value(value) => (&value.fields, &[]),
        Node::Call(Call::IfDef { field, .. }) => (std::slice::from_ref(field), &[]),
        Node::Call(Call::Aunique(call)) => (&call.identifiers, &call.disambiguators),
        _ => (&[], &[]),
    };
    some.iter().chain(more)
}
