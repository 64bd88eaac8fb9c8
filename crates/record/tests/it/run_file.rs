//! The run file as others see it: written, cut, damaged, from the future.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use locale::Language;
use record::{
    Arm, Bytes, Demands, Direction, Error, Event, Header, Level, Nanoseconds, Outcome, Phase, Plan,
    Question, RUN_FORMAT, RUN_VERSION, Record, Run, RunWriter, Sample, Schedule, Setting,
    ShareAddress, ShareWorkload, Stage, Timing, TrialRecord, TrialResult, Value, Workload,
};

fn share() -> ShareAddress {
    ShareAddress {
        server: "10.77.1.2".into(),
        port: 445,
        share: "media".into(),
        path: String::new(),
    }
}

/// With what version 1 did not have at first.
fn header_of_today() -> Header {
    Header {
        user: Some("WORK;ann".into()),
        login_options: vec!["--sign".into(), "required".into()],
        ..header()
    }
}

fn header() -> Header {
    Header {
        format: RUN_FORMAT.into(),
        version: RUN_VERSION,
        program: "linerate 0.1.0".into(),
        seed: 7,
        plan: Plan::Check { share: share() },
        user: None,
        login_options: Vec::new(),
        facts: Vec::new(),
        started: "2026-11-21T09:00:00Z"
            .parse()
            .expect("a constant timestamp"),
    }
}

fn level(name: &str, channels: i64) -> Level {
    let value = Value::Integer(channels);
    Level {
        name: name.into(),
        settings: vec![Setting::Workload {
            field: "channels".into(),
            value,
        }],
    }
}

fn records() -> Vec<Record> {
    let second = Nanoseconds::new(1_000_000_000);
    let timing = Timing {
        warm_up: second,
        measured: second,
        interval: second,
    };
    let workload = Workload::Share(ShareWorkload {
        share: share(),
        direction: Direction::Read,
        channels: 2,
        block: Bytes::new(1 << 20),
        depth: 4,
        file_size: Bytes::new(64 << 20),
        demands: Demands::default(),
        operations: None,
        timing,
        sessions: 1,
        connections: 1,
        file: record::FileUse::default(),
        socket: record::SocketOptions::default(),
    });
    let sample = Sample {
        at: Nanoseconds::new(0),
        duration: second,
        bytes: Bytes::new(117_000_000),
        cpu: Nanoseconds::new(20_000_000),
        retransmits: None,
    };
    let result = TrialResult {
        samples: vec![sample],
        first_byte: None,
        connections: Vec::new(),
        session: None,
        far_retransmits: Some(3),
        latency: None,
        storage: None,
        playback: None,
        engine: None,
        sandbox: None,
    };
    vec![
        Record::Schedule(Schedule {
            experiment: "channels-2".into(),
            phase: Phase::Compare,
            question: Question {
                a: level("as it is", 1),
                b: level("2 channels", 2),
                responses: vec![Direction::Read, Direction::Write],
                band: 0.02,
                confidence: 0.95,
            },
            blocks: vec![vec![Arm::A, Arm::B], vec![Arm::B, Arm::A]],
            orders: Vec::new(),
            joint_error: None,
        }),
        Record::Trial(Box::new(TrialRecord {
            id: 0,
            stage: Stage::Experiment {
                experiment: "channels-2".into(),
                phase: Phase::Compare,
                block: 0,
                position: 0,
                arm: Arm::A,
                discarded: false,
            },
            workload,
            settings: Vec::new(),
            started: second,
            ended: Nanoseconds::new(2_000_000_000),
            outcome: Outcome::Measured(Box::new(result)),
            loads: Vec::new(),
        })),
        Record::Event {
            at: second,
            event: Event::Finished,
        },
    ]
}

fn made(path: &Path) -> File {
    File::create_new(path).expect("a new file")
}

fn to_extend(path: &Path) -> File {
    let file = File::options().read(true).append(true).open(path);
    file.expect("it is there")
}

fn written() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.jsonl");
    let mut writer = RunWriter::create(made(&path), &path, &header_of_today()).expect("a new file");
    for record in records() {
        writer.append(&record).expect("room on the disk");
    }
    (folder, path)
}

#[test]
fn what_is_written_is_read() {
    let (_folder, path) = written();
    let run = Run::read(&path).expect("a whole file");
    assert_eq!(
        run,
        Run {
            header: header_of_today(),
            records: records(),
            warnings: Vec::new()
        }
    );
}

#[test]
fn a_file_cut_anywhere_is_read_up_to_the_cut_or_refused_with_a_reason() {
    let (folder, path) = written();
    let whole = fs::read(&path).expect("the file");
    let header_length = whole
        .iter()
        .position(|&byte| byte == b'\n')
        .expect("a first line")
        + 1;
    let cut = folder.path().join("cut.jsonl");
    for length in 0..whole.len() {
        fs::write(&cut, &whole[..length]).expect("room on the disk");
        let read = Run::read(&cut);
        // The header's own line end may be missing: all of it is there.
        if length + 1 < header_length {
            assert!(
                matches!(read, Err(Error::NotARun { .. })),
                "cut at {length}: {read:?}"
            );
            continue;
        }
        let run = read.unwrap_or_else(|error| panic!("cut at {length}: {error}"));
        let complete = whole[header_length.min(length)..length].iter();
        let complete = complete.filter(|&&byte| byte == b'\n').count();
        assert_eq!(run.records[..], records()[..complete]);
        let torn = length > header_length && whole[length - 1] != b'\n';
        assert_eq!(
            !run.warnings.is_empty(),
            torn,
            "cut at {length}: {:?}",
            run.warnings
        );
    }
}

#[test]
fn a_damaged_line_in_the_middle_is_an_error_that_names_it() {
    let (_folder, path) = written();
    let text = fs::read_to_string(&path).expect("the file");
    let damaged = text.replacen("\"kind\":\"trial\"", "\"kind\":\"trial", 1);
    fs::write(&path, damaged).expect("room on the disk");
    assert!(matches!(Run::read(&path), Err(Error::Line { line: 3, .. })));
}

#[test]
fn records_and_events_of_the_future_are_passed_over() {
    let (_folder, path) = written();
    let mut text = fs::read_to_string(&path).expect("the file");
    text.push_str("{\"kind\":\"weather\",\"sky\":\"blue\"}\n");
    text.push_str("{\"kind\":\"event\",\"at\":5,\"event\":\"eclipse\",\"total\":true}\n");
    fs::write(&path, text).expect("room on the disk");
    let run = Run::read(&path).expect("a readable file");
    assert_eq!(run.warnings.len(), 1, "{:?}", run.warnings);
    let warning = Language::English.say(&run.warnings[0]);
    assert!(warning.contains("line 5") && warning.contains("weather"));
    let last = run.records.last().expect("a record");
    assert_eq!(
        *last,
        Record::Event {
            at: Nanoseconds::new(5),
            event: Event::Unknown
        }
    );
}

#[test]
fn a_file_that_is_gone_on_with_keeps_its_whole_lines_and_takes_a_design() {
    let (_folder, path) = written();
    let whole = fs::read(&path).expect("the file");
    let mut torn = whole.clone();
    torn.extend_from_slice(b"{\"kind\":\"trial\",\"id\":");
    fs::write(&path, &torn).expect("room on the disk");
    let (mut writer, run) =
        RunWriter::resume(to_extend(&path), &path).expect("a file to go on with");
    assert_eq!(run.records, records());
    assert_eq!(fs::read(&path).expect("the file"), whole);
    let level = |name: &str| record::Level {
        name: name.into(),
        settings: Vec::new(),
    };
    let design = Record::Design(Box::new(record::Design {
        name: "design".into(),
        title: "some".into(),
        form: "A against B".into(),
        factors: vec![record::Factor {
            name: "one".into(),
            levels: vec![level("off"), level("on")],
        }],
        aliases: Vec::new(),
        left_out: Vec::new(),
        messages: Vec::new(),
        responses: Vec::new(),
        arms: vec![vec![0], vec![1]],
        baseline_replicate: None,
        whole_plots: Vec::new(),
        blocks: vec![vec![1, 0]],
        stop: record::StopRule {
            budget_seconds: Some(60),
            width: None,
        },
        band: 0.02,
        published: None,
        figures: Vec::new(),
    }));
    writer.append(&design).expect("room on the disk");
    let run = Run::read(&path).expect("a readable file");
    assert!(run.warnings.is_empty(), "{:?}", run.warnings);
    assert_eq!(run.records.last(), Some(&design));
}

#[test]
fn what_one_writes_nobody_else_goes_on_with() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.jsonl");
    let writer = RunWriter::create(made(&path), &path, &header()).expect("a new file");
    // As it is while a line is being written.
    let mut half = fs::read(&path).expect("the file");
    half.extend_from_slice(b"{\"kind\":\"trial\",\"id\":");
    fs::write(&path, &half).expect("room on the disk");
    let refused = || {
        matches!(
            RunWriter::resume(to_extend(&path), &path),
            Err(Error::InUse { .. })
        )
    };
    assert!(refused());
    assert_eq!(fs::read(&path).expect("the file"), half);
    drop(writer);
    let (writer, _) = RunWriter::resume(to_extend(&path), &path).expect("it is left in peace");
    assert!(refused());
    assert!(Run::read(&path).is_ok(), "it can always be looked at");
    drop(writer);
}

#[test]
fn a_newer_version_is_refused_with_what_to_do() {
    let (_folder, path) = written();
    let text = fs::read_to_string(&path).expect("the file");
    let program = Run::read(&path).expect("it is whole").header.program;
    let newer = text.replacen("\"version\":1", "\"version\":2", 1);
    let refused = |text: &str| {
        fs::write(&path, text).expect("room on the disk");
        let error = Run::read(&path).expect_err("a file from the future");
        error.to_string()
    };
    let error = refused(&newer);
    assert!(
        error.contains("version 2") && error.contains(&format!("`{program}`")),
        "{error}"
    );
    let error = refused(&newer.replacen("\"program\"", "\"other\"", 1));
    assert!(
        error.contains("version 2") && error.contains("update linerate"),
        "{error}"
    );
}

#[test]
fn version_1_opens_for_ever() {
    let fixture =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/run-version-1.jsonl");
    let run = Run::read(&fixture).expect("the first version of the format");
    assert_eq!(
        run,
        Run {
            header: header(),
            records: records(),
            warnings: Vec::new()
        }
    );
}

#[test]
fn a_password_shows_nowhere() {
    let secret = record::Secret::new("correct horse".into());
    let credentials = record::Credentials {
        identity: record::Identity::User,
        user: "ann".into(),
        domain: String::new(),
        password: secret,
        mechanism: record::Mechanism::Automatic,
    };
    assert!(!format!("{credentials:?}").contains("horse"));
}
