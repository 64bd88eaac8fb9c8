//! Every decoder takes anything, and what it understood it writes so that it understands it again.
//! The first byte chooses the message.
#![no_main]

use libfuzzer_sys::fuzz_target;
use smb_proto::wire::CODECS;

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else {
        return;
    };
    let codec = CODECS[usize::from(*choice) % CODECS.len()];
    if let Ok(encoded) = (codec.recode)(bytes) {
        assert_eq!(
            (codec.recode)(&encoded).as_ref(),
            Ok(&encoded),
            "{}",
            codec.name
        );
    }
});
