//! Analysis to terminal text, one-file HTML, SVG and JSON.
