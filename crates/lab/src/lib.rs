//! A LAN on one Linux machine: namespaces, links with a rate, a real Samba.
