//! The GSS-API of MIT Kerberos (RFC 2744), as far as a login with a ticket needs it. The library is loaded when it is
//! first needed: so linerate runs on systems without it, and reads every kind of cache that it reads.
//!
//! What is called here is declared in `gssapi/gssapi.h`, `gssapi/gssapi_ext.h` and `krb5/krb5.h` of MIT
//! Kerberos, whose binary interface has the number in [`LIBRARY`].

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem;
use std::ptr;
use std::slice;
use std::sync::OnceLock;

use locale::{Message, say};
use os::shared_library::{NotLoaded, SharedLibrary};

use super::credential_cache::Opened;
use crate::copy::name::printable;
use crate::spnego::KERBEROS;

/// The library; its number says which binary interface it has.
pub(super) const LIBRARY: &CStr = c"libgssapi_krb5.so.2";

/// `GSS_KRB5_NT_PRINCIPAL_NAME` (RFC 1964, section 2.1.1).
const PRINCIPAL_NAME: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x12, 0x01, 0x02, 0x02, 0x01];
/// `GSS_C_INQ_SSPI_SESSION_KEY`: what MS-SMB2 3.2.5.3 takes for the session's key.
const SESSION_KEY: &[u8] = &[
    0x2A, 0x86, 0x48, 0x86, 0xF7, 0x12, 0x01, 0x02, 0x02, 0x05, 0x05,
];
/// `GSS_C_INITIATE`.
const INITIATE: c_int = 1;
/// `GSS_C_MUTUAL_FLAG`, and with it `GSS_C_REPLAY_FLAG`, `GSS_C_SEQUENCE_FLAG` and `GSS_C_INTEG_FLAG`.
const MUTUAL: u32 = 2;
const WANTED: u32 = MUTUAL | 4 | 8 | 32;
/// `GSS_C_INDEFINITE`.
const INDEFINITE: u32 = u32::MAX;
/// Calling and routine errors of a status; the rest is no error (RFC 2744, section 3.9.1).
const ERRORS: u32 = 0xFFFF_0000;
/// `GSS_S_CONTINUE_NEEDED`.
const CONTINUE_NEEDED: u32 = 1;
/// `GSS_C_GSS_CODE` and `GSS_C_MECH_CODE`: which status is to be put into words.
const GENERAL: c_int = 1;
const OF_MECHANISM: c_int = 2;
/// Lines of one status that are read.
const LINES_MAX: usize = 4;

/// An object of the library.
type Handle = *mut c_void;

/// `gss_buffer_desc`.
#[repr(C)]
struct Buffer {
    length: usize,
    value: *mut c_void,
}

impl Buffer {
    const fn empty() -> Self {
        Self {
            length: 0,
            value: ptr::null_mut(),
        }
    }

    /// Bytes that the library only reads.
    const fn of(bytes: &[u8]) -> Self {
        Self {
            length: bytes.len(),
            value: bytes.as_ptr().cast_mut().cast(),
        }
    }

    /// A copy of what it holds.
    fn bytes(&self) -> Vec<u8> {
        if self.value.is_null() {
            return Vec::new();
        }
        // SAFETY: a buffer that the library filled has this many bytes (RFC 2744, section 3.2), and it is
        // released by its owner only after this.
        unsafe { slice::from_raw_parts(self.value.cast::<u8>(), self.length) }.to_vec()
    }
}

/// `gss_OID_desc`.
#[repr(C)]
struct Oid {
    length: u32,
    elements: *const c_void,
}

impl Oid {
    fn of(bytes: &'static [u8]) -> Self {
        Self {
            // The longest has eleven bytes.
            length: u32::try_from(bytes.len()).unwrap_or_default(),
            elements: bytes.as_ptr().cast(),
        }
    }
}

/// `gss_OID_set_desc` and `gss_buffer_set_desc`.
#[repr(C)]
struct Set<T> {
    count: usize,
    elements: *const T,
}

/// `gss_key_value_element_desc`.
#[repr(C)]
struct KeyValue {
    key: *const c_char,
    value: *const c_char,
}

/// `gss_key_value_set_desc`.
#[repr(C)]
struct KeyValues {
    count: u32,
    elements: *const KeyValue,
}

type Release = unsafe extern "C" fn(*mut u32, *mut Handle) -> u32;

/// The functions, as the headers declare them.
pub(super) struct Library {
    import_name: unsafe extern "C" fn(*mut u32, *const Buffer, *const Oid, *mut Handle) -> u32,
    display_name: unsafe extern "C" fn(*mut u32, Handle, *mut Buffer, *mut *const Oid) -> u32,
    release_name: Release,
    acquire_cred_from: unsafe extern "C" fn(
        *mut u32,
        Handle,
        u32,
        *const Set<Oid>,
        c_int,
        *const KeyValues,
        *mut Handle,
        *mut *mut Set<Oid>,
        *mut u32,
    ) -> u32,
    inquire_cred: unsafe extern "C" fn(
        *mut u32,
        Handle,
        *mut Handle,
        *mut u32,
        *mut c_int,
        *mut *mut Set<Oid>,
    ) -> u32,
    release_cred: Release,
    init_sec_context: unsafe extern "C" fn(
        *mut u32,
        Handle,
        *mut Handle,
        Handle,
        *const Oid,
        u32,
        u32,
        *const c_void,
        *const Buffer,
        *mut *const Oid,
        *mut Buffer,
        *mut u32,
        *mut u32,
    ) -> u32,
    delete_sec_context: unsafe extern "C" fn(*mut u32, *mut Handle, *mut Buffer) -> u32,
    inquire_context:
        unsafe extern "C" fn(*mut u32, Handle, *const Oid, *mut *mut Set<Buffer>) -> u32,
    release_buffer: unsafe extern "C" fn(*mut u32, *mut Buffer) -> u32,
    release_buffer_set: unsafe extern "C" fn(*mut u32, *mut *mut Set<Buffer>) -> u32,
    display_status:
        unsafe extern "C" fn(*mut u32, u32, c_int, *const Oid, *mut u32, *mut Buffer) -> u32,
    init_context: unsafe extern "C" fn(*mut Handle) -> i32,
    free_context: unsafe extern "C" fn(Handle),
    default_cache: unsafe extern "C" fn(Handle) -> *const c_char,
}

/// What the library refused.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Calling error and routine error of the status (RFC 2744, section 3.9.1).
    pub(super) major: u32,
    /// The error of Kerberos (`krb5_err.et` of MIT Kerberos).
    pub(super) minor: i32,
    /// Both in the library's words, of which some may be the KDC's.
    pub(super) text: String,
}

impl Failure {
    /// The library has no error, and the server has not proven its identity.
    const UNPROVEN: Self = Self {
        major: 0,
        minor: 0,
        text: String::new(),
    };

    /// What the library says, of which so much is shown, or that it is [`Self::UNPROVEN`].
    pub(crate) fn message(&self, letters_max: usize) -> Message {
        if self.major == 0 {
            return say("error-auth.ticket-unproven");
        }
        let text = printable(&self.text);
        text.chars().take(letters_max).collect::<String>().into()
    }
}

/// The library, which is loaded once and stays.
///
/// # Errors
/// What the system says where it has none.
pub(super) fn library() -> Result<&'static Library, &'static Message> {
    static LOADED: OnceLock<Result<Library, Message>> = OnceLock::new();
    LOADED.get_or_init(Library::load).as_ref()
}

fn open() -> Result<SharedLibrary, Message> {
    SharedLibrary::load(LIBRARY).map_err(|why| match why {
        NotLoaded::Said(said) => Message::from(said),
        NotLoaded::Unsaid => say("error-auth.library-untold"),
        NotLoaded::NoneKnown => say("error-auth.library-none-here"),
    })
}

/// A function of the library.
///
/// # Safety
/// `F` must be a pointer to a function with the interface that the function of this name has.
unsafe fn function<F: Copy>(library: SharedLibrary, name: &CStr) -> Result<F, Message> {
    const { assert!(size_of::<F>() == size_of::<Handle>()) };
    let address = library.address(name);
    if address.is_null() {
        let (library, name) = (LIBRARY.to_string_lossy(), name.to_string_lossy());
        return Err(say("error-auth.library-lacks")
            .with("library", library.into_owned())
            .with("name", name.into_owned()));
    }
    // SAFETY: both have one size, the address is that of a function, and the caller knows its interface.
    Ok(unsafe { mem::transmute_copy::<Handle, F>(&address) })
}

impl Library {
    fn load() -> Result<Self, Message> {
        let library = open()?;
        // SAFETY: the types of the fields are those of the headers for these names.
        unsafe {
            Ok(Self {
                import_name: function(library, c"gss_import_name")?,
                display_name: function(library, c"gss_display_name")?,
                release_name: function(library, c"gss_release_name")?,
                acquire_cred_from: function(library, c"gss_acquire_cred_from")?,
                inquire_cred: function(library, c"gss_inquire_cred")?,
                release_cred: function(library, c"gss_release_cred")?,
                init_sec_context: function(library, c"gss_init_sec_context")?,
                delete_sec_context: function(library, c"gss_delete_sec_context")?,
                inquire_context: function(library, c"gss_inquire_sec_context_by_oid")?,
                release_buffer: function(library, c"gss_release_buffer")?,
                release_buffer_set: function(library, c"gss_release_buffer_set")?,
                display_status: function(library, c"gss_display_status")?,
                // Of libkrb5, on which this library depends and which `dlsym` searches too.
                init_context: function(library, c"krb5_init_context")?,
                free_context: function(library, c"krb5_free_context")?,
                default_cache: function(library, c"krb5_cc_default_name")?,
            })
        }
    }

    /// The name of the default cache, as `FILE:/tmp/krb5cc_0`.
    pub(super) fn default_cache(&self) -> Option<String> {
        let mut context = ptr::null_mut();
        // SAFETY: the context is released after its last use, and only where it was made; the name belongs to
        // it and is copied before.
        unsafe {
            if (self.init_context)(&raw mut context) != 0 {
                return None;
            }
            let name = (self.default_cache)(context);
            let name =
                (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned());
            (self.free_context)(context);
            name
        }
    }

    fn check(&self, major: u32, minor: u32) -> Result<(), Failure> {
        if major & ERRORS == 0 {
            return Ok(());
        }
        let of_mechanism = self.words(minor, OF_MECHANISM);
        let text = match minor {
            0 => self.words(major, GENERAL),
            _ => of_mechanism,
        };
        Err(Failure {
            major: major & ERRORS,
            minor: minor.cast_signed(),
            text,
        })
    }

    fn words(&self, status: u32, of: c_int) -> String {
        let (mut minor, mut more) = (0, 0);
        let mechanism = Oid::of(KERBEROS);
        let mut lines = Vec::new();
        for _ in 0..LINES_MAX {
            let mut line = Buffer::empty();
            // SAFETY: all pointers are to variables of this function, and the library keeps none of them.
            let major = unsafe {
                (self.display_status)(
                    &raw mut minor,
                    status,
                    of,
                    &raw const mechanism,
                    &raw mut more,
                    &raw mut line,
                )
            };
            lines.push(String::from_utf8_lossy(&self.taken(line)).into_owned());
            if major != 0 || more == 0 {
                break;
            }
        }
        lines.join("; ")
    }

    /// What a buffer of the library holds, which goes back to it.
    fn taken(&self, mut buffer: Buffer) -> Vec<u8> {
        let bytes = buffer.bytes();
        let mut minor = 0;
        // SAFETY: the library filled it, or it is empty, and it is not used any more.
        unsafe { (self.release_buffer)(&raw mut minor, &raw mut buffer) };
        bytes
    }

    /// The name of a principal, as `ann@REALM` or `cifs/host@`.
    pub(super) fn name(&'static self, principal: &str) -> Result<Name, Failure> {
        let (mut minor, mut handle) = (0, ptr::null_mut());
        let (text, kind) = (Buffer::of(principal.as_bytes()), Oid::of(PRINCIPAL_NAME));
        // SAFETY: text and kind are copied by the library; `handle` is filled.
        let major = unsafe {
            (self.import_name)(
                &raw mut minor,
                &raw const text,
                &raw const kind,
                &raw mut handle,
            )
        };
        let name = Name(self, handle);
        self.check(major, minor).map(|()| name)
    }

    /// The tickets of one principal, or those that the library chooses for whoever is spoken to, of the default
    /// cache or of this one.
    pub(super) fn credential(
        &'static self,
        of: Option<&Name>,
        cache: Option<Opened>,
    ) -> Result<Credential, Failure> {
        let (mut minor, mut handle) = (0, ptr::null_mut());
        let kerberos = Oid::of(KERBEROS);
        let mechanisms = Set {
            count: 1,
            elements: &raw const kerberos,
        };
        let cache_name = cache.as_ref().map(Opened::cache_name);
        let element = cache_name.as_ref().map(|name| KeyValue {
            key: c"ccache".as_ptr(),
            value: name.as_ptr(),
        });
        let store = element.as_ref().map(|element| KeyValues {
            count: 1,
            elements: element,
        });
        // SAFETY: the name lives, the sets and what is in them live until the end of this function and are copied,
        // `handle` is filled, and null means what is not wanted.
        let major = unsafe {
            (self.acquire_cred_from)(
                &raw mut minor,
                of.map_or(ptr::null_mut(), |name| name.1),
                INDEFINITE,
                &raw const mechanisms,
                INITIATE,
                store.as_ref().map_or(ptr::null(), ptr::from_ref),
                &raw mut handle,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        let credential = Credential(self, handle, cache);
        self.check(major, minor).map(|()| credential)
    }
}

/// A name, which is released when dropped.
pub(super) struct Name(&'static Library, Handle);

impl Drop for Name {
    fn drop(&mut self) {
        let mut minor = 0;
        // SAFETY: it is ours alone, or null, which is released too.
        unsafe { (self.0.release_name)(&raw mut minor, &raw mut self.1) };
    }
}

/// Tickets of a user, with the cache that they are read from, by its number, as long as they are used.
pub(super) struct Credential(
    &'static Library,
    Handle,
    #[expect(dead_code, reason = "it is held open")] Option<Opened>,
);

impl Drop for Credential {
    fn drop(&mut self) {
        let mut minor = 0;
        // SAFETY: it is ours alone, or null, which is released too.
        unsafe { (self.0.release_cred)(&raw mut minor, &raw mut self.1) };
    }
}

impl Credential {
    /// Whose tickets they are, and for how many seconds they are good.
    pub(super) fn holder(&self) -> Result<(String, u32), Failure> {
        let library = self.0;
        let (mut minor, mut seconds, mut handle) = (0, 0, ptr::null_mut());
        // SAFETY: the credential lives; name and seconds are filled, and null means what is not wanted.
        let major = unsafe {
            (library.inquire_cred)(
                &raw mut minor,
                self.1,
                &raw mut handle,
                &raw mut seconds,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        let name = Name(library, handle);
        library.check(major, minor)?;
        let mut text = Buffer::empty();
        // SAFETY: the name lives; the text is filled, and given back below.
        let major = unsafe {
            (library.display_name)(&raw mut minor, name.1, &raw mut text, ptr::null_mut())
        };
        let text = library.taken(text);
        library.check(major, minor)?;
        Ok((String::from_utf8_lossy(&text).into_owned(), seconds))
    }
}

/// An exchange with one service.
pub(crate) struct Context {
    library: &'static Library,
    handle: Handle,
    credential: Credential,
    target: Name,
}

// SAFETY: objects of MIT Kerberos belong to no thread; only two threads at once must not use one ("Thread
// safety" of its documentation), which `&mut self` and the owned name and credential see to.
unsafe impl Send for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        let mut minor = 0;
        // SAFETY: it is ours alone, or null, which is deleted too.
        unsafe {
            (self.library.delete_sec_context)(&raw mut minor, &raw mut self.handle, ptr::null_mut())
        };
    }
}

impl Context {
    pub(super) fn new(credential: Credential, target: Name) -> Self {
        Self {
            library: credential.0,
            handle: ptr::null_mut(),
            credential,
            target,
        }
    }

    pub(super) const fn credential(&self) -> &Credential {
        &self.credential
    }

    /// Takes the service's token, none at first; gives our next one, and whether we are done. The first step
    /// asks a KDC where the cache has no ticket for the service.
    pub(crate) fn step(&mut self, token: &[u8]) -> Result<(Vec<u8>, bool), Failure> {
        let (mut minor, mut got) = (0, 0);
        let (kerberos, input, mut output) = (Oid::of(KERBEROS), Buffer::of(token), Buffer::empty());
        // SAFETY: credential and name live as long as this; the context is null or what the last step made of
        // it; the token is only read, the output given back below, and null means what is not wanted.
        let major = unsafe {
            (self.library.init_sec_context)(
                &raw mut minor,
                self.credential.1,
                &raw mut self.handle,
                self.target.1,
                &raw const kerberos,
                WANTED,
                0,
                ptr::null(),
                &raw const input,
                ptr::null_mut(),
                &raw mut output,
                &raw mut got,
                ptr::null_mut(),
            )
        };
        let output = self.library.taken(output);
        self.library.check(major, minor)?;
        let done = major & CONTINUE_NEEDED == 0;
        if done && got & MUTUAL == 0 {
            return Err(Failure::UNPROVEN);
        }
        Ok((output, done))
    }

    /// The key that both ends have, once they are done.
    pub(crate) fn session_key(&self) -> Result<Vec<u8>, Failure> {
        let (mut minor, mut set) = (0, ptr::null_mut::<Set<Buffer>>());
        let wanted = Oid::of(SESSION_KEY);
        // SAFETY: the context lives, and the set is filled; what it holds is copied before it is released. The
        // first of its elements is the key.
        let (major, key) = unsafe {
            let major = (self.library.inquire_context)(
                &raw mut minor,
                self.handle,
                &raw const wanted,
                &raw mut set,
            );
            let first = set.as_ref().filter(|set| set.count > 0);
            let key = first.map(|set| (*set.elements).bytes());
            let mut ignored = 0;
            (self.library.release_buffer_set)(&raw mut ignored, &raw mut set);
            (major, key)
        };
        self.library.check(major, minor)?;
        Ok(key.unwrap_or_default())
    }
}
