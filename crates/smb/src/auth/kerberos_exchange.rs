//! Kerberos with a password inside SPNEGO: `sspi` makes the tokens, and asks the KDC through us.

use smb_proto::SessionKey;
use sspi::generator::{GeneratorState, NetworkRequest};
use sspi::{
    AuthIdentity, BufferType, ClientRequestFlags, CredentialUse, Credentials, CredentialsBuffers,
    DataRepresentation, KdcResolution, KerberosConfig, Negotiate, NegotiateConfig, SecurityBuffer,
    SecurityStatus, Sspi, SspiImpl, Username,
};
use zeroize::Zeroizing;

use super::error::{AuthError, HASH_MARK};
use crate::kdc_client::{self, KdcRefusal, Kdcs, NoAnswer};

/// How a length begins that is nearly the largest number there is. The parser of `sspi` adds to it, which
/// overflows, wherever in a token it stands and in whatever that is wrapped. No token is so long.
pub(super) const LENGTH_THAT_OVERFLOWS: [u8; 8] = [0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF];

pub(crate) struct KerberosExchange {
    context: Negotiate,
    credentials: Option<CredentialsBuffers>,
    /// The ticket that is wanted.
    service: Service,
    /// Our first token, until it is sent.
    first: Option<Vec<u8>>,
    finished: bool,
}

/// A service that a ticket is asked for.
struct Service {
    realm: String,
    /// Its principal, as `cifs/server`.
    name: String,
}

impl KerberosExchange {
    pub(super) fn new(
        (realm, kdcs): (String, Kdcs),
        user: &str,
        domain: &str,
        password: &Zeroizing<String>,
        server: &str,
    ) -> Result<Self, AuthError> {
        if password.starts_with(HASH_MARK) {
            return Err(AuthError::Password);
        }
        let mut context = kerberos(&kdcs)?;
        let name = format!("cifs/{}", server.trim_end_matches('.'));
        let service = Service { realm, name };
        // The domain may be the short name of the realm; a suffix is part of the name.
        let domain = match user.contains('@') {
            true => domain,
            false => &service.realm,
        };
        let domain = Some(domain).filter(|domain| !domain.is_empty());
        // The only reason for an error is the one that the variant names.
        let Ok(username) = Username::new(user, domain) else {
            return Err(AuthError::UserName {
                user: user.to_owned(),
            });
        };
        // From here on `sspi` keeps the password in a type of its own that wipes it.
        let password = String::clone(password).into();
        let identity = Credentials::AuthIdentity(AuthIdentity { username, password });
        let credentials = context
            .acquire_credentials_handle()
            .with_credential_use(CredentialUse::Outbound)
            .with_auth_data(&identity)
            .execute(&mut context)
            .map_err(AuthError::Token)?
            .credentials_handle;
        let mut exchange = Self {
            context,
            credentials,
            service,
            first: None,
            finished: false,
        };
        exchange.first = Some(exchange.step(&[], Some(kdcs))?);
        Ok(exchange)
    }

    pub(super) fn answer(&mut self, server_token: &[u8]) -> Result<Vec<u8>, AuthError> {
        match self.first.take() {
            Some(token) => Ok(token),
            // Servers end with an empty token, or with one that says nothing new.
            None if self.finished => Ok(Vec::new()),
            None => self.step(server_token, None),
        }
    }

    /// Takes a token of the server and gives our next one. Only the first step may ask a KDC.
    fn step(&mut self, server_token: &[u8], kdcs: Option<Kdcs>) -> Result<Vec<u8>, AuthError> {
        check_lengths(server_token).map_err(AuthError::Token)?;
        let mut input = [SecurityBuffer::new(
            server_token.to_vec(),
            BufferType::Token,
        )];
        let mut output = [SecurityBuffer::new(Vec::new(), BufferType::Token)];
        // The server proves that it has the key of the service, and gives one of its own.
        let wanted = ClientRequestFlags::CONFIDENTIALITY
            | ClientRequestFlags::INTEGRITY
            | ClientRequestFlags::MUTUAL_AUTH;
        let mut builder = self
            .context
            .initialize_security_context()
            .with_credentials_handle(&mut self.credentials)
            .with_context_requirements(wanted)
            .with_target_data_representation(DataRepresentation::Native)
            .with_input(&mut input)
            .with_output(&mut output)
            .with_target_name(&self.service.name);
        let mut asking = Asking {
            service: &self.service,
            kdcs,
            refusal: None,
        };
        let mut generator = self
            .context
            .initialize_security_context_impl(&mut builder)
            .map_err(AuthError::Token)?;
        let mut state = generator.start();
        let result = loop {
            match state {
                GeneratorState::Completed(result) => break result,
                GeneratorState::Suspended(request) => {
                    state = generator.resume(Ok(asking.ask(&request)?));
                }
            }
        };
        drop(generator);
        let result = result.map_err(|source| asking.sort(source))?;
        self.finished = result.status == SecurityStatus::Ok;
        let [token] = output;
        Ok(token.buffer)
    }

    pub(super) fn session_key(&self) -> Option<SessionKey> {
        // The key of the ticket is known before the server has proven itself.
        if !self.finished {
            return None;
        }
        let keys = self.context.query_context_session_key().ok()?;
        let key: &Vec<u8> = keys.session_key.as_ref();
        Some(SessionKey::new(key.clone()))
    }
}

/// Kerberos in SPNEGO, and only Kerberos: so `sspi` cannot fall back to NTLM.
fn kerberos(kdcs: &Kdcs) -> Result<Negotiate, AuthError> {
    let config = KerberosConfig::new_with_kdc_url(kdcs.name(), String::new());
    if !matches!(config.kdc_resolution, KdcResolution::KdcUrl(Some(_))) {
        return Err(AuthError::KdcName {
            kdc: kdcs.name().to_owned(),
        });
    }
    let packages = Some("kerberos".to_owned());
    let config = NegotiateConfig::new(Box::new(config), packages, String::new());
    Negotiate::new_client(config).map_err(AuthError::Token)
}

/// Refuses what the parser of `sspi` would panic at.
fn check_lengths(token: &[u8]) -> Result<(), sspi::Error> {
    let mut places = token.windows(LENGTH_THAT_OVERFLOWS.len());
    if places.any(|place| place == LENGTH_THAT_OVERFLOWS) {
        let kind = sspi::ErrorKind::InvalidToken;
        return Err(sspi::Error::new(kind, "it holds a length that nothing has"));
    }
    Ok(())
}

/// The KDCs that one step may ask, and what they said.
struct Asking<'a> {
    service: &'a Service,
    kdcs: Option<Kdcs>,
    refusal: Option<KdcRefusal>,
}

impl Asking<'_> {
    fn ask(&mut self, request: &NetworkRequest) -> Result<Vec<u8>, AuthError> {
        let service = self.service;
        let Some(kdcs) = &mut self.kdcs else {
            return Err(AuthError::OutOfOrder);
        };
        let host = request.url.host_str().unwrap_or_default();
        let reply = kdcs.ask(host, request.url.port(), &request.data);
        let reply = reply.map_err(|NoAnswer { kdc, source }| AuthError::KdcUnreachable {
            realm: service.realm.clone(),
            kdc,
            source,
        })?;
        check_lengths(&reply).map_err(|source| AuthError::KdcReply {
            realm: service.realm.clone(),
            source,
        })?;
        self.refusal = kdc_client::refusal(&reply);
        Ok(reply)
    }

    /// Says whose fault the end of a step was.
    fn sort(self, source: sspi::Error) -> AuthError {
        let realm = self.service.realm.clone();
        match (self.kdcs, self.refusal) {
            (_, Some(refusal)) => AuthError::KdcRefused {
                realm,
                service: self.service.name.clone(),
                refusal,
            },
            (Some(_), None) => AuthError::KdcReply { realm, source },
            (None, None) => AuthError::Token(source),
        }
    }
}
