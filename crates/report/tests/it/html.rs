use analysis::Trust;
use record::{Level, PathFacts, Plan, SecondMount, Setting, ShareMount, Value};
use report::{Content, Section, html, html_story};

use crate::{handmade_runs, json};

/// The page without its style, whose bytes say nothing about a run.
fn skeleton(page: &str) -> String {
    let (before, rest) = page.split_once("<style>").expect("a style");
    let (_, after) = rest.split_once("</style>").expect("its end");
    let after = after.replace("><", ">\n<");
    format!("{before}<style/>{after}")
}

fn pages() -> Vec<(String, String)> {
    let mut pages: Vec<(String, String)> = handmade_runs::all()
        .into_iter()
        .map(|(name, run)| (name.to_owned(), html(&run)))
        .collect();
    let (check, tune) = (
        handmade_runs::check_one_link_of_two(),
        handmade_runs::tune_demo(),
    );
    pages.push((
        "story".into(),
        html_story("two links, one share", &handmade_runs::story(&check, &tune)),
    ));
    let hostile = handmade_runs::check_hostile();
    let sections = [Section {
        heading: "</h2><script>alert(3)</script>".into(),
        text: vec!["a `b` c ` d \u{1b}[2J".into()],
        content: Content::Run(&hostile),
    }];
    pages.push((
        "hostile-story".into(),
        html_story("<title>\u{9b}0m", &sections),
    ));
    pages
}

/// Every tag with its attributes, as a browser would see them.
fn tags(page: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut tags = Vec::new();
    for piece in page.split('<').skip(1) {
        let mut rest = piece;
        let end = rest
            .find(|character: char| character.is_whitespace() || character == '>')
            .unwrap_or(rest.len());
        let name = rest[..end].to_ascii_lowercase();
        rest = &rest[end..];
        let mut attributes = Vec::new();
        loop {
            rest = rest.trim_start();
            if rest.is_empty() || rest.starts_with('>') {
                break;
            }
            let end = rest.find(['=', '>', ' ']).unwrap_or(rest.len());
            let key = rest[..end].to_ascii_lowercase();
            rest = &rest[end..];
            let mut value = String::new();
            if let Some(quoted) = rest.strip_prefix("=\"") {
                let end = quoted.find('"').expect("every value is closed");
                value = quoted[..end].to_owned();
                rest = &quoted[end + 1..];
            }
            attributes.push((key, value));
        }
        tags.push((name, attributes));
    }
    tags
}

#[test]
fn skeletons_of_pages() {
    for (name, page) in pages() {
        insta::assert_snapshot!(name, skeleton(&page));
    }
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    assert_eq!(pages(), pages());
    for ((name, run), (_, again)) in handmade_runs::all().into_iter().zip(handmade_runs::all()) {
        let style = report::Style::default();
        assert_eq!(
            report::page(&run, style),
            report::page(&again, style),
            "{name}"
        );
        assert_eq!(json(&run).to_string(), json(&again).to_string(), "{name}");
    }
}

#[test]
fn no_page_asks_a_network_for_anything() {
    const MAY_LOAD: [&str; 14] = [
        "script",
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "video",
        "audio",
        "source",
        "base",
        "form",
        "use",
        "image",
        "foreignobject",
    ];
    const POINTS_SOMEWHERE: [&str; 9] = [
        "src",
        "srcset",
        "data",
        "action",
        "background",
        "poster",
        "ping",
        "xlink:href",
        "style",
    ];
    for (name, page) in pages() {
        for (tag, attributes) in tags(&page) {
            assert!(!MAY_LOAD.contains(&tag.as_str()), "{name}: <{tag}>");
            for (key, value) in attributes {
                assert!(
                    !POINTS_SOMEWHERE.contains(&key.as_str()),
                    "{name}: {key}={value}"
                );
                assert!(!key.starts_with("on"), "{name}: {key}={value}");
                assert!(
                    key != "href" || value.starts_with('#'),
                    "{name}: {key}={value}"
                );
                assert!(
                    key != "http-equiv" || value == "Content-Security-Policy",
                    "{name}: {value}"
                );
            }
        }
        let (_, style) = page.split_once("<style>").expect("a style");
        let (style, _) = style.split_once("</style>").expect("its end");
        for forbidden in ["@import", "url(", "http:", "https:", "//", "@font-face"] {
            assert!(!style.contains(forbidden), "{name}: {forbidden}");
        }
    }
}

#[test]
fn the_policy_of_every_page_forbids_loading() {
    for (name, page) in pages() {
        let policy = "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"";
        let place = page
            .find(policy)
            .unwrap_or_else(|| panic!("{name} has no policy"));
        assert!(
            place < page.find("<style>").expect("a style"),
            "{name}: the policy comes first"
        );
    }
}

#[test]
fn every_tag_is_closed_in_order() {
    const VOID: [&str; 3] = ["meta", "br", "!doctype"];
    for (name, page) in pages() {
        let mut open: Vec<String> = Vec::new();
        for (tag, _) in tags(&page) {
            match tag.strip_prefix('/') {
                Some(end) => assert_eq!(open.pop().as_deref(), Some(end), "{name}"),
                None if VOID.contains(&tag.as_str()) => {}
                None => open.push(tag),
            }
        }
        assert!(open.is_empty(), "{name}: {open:?}");
    }
}

#[test]
fn what_was_named_by_a_folder_is_repeated_by_it() {
    let mut run = handmade_runs::tune_keeps_knobs();
    run.is_through_mounts = true;
    assert!(html(&run).contains("--through system"));
    if let Plan::Tune { folder, .. } = &mut run.plan {
        *folder = Some("/mnt/media".into());
    }
    let page = html(&run);
    assert!(page.contains("linerate tune /mnt/media --client"), "{page}");
    assert!(!page.contains("--through system"), "{page}");
}

/// Nobody unmounts what a user has mounted, so that the line itself is for them.
#[test]
fn a_line_of_a_mount_that_is_proven_has_the_command_that_keeps_it() {
    let mut run = handmade_runs::check_one_link_of_two();
    run.path = Some(PathFacts {
        mount: Some(ShareMount {
            folder: "/mnt/my media".into(),
            ..ShareMount::default()
        }),
        ..PathFacts::default()
    });
    let mut says = |trust: Trust| {
        let fixes = &mut run.diagnosis.as_mut().expect("one").fixes;
        let last = fixes.last_mut().expect("one");
        assert!(last.blocked.is_some());
        last.id = "mount-again".into();
        last.trust = trust;
        last.level = Level {
            name: "mount-again".into(),
            settings: vec![Setting::Workload {
                field: SecondMount::FIELD.into(),
                value: Value::Text("vers=3.1.1".into()),
            }],
        };
        let page = html(&run);
        page.contains("linerate tune '/mnt/my media'") && page.contains("--only mount-again")
    };
    assert!(says(Trust::Measured));
    assert!(!says(Trust::Computed));
}

#[test]
fn hostile_names_are_only_text() {
    for (name, page) in pages() {
        assert!(
            !page.contains("<script") && !page.contains("<img") && !page.contains("<svg onload"),
            "{name}"
        );
        assert!(
            page.chars()
                .all(|character| character == '\n' || !character.is_control()),
            "{name}"
        );
        assert!(!page.contains('\u{202e}'), "{name}");
        assert!(!page.contains("NaN") && !page.contains(">inf"), "{name}");
    }
}

#[test]
fn every_picture_has_a_name_a_description_and_ids_of_its_own() {
    for (name, page) in pages() {
        let tags = tags(&page);
        let mut ids: Vec<&str> = Vec::new();
        for (tag, attributes) in &tags {
            for (key, value) in attributes {
                if key == "id" {
                    assert!(!ids.contains(&value.as_str()), "{name}: `{value}` twice");
                    ids.push(value);
                }
            }
            let has = |wanted: &str| attributes.iter().any(|(key, _)| key == wanted);
            assert!(
                tag != "svg" || has("aria-labelledby") || has("aria-hidden"),
                "{name}"
            );
        }
        let labels = tags
            .iter()
            .flat_map(|(_, attributes)| attributes)
            .filter(|(key, _)| key == "aria-labelledby");
        for id in labels.flat_map(|(_, value)| value.split(' ')) {
            assert!(ids.contains(&id), "{name}: `{id}` is missing");
        }
    }
}
