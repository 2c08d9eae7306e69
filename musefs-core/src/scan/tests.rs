//! Scans of made trees.
