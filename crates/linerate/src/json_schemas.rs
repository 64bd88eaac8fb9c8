//! Schemas of what commands print with `--json`, which `docs/schema` holds and tests hold printed values against.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use clap::CommandFactory;
use fit::before_after::Comparison;
use fit::table::TableResult;
use report::{DemoSummary, Report};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema, json_schema};
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::Arguments;
use crate::bench::recipe_run::BenchPlan;
use crate::changes::{ChangeList, UndoResult};
use crate::copy::summary::CopyResult;
use crate::doctor;
use crate::experiment::dry_run::ExperimentPlan;
use crate::inspect::json::{Explanation, Inspection};
use crate::lab_command::{LabBuilt, LabEnded, LabList, LabToEnd, ScenarioList};
use crate::ls::{ListedEntry, ShareList};
use crate::profiles::{ListedProfile, ListedRule, ProfileList};
use crate::report_command::WrittenPage;
use crate::set::SetResult;
use crate::tune::NothingToTry;
use crate::tune::dry_run::TunePreview;
use crate::tune::search::SearchPreview;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema");

/// What `ls --json` prints of a folder, entry by entry.
#[derive(Serialize, JsonSchema)]
struct FolderListing {
    /// What is in it, by names unless it is very large.
    entries: Vec<ListedEntry<'static>>,
}

/// What several commands print of a run, in a file of its own.
struct Run;

/// That file, without its ending.
const RUN: &str = "run";

impl JsonSchema for Run {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        RUN.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "$ref": format!("{RUN}.json") })
    }
}

/// One form of what a command prints.
type Form = fn(&mut SchemaGenerator) -> Schema;

/// Each command with `--json`, in the order of the command line, and the schema of all forms of what it prints.
fn schemas() -> Vec<(&'static str, Value)> {
    macro_rules! schemas {
        ($($command:literal: $($form:ty),+;)+) => {
            vec![$(($command, schema($command, &[$(SchemaGenerator::subschema_for::<$form>),+])),)+]
        };
    }
    schemas! {
        "check": Run;
        "bench": BenchPlan, Run;
        "tune": NothingToTry, TunePreview, SearchPreview, Run;
        "experiment-run": ExperimentPlan, Run;
        "experiment-resume": Run;
        "inspect": Inspection, Explanation;
        "set": SetResult;
        "profiles": ProfileList, ListedProfile<Vec<ListedRule>>;
        "undo": UndoResult;
        "changes": ChangeList;
        "analyze": Run, TableResult, Vec<TableResult>;
        "compare": Vec<Comparison>;
        "report": WrittenPage;
        "copy": CopyResult;
        "ls": ShareList, FolderListing;
        "lab-up": LabBuilt;
        "lab-scenarios": ScenarioList;
        "lab-list": LabList;
        "lab-down": LabToEnd, LabEnded;
        "demo": DemoSummary;
        "doctor": doctor::Report;
    }
}

fn schema(command: &str, forms: &[Form]) -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut generator = settings.into_generator();
    let forms: Vec<Schema> = forms.iter().map(|form| form(&mut generator)).collect();
    // What is wrong with a value is said better where there is no choice.
    let choice = if forms.len() == 1 { "allOf" } else { "anyOf" };
    let mut schema = json!({
        "$schema": generator.settings().meta_schema,
        "title": format!("linerate {} --json", command.replace('-', " ")),
        choice: forms,
        "$defs": generator.take_definitions(true),
    });
    close(&mut schema, false);
    schema
}

/// Lets no object have keys that its type has not. Parts of an object are closed as a whole with it.
fn close(schema: &mut Value, is_part: bool) {
    let Value::Object(keywords) = schema else {
        return;
    };
    let is_object = keywords.contains_key("properties");
    let mut others = "additionalProperties";
    for (keyword, value) in keywords.iter_mut() {
        match (keyword.as_str(), value) {
            ("allOf" | "anyOf" | "oneOf", Value::Array(parts)) => {
                others = "unevaluatedProperties";
                let parts = parts.iter_mut();
                parts.for_each(|part| close(part, is_part || is_object));
            }
            ("$defs" | "properties", Value::Object(inner)) => {
                inner.values_mut().for_each(|inner| close(inner, false));
            }
            ("prefixItems", Value::Array(inner)) => {
                inner.iter_mut().for_each(|inner| close(inner, false));
            }
            ("items" | "additionalProperties", inner) => close(inner, false),
            _ => {}
        }
    }
    if is_object && !is_part && !keywords.contains_key("additionalProperties") {
        keywords.insert(others.to_owned(), false.into());
    }
}

/// The words of all commands that have `--json`, joined, in their order.
fn commands_with_json(command: &clap::Command, outer: &str) -> Vec<String> {
    let mut names = Vec::new();
    for inner in command.get_subcommands() {
        let name = format!("{outer}{}", inner.get_name());
        let mut options = inner.get_arguments().filter_map(clap::Arg::get_long);
        let inner = commands_with_json(inner, &format!("{name}-"));
        names.extend(options.any(|option| option == "json").then_some(name));
        names.extend(inner);
    }
    names
}

#[test]
fn each_command_with_json_has_a_schema() {
    let schemas = schemas();
    let names: Vec<&str> = schemas.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, commands_with_json(&Arguments::command(), ""));
}

/// `docs/schema` is made by this test when `LINERATE_BLESS` is set.
#[test]
fn the_written_schemas_are_those_of_the_types() {
    let mut files = BTreeSet::from(["README.md".to_owned()]);
    let run = schema(RUN, &[SchemaGenerator::subschema_for::<Report>]);
    for (command, schema) in schemas().into_iter().chain([(RUN, run)]) {
        let file = format!("{command}.json");
        let path = Path::new(FOLDER).join(&file);
        let text = serde_json::to_string_pretty(&schema).expect("JSON") + "\n";
        if std::env::var_os("LINERATE_BLESS").is_some() {
            fs::write(&path, &text).expect("room on the disk");
        }
        assert!(
            fs::read_to_string(&path).unwrap_or_default() == text,
            "docs/schema/{file} is stale: run `LINERATE_BLESS=1 cargo test -p linerate --bin linerate schema`"
        );
        files.insert(file);
    }
    let entries = fs::read_dir(FOLDER).expect("docs/schema");
    let entries = entries.map(|entry| entry.expect("an entry").file_name());
    let written: Result<BTreeSet<String>, _> = entries.map(|name| name.into_string()).collect();
    assert_eq!(written, Ok(files));
}

#[test]
fn no_key_goes_without_its_type() {
    let wanted = json!({
        "properties": { "inner": {
            "properties": {}, "additionalProperties": false,
        } },
        "anyOf": [{ "properties": {} }],
        "unevaluatedProperties": false,
    });
    let mut schema = json!({
        "properties": { "inner": { "properties": {} } }, "anyOf": [{ "properties": {} }],
    });
    close(&mut schema, false);
    assert_eq!(schema, wanted);
}
