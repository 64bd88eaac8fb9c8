//! Every decoder takes anything, and what it understood it writes so that it understands it again.
//! The first byte chooses the message.

use smb_proto::wire::CODECS;

/// Takes one input; panics where what must hold does not.
pub fn run(data: &[u8]) {
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
}
