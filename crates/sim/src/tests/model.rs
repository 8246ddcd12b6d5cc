//! Identities that any correct model obeys.
