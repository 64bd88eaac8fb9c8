//! A run file that came by mail: whatever it says, it is analysed and drawn, or refused; and so it is without
//! its names.

use std::io::Write;

use record::Run;
use report::{Colour, Shareable, Style};

/// Takes one input; panics where what must hold does not.
pub fn run(data: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(data).expect("room on the disk");
    let Ok(run) = Run::read(file.path()) else {
        return;
    };
    let analysis = analysis::analyze(&run);
    let style = Style::new(80, Colour::Plain);
    drop((
        report::page(&analysis, style),
        report::details(&analysis, style),
        report::html(&analysis),
    ));
    assert!(serde_json::to_value(report::json(&analysis)).is_ok_and(|json| json.is_object()));
    if let Ok(shareable) = Shareable::of(run) {
        let page = report::html(&analysis::analyze(shareable.run()));
        drop(shareable.page(&page));
    }
}
