//! The languages in which people are spoken to: a message by its id, out of the files under `locale/`.
//!
//! The part of an id behind its dot is an attribute of the Fluent message that the part before it names. Names, numbers
//! and units are the same in each language, and all text in JSON is English.

use std::cell::Cell;
use std::fmt;
use std::str::FromStr;
use std::sync::{LazyLock, OnceLock};

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use fluent_syntax::ast::{Expression, InlineExpression, Pattern, PatternElement, VariantKey};
use unic_langid::{LanguageIdentifier, langid};

use crate::{Argument, Message, PLAIN, quantity, say};

/// The value of an argument that is not there, where a sentence has a part for that.
const ABSENT: &str = "absent";

/// A language that people are spoken to in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English, in which everything is written first.
    #[default]
    English,
    /// Japanese.
    Japanese,
}

/// No language that linerate speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownLanguage;

impl fmt::Display for UnknownLanguage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("linerate speaks `en` and `ja`")
    }
}

impl std::error::Error for UnknownLanguage {}

impl FromStr for Language {
    type Err = UnknownLanguage;

    /// Takes a language tag (`ja`, `ja-JP`; BCP 47) or the name of a locale (`ja_JP.UTF-8`; POSIX).
    fn from_str(tag: &str) -> Result<Self, UnknownLanguage> {
        let language = tag.split(['-', '_', '.', '@']).next().unwrap_or_default();
        let mut all = Self::ALL.into_iter();
        all.find(|one| one.tag().eq_ignore_ascii_case(language))
            .ok_or(UnknownLanguage)
    }
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 2] = [Self::English, Self::Japanese];

    /// Its tag (BCP 47): `en`.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Japanese => "ja",
        }
    }

    /// Lets the whole process speak it, from the first call on.
    pub fn speak(self) {
        let _first_counts = SPOKEN.set(self);
    }

    /// Speaks it for as long as some work of this thread takes, whatever else the process speaks.
    pub fn within<T>(self, work: impl FnOnce() -> T) -> T {
        struct Before(Option<Language>);
        impl Drop for Before {
            fn drop(&mut self) {
                HERE.set(self.0);
            }
        }
        let _before = Before(HERE.replace(Some(self)));
        work()
    }

    /// The language that is spoken here and now; English until another one was chosen.
    #[must_use]
    pub fn current() -> Self {
        HERE.get()
            .or_else(|| SPOKEN.get().copied())
            .unwrap_or_default()
    }

    /// What the message says. A message that this language has not is said in English, and one that nobody has by its
    /// id; tests see to it that neither is there.
    #[must_use]
    pub fn say(self, message: &Message) -> String {
        if message.id == PLAIN {
            let text = message.argument("text");
            return text.map_or_else(String::new, |text| self.argument(text));
        }
        self.formatted(message)
            .or_else(|| Self::English.formatted(message))
            .unwrap_or_else(|| {
                debug_assert!(false, "`{}` has no sentence", message.id);
                message.id.to_owned()
            })
    }

    fn list(self, names: &[String]) -> String {
        match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, first)) => {
                let first = first.join(", ");
                self.say(&say("list").with("first", first).with("last", last))
            }
            None => String::new(),
        }
    }

    fn formatted(self, message: &Message) -> Option<String> {
        let bundle = self.bundle();
        let pattern = pattern(bundle, message.id)?;
        let mut arguments = FluentArgs::new();
        for name in optional(pattern) {
            arguments.set(name, ABSENT);
        }
        for (name, argument) in &message.arguments {
            let value = match argument {
                Argument::Count(count) => FluentValue::from(*count),
                argument => FluentValue::from(self.argument(argument)),
            };
            arguments.set(*name, value);
        }
        // What is wrong with a sentence stands in its text as `{$name}`.
        let mut errors = Vec::new();
        let text = bundle.format_pattern(pattern, Some(&arguments), &mut errors);
        Some(text.into_owned())
    }

    fn argument(self, argument: &Argument) -> String {
        match argument {
            Argument::Text(text) => text.clone(),
            Argument::Rate(rate) => format!("{:.1} MB/s", rate / 1e6),
            Argument::Bits(bits) => quantity::line_rate(*bits),
            Argument::Share(share) if *share < 0.1 => format!("{:.2} %", 100.0 * share),
            Argument::Share(share) => format!("{:.0} %", 100.0 * share),
            Argument::Ratio(ratio) => format!("{ratio:.2}x"),
            Argument::Seconds(seconds) => format!("{:.1} ms", 1e3 * seconds),
            Argument::Bytes(bytes) => quantity::size(*bytes),
            Argument::Count(count) => count.to_string(),
            Argument::Message(message) => self.say(message),
            Argument::Names(names) => names.join(", "),
            Argument::List(things) => {
                let things: Vec<String> = things.iter().map(|one| self.argument(one)).collect();
                self.list(&things)
            }
            Argument::Series(parts) => self.joined(
                parts,
                match self {
                    Self::English => ", ",
                    Self::Japanese => "、",
                },
            ),
            Argument::Clauses(clauses) => self.joined(
                clauses,
                match self {
                    Self::English => "; ",
                    Self::Japanese => "。",
                },
            ),
        }
    }

    fn joined(self, messages: &[Message], between: &str) -> String {
        let texts: Vec<String> = messages.iter().map(|one| self.say(one)).collect();
        texts.join(between)
    }

    fn bundle(self) -> &'static FluentBundle<FluentResource> {
        match self {
            Self::English => &ENGLISH,
            Self::Japanese => &JAPANESE,
        }
    }
}

/// What the message says in the language that is spoken.
#[must_use]
pub fn said(message: &Message) -> String {
    Language::current().say(message)
}

/// The same of a message without arguments.
#[must_use]
pub fn text(id: &'static str) -> String {
    said(&say(id))
}

/// So many of something: the message `id` with its `count`.
#[must_use]
pub fn counted(id: &'static str, count: usize) -> String {
    said(&say(id).count("count", count))
}

/// `a`, `a and b`, `a, b and c`, in the language that is spoken.
#[must_use]
pub fn list(names: &[String]) -> String {
    Language::current().list(names)
}

static SPOKEN: OnceLock<Language> = OnceLock::new();

thread_local! {
    static HERE: Cell<Option<Language>> = const { Cell::new(None) };
}

type Bundle = FluentBundle<FluentResource>;

/// The resources of a language, by the name of its folder.
macro_rules! resources {
    ($language:literal) => {
        [
            include_str!(concat!("../../../locale/", $language, "/diagnosis.ftl")),
            include_str!(concat!("../../../locale/", $language, "/caveat.ftl")),
            include_str!(concat!("../../../locale/", $language, "/contradiction.ftl")),
            include_str!(concat!("../../../locale/", $language, "/commands.ftl")),
            include_str!(concat!("../../../locale/", $language, "/report.ftl")),
            include_str!(concat!("../../../locale/", $language, "/detail.ftl")),
            include_str!(concat!("../../../locale/", $language, "/plot.ftl")),
            include_str!(concat!("../../../locale/", $language, "/recipe.ftl")),
            include_str!(concat!("../../../locale/", $language, "/design.ftl")),
            include_str!(concat!("../../../locale/", $language, "/reason.ftl")),
            include_str!(concat!("../../../locale/", $language, "/error.ftl")),
            include_str!(concat!("../../../locale/", $language, "/error-host.ftl")),
            include_str!(concat!("../../../locale/", $language, "/error-smb.ftl")),
            include_str!(concat!("../../../locale/", $language, "/error-measure.ftl")),
            include_str!(concat!("../../../locale/", $language, "/error-files.ftl")),
            include_str!(concat!("../../../locale/", $language, "/error-check.ftl")),
            include_str!(concat!("../../../locale/", $language, "/error-copy.ftl")),
            include_str!(concat!("../../../locale/", $language, "/error-change.ftl")),
            include_str!(concat!("../../../locale/", $language, "/error-plan.ftl")),
            include_str!(concat!("../../../locale/", $language, "/error-knob.ftl")),
        ]
    };
}

/// In which everything is written first.
pub(crate) const ENGLISH_RESOURCES: &[&str] = &resources!("en");

static ENGLISH: LazyLock<Bundle> = LazyLock::new(|| bundle(langid!("en"), ENGLISH_RESOURCES));
static JAPANESE: LazyLock<Bundle> = LazyLock::new(|| bundle(langid!("ja"), &resources!("ja")));

fn bundle(language: LanguageIdentifier, resources: &[&str]) -> Bundle {
    let mut bundle = FluentBundle::new_concurrent(vec![language]);
    // A terminal shows the marks that would keep texts of different reading directions apart.
    bundle.set_use_isolating(false);
    for text in resources {
        // Tests hold the files against each other and against the ids in the code; here what can be read is taken.
        let resource = match FluentResource::try_new((*text).to_owned()) {
            Ok(resource) | Err((resource, _)) => resource,
        };
        bundle.add_resource_overriding(resource);
    }
    bundle
}

fn pattern<'a>(bundle: &'a Bundle, id: &str) -> Option<&'a Pattern<&'a str>> {
    let (name, attribute) = match id.split_once('.') {
        Some((name, attribute)) => (name, Some(attribute)),
        None => (id, None),
    };
    let message = bundle.get_message(name)?;
    match attribute {
        Some(attribute) => Some(message.get_attribute(attribute)?.value()),
        None => message.value(),
    }
}

/// The arguments for whose absence a sentence has a variant.
fn optional<'a>(pattern: &Pattern<&'a str>) -> Vec<&'a str> {
    let mut names = Vec::new();
    for element in &pattern.elements {
        let PatternElement::Placeable {
            expression: Expression::Select { selector, variants },
        } = element
        else {
            continue;
        };
        let has_absent = variants.iter().any(
            |variant| matches!(variant.key, VariantKey::Identifier { name } if name == ABSENT),
        );
        if let (InlineExpression::VariableReference { id }, true) = (selector, has_absent) {
            names.push(id.name);
        }
        names.extend(variants.iter().flat_map(|variant| optional(&variant.value)));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_go_by_tags_and_by_names_of_locales() {
        for (tag, language) in [
            ("ja", Ok(Language::Japanese)),
            ("ja_JP.UTF-8", Ok(Language::Japanese)),
            ("JA-jp", Ok(Language::Japanese)),
            ("en_US.UTF-8", Ok(Language::English)),
            ("de_DE.UTF-8", Err(UnknownLanguage)),
            ("C", Err(UnknownLanguage)),
            ("", Err(UnknownLanguage)),
        ] {
            assert_eq!(tag.parse(), language, "{tag}");
        }
    }

    #[test]
    fn a_part_is_left_out_where_its_argument_is_not_there() {
        let found = say("headline.found").with("cause", "the cable");
        assert_eq!(Language::English.say(&found), "the cable");
        let found = found.with("gain", "2.00x");
        assert_eq!(Language::English.say(&found), "the cable; 2.00x");
    }

    #[test]
    fn clauses_are_parted_as_their_language_does() {
        let parts = vec![say("verdict.better"), say("verdict.worse")];
        let message = |argument| say(PLAIN).with("text", argument);
        let series = message(Argument::Series(parts.clone()));
        let clauses = message(Argument::Clauses(parts));
        assert_eq!(Language::English.say(&series), "better, worse");
        assert_eq!(Language::English.say(&clauses), "better; worse");
        assert_eq!(Language::Japanese.say(&series), "改善、悪化");
        assert_eq!(Language::Japanese.say(&clauses), "改善。悪化");
    }
}
