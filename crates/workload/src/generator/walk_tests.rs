//! Tests of walks.
