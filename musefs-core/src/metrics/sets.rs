//! The closed sets of label values.

use crate::{Error, Kind};

/// Makes an enum whose variants are the values of a label.
macro_rules! closed_set {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// All values, in the order of the variants.
            pub const NAMES: &'static [&'static str] = &[$($text),+];
        }
    };
}

closed_set! {
    /// What a client asked.
    Op {
        /// A name in a directory.
        Lookup = "lookup",
        /// Attributes of a node.
        Attributes = "attributes",
        /// A directory's children, with attributes or without.
        List = "list",
        /// Opening of a file or directory.
        Open = "open",
        /// Bytes of a file.
        Read = "read",
        /// Totals of the file system.
        Statfs = "statfs",
        /// Extended attributes.
        Xattr = "xattr",
        /// Anything that would write.
        Write = "write",
        /// Anything else that is answered.
        Other = "other",
    }
}

closed_set! {
    /// How a request ended.
    Outcome {
        /// As asked.
        Ok = "ok",
        /// There is no such name or node, or no such extended attribute.
        Absent = "absent",
        /// The node was replaced, or its source changed.
        Stale = "stale",
        /// The disk or the catalogue failed, or the request panicked.
        Failed = "failed",
        /// The disk did not answer in time.
        Late = "late",
        /// Not possible here: writes, or a file taken for a directory.
        Refused = "refused",
    }
}

impl Outcome {
    /// How a request that is answered with this error ended.
    pub fn of(error: &Error) -> Self {
        match error.kind() {
            _ if matches!(error, Error::Deadline) => Self::Late,
            Kind::NotFound => Self::Absent,
            Kind::NotADirectory | Kind::IsADirectory => Self::Refused,
            Kind::Stale => Self::Stale,
            Kind::Io => Self::Failed,
        }
    }
}

closed_set! {
    /// Where bytes given to clients came from.
    From {
        /// A source.
        Source = "source",
        /// Memory: what a splice made, and generated files.
        Memory = "memory",
    }
}

closed_set! {
    /// What following the catalogue came to.
    Refresh {
        /// The tree shows the changes.
        Changed = "changed",
        /// The changes did not concern the tree.
        Unchanged = "unchanged",
        /// The catalogue could not be read; it is tried again.
        Failed = "failed",
    }
}

closed_set! {
    /// What a warning is about: each class has its own limit.
    Warning {
        /// A source that cannot be read or changed.
        Source = "source",
        /// A request that failed for another reason.
        Request = "request",
        /// The catalogue.
        Catalog = "catalog",
        /// Telling the kernel of changes.
        Push = "push",
    }
}
