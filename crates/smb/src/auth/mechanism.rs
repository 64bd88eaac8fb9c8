//! Kerberos or NTLM: what a user asks for, and what that comes to on this machine.

use std::net::IpAddr;

use super::{AuthError, Login};
use crate::kdc_client::{Configuration, Kdcs, domain_of};

/// How a password is proven to the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mechanism {
    /// Kerberos where `krb5.conf` of this machine names a KDC for the user's domain and the server
    /// is called by name; NTLMv2 otherwise. Nothing on the network has a say in that: a KDC that
    /// does not answer is an error and never a reason for NTLM.
    #[default]
    Automatic,
    /// Kerberos, and nothing else. The user's realm is the domain, what is behind the `@`, or the
    /// default of `krb5.conf`.
    Kerberos {
        /// The KDC as `host` or `host:port`. Without it, `krb5.conf` names it; without that, it is
        /// the host that has the realm's name, as each domain controller has.
        kdc: Option<String>,
    },
    /// NTLMv2, and nothing else.
    Ntlm,
}

/// Why a user of a domain is proven by NTLM, and not by a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoKerberos {
    /// The server is called by its address, for which no KDC has a ticket.
    Address,
    /// `krb5.conf` of this machine knows no KDC of the user's domain.
    UnknownRealm,
}

impl NoKerberos {
    /// None where no ticket is to be expected: another mechanism was asked for, or a ticket is used, or what is
    /// typed as the domain may be a workgroup.
    fn of(login: &Login, server: &str, configuration: &Configuration) -> Option<Self> {
        let Login::User {
            user,
            domain,
            mechanism: Mechanism::Automatic,
            ..
        } = login
        else {
            return None;
        };
        let domain = domain_of(user, domain);
        match configuration.realm(domain) {
            Some(_) => server.parse::<IpAddr>().is_ok().then_some(Self::Address),
            // The name of a domain in DNS has a dot, that of a workgroup has none.
            None => domain.contains('.').then_some(Self::UnknownRealm),
        }
    }

    /// The same on this machine.
    pub(crate) fn here(login: &Login, server: &str) -> Option<Self> {
        Self::of(login, server, &Configuration::of_this_machine())
    }
}

/// How to prove a user: what [`Mechanism`] comes to on this machine.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChosenMechanism {
    Kerberos { realm: String, kdcs: Kdcs },
    Ntlm,
}

impl ChosenMechanism {
    pub(super) fn find(
        mechanism: &Mechanism,
        user: &str,
        domain: &str,
        server: &str,
        configuration: &Configuration,
    ) -> Result<Self, AuthError> {
        let given = domain_of(user, domain);
        let known = || configuration.realm(given);
        let kerberos = |realm: &str, kdcs: &[String]| Self::Kerberos {
            realm: realm.to_ascii_uppercase(),
            kdcs: Kdcs::new(kdcs.to_vec()),
        };
        match mechanism {
            Mechanism::Ntlm => Ok(Self::Ntlm),
            Mechanism::Automatic if server.parse::<IpAddr>().is_ok() => Ok(Self::Ntlm),
            Mechanism::Automatic => {
                Ok(known().map_or(Self::Ntlm, |(realm, kdcs)| kerberos(realm, kdcs)))
            }
            Mechanism::Kerberos { kdc } => {
                let default = configuration.default_realm();
                let given = Some(given).filter(|given| !given.is_empty()).or(default);
                let given = given.ok_or_else(|| AuthError::NoRealm {
                    user: user.to_owned(),
                })?;
                let known = configuration.realm(given);
                let realm = known.map_or(given, |(realm, _)| realm);
                Ok(match (kdc, known) {
                    (Some(kdc), _) => kerberos(realm, std::slice::from_ref(kdc)),
                    (None, Some((_, kdcs))) => kerberos(realm, kdcs),
                    (None, None) => kerberos(realm, &[realm.to_ascii_lowercase()]),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::*;

    /// What is chosen; for Kerberos the realm, and the KDC that is asked first.
    fn chosen(
        mechanism: &Mechanism,
        user: &str,
        domain: &str,
        server: &str,
        configuration: &Configuration,
    ) -> Result<String, AuthError> {
        let chosen = ChosenMechanism::find(mechanism, user, domain, server, configuration)?;
        Ok(match chosen {
            ChosenMechanism::Ntlm => "NTLM".to_owned(),
            ChosenMechanism::Kerberos { realm, kdcs } => format!("{realm} {}", kdcs.name()),
        })
    }

    fn kerberos(kdc: Option<&str>) -> Mechanism {
        Mechanism::Kerberos {
            kdc: kdc.map(str::to_owned),
        }
    }

    #[test]
    fn a_user_of_a_domain_without_a_ticket_has_a_reason() {
        let mut configuration = Configuration::default();
        configuration.add("[realms]\nLAB.EXAMPLE = {\nkdc = dc.lab.example\n}\n");
        let of = |user: &str, domain: &str, mechanism: Mechanism, server: &str| {
            let login = Login::User {
                user: user.to_owned(),
                domain: domain.to_owned(),
                password: Zeroizing::default(),
                mechanism,
            };
            NoKerberos::of(&login, server, &configuration)
        };
        let automatic = |user, domain, server| of(user, domain, Mechanism::Automatic, server);
        let (address, unknown) = (Some(NoKerberos::Address), Some(NoKerberos::UnknownRealm));
        assert_eq!(automatic("ann", "LAB", "10.1.1.1"), address);
        assert_eq!(automatic("ann@lab.example", "", "fe80::1"), address);
        assert_eq!(automatic("ann", "LAB", "nas"), None, "there is one");
        assert_eq!(automatic("ann@b.example", "", "nas"), unknown);
        assert_eq!(automatic("ann", "WORKGROUP", "10.1.1.1"), None);
        assert_eq!(automatic("ann", "", "10.1.1.1"), None);
        assert_eq!(
            of("ann", "LAB", Mechanism::Ntlm, "10.1.1.1"),
            None,
            "asked for"
        );
    }

    #[test]
    fn the_way_is_decided_by_what_was_typed_and_by_this_machine() {
        let mut configuration = Configuration::default();
        // A machine that knows no realm.
        let known = &configuration;
        let of = |mechanism: &Mechanism, user, domain| {
            chosen(mechanism, user, domain, "nas", known).map_err(|error| error.to_string())
        };
        assert_eq!(
            of(&Mechanism::Automatic, "ann@a.example", ""),
            Ok("NTLM".to_owned())
        );
        assert_eq!(
            of(&kerberos(None), "ann", "a.example"),
            Ok("A.EXAMPLE a.example:88".to_owned())
        );
        assert_eq!(
            of(&kerberos(Some("kdc:1")), "ann@a.example", ""),
            Ok("A.EXAMPLE kdc:1".to_owned())
        );
        assert_eq!(
            of(&kerberos(None), "ann", ""),
            Err("no Kerberos realm is known for `ann`".to_owned())
        );
        // One that does.
        configuration.add(
            "[libdefaults]\ndefault_realm = LAB.EXAMPLE\n\
             [realms]\nLAB.EXAMPLE = {\nkdc = dc.lab.example\n}\n",
        );
        let known = &configuration;
        let of = |mechanism: &Mechanism, user, domain, server| {
            chosen(mechanism, user, domain, server, known).expect("a mechanism")
        };
        let lab = "LAB.EXAMPLE dc.lab.example:88";
        assert_eq!(of(&Mechanism::Automatic, "ann@lab.example", "", "nas"), lab);
        assert_eq!(of(&Mechanism::Automatic, "ann", "LAB", "nas"), lab);
        for (user, domain, server) in [
            ("ann", "", "nas"),
            ("ann", "WORKGROUP", "nas"),
            ("ann", "LAB", "10.0.0.1"),
            ("ann", "LAB", "fd00::1"),
        ] {
            assert_eq!(of(&Mechanism::Automatic, user, domain, server), "NTLM");
        }
        assert_eq!(of(&kerberos(None), "ann", "", "10.0.0.1"), lab);
        assert_eq!(
            of(&kerberos(None), "ann", "other.example", "nas"),
            "OTHER.EXAMPLE other.example:88"
        );
        assert_eq!(
            of(&kerberos(Some("kdc")), "ann", "LAB", "nas"),
            "LAB.EXAMPLE kdc:88"
        );
        assert_eq!(of(&Mechanism::Ntlm, "ann", "LAB", "nas"), "NTLM");
    }
}
