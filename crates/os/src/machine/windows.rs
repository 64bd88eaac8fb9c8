//! Windows.

use std::mem::size_of;
use std::ptr;

use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::Globalization::{GetUserDefaultUILanguage, LCIDToLocaleName};
use windows_sys::Win32::System::Registry::{HKEY_LOCAL_MACHINE, RRF_RT_REG_SZ, RegGetValueW};
use windows_sys::Win32::System::SystemInformation::{
    GlobalMemoryStatusEx, MEMORYSTATUSEX, OSVERSIONINFOW,
};
use windows_sys::Win32::System::SystemServices::LOCALE_NAME_MAX_LENGTH;
use windows_sys::Win32::System::Threading::{ALL_PROCESSOR_GROUPS, GetActiveProcessorCount};
use windows_sys::w;

use super::Machine;

/// Room for the number of an installation, in units of UTF-16: it has 36, and a zero.
const NUMBER_UNITS_MAX: usize = 64;

pub(super) fn this() -> Option<Machine> {
    Some(Machine {
        version: version()?,
        cores: cores()?,
        memory: memory(),
        installation: installation(),
        nics: crate::network::nics().ok()?,
    })
}

/// As the system has it, and not as it reports itself to a program of an older one.
#[expect(unsafe_code, reason = "no safe crate of ours asks for it")]
fn version() -> Option<String> {
    let mut found = OSVERSIONINFOW {
        dwOSVersionInfoSize: u32::try_from(size_of::<OSVERSIONINFOW>()).ok()?,
        ..OSVERSIONINFOW::default()
    };
    // SAFETY: the structure says how long it is.
    let status = unsafe { RtlGetVersion(&raw mut found) };
    let OSVERSIONINFOW {
        dwMajorVersion: major,
        dwMinorVersion: minor,
        dwBuildNumber: build,
        ..
    } = found;
    (status == 0).then(|| format!("{major}.{minor}.{build}"))
}

#[expect(
    unsafe_code,
    reason = "no safe crate of ours asks for all groups of processors"
)]
fn cores() -> Option<u32> {
    // SAFETY: it takes a number and gives one.
    let cores = unsafe { GetActiveProcessorCount(ALL_PROCESSOR_GROUPS) };
    (cores > 0).then_some(cores)
}

#[expect(unsafe_code, reason = "no safe crate of ours asks for it")]
fn memory() -> Option<u64> {
    let mut found = MEMORYSTATUSEX {
        dwLength: u32::try_from(size_of::<MEMORYSTATUSEX>()).ok()?,
        ..MEMORYSTATUSEX::default()
    };
    // SAFETY: the structure says how long it is.
    let done = unsafe { GlobalMemoryStatusEx(&raw mut found) };
    (done != 0).then_some(found.ullTotalPhys)
}

/// The number that Windows was given when it was installed, as programs of Microsoft take it.
#[expect(unsafe_code, reason = "no safe crate of ours reads the registry")]
fn installation() -> Option<String> {
    let mut units = [0_u16; NUMBER_UNITS_MAX];
    let mut bytes = u32::try_from(size_of_val(&units)).ok()?;
    // SAFETY: both names end with a zero; at most so many bytes are written to memory that is that long.
    let status = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            w!("SOFTWARE\\Microsoft\\Cryptography"),
            w!("MachineGuid"),
            RRF_RT_REG_SZ,
            ptr::null_mut(),
            units.as_mut_ptr().cast(),
            &raw mut bytes,
        )
    };
    let end = units.iter().position(|unit| *unit == 0)?;
    let text = String::from_utf16(&units[..end]).ok()?;
    (status == 0 && !text.is_empty()).then_some(text)
}

#[expect(unsafe_code, reason = "no safe crate of ours asks for it")]
pub(super) fn language() -> Option<String> {
    let mut units = [0_u16; LOCALE_NAME_MAX_LENGTH as usize];
    let room = LOCALE_NAME_MAX_LENGTH.cast_signed();
    // SAFETY: at most so many units are written to memory that is that long.
    let length = unsafe {
        let language = u32::from(GetUserDefaultUILanguage());
        LCIDToLocaleName(language, units.as_mut_ptr(), room, 0)
    };
    // It counts the zero at the end.
    let length = usize::try_from(length).ok()?.checked_sub(1)?;
    String::from_utf16(units.get(..length)?).ok()
}
