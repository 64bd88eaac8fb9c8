//! Labs as a user has them. Needs root, namespaces and Samba.
