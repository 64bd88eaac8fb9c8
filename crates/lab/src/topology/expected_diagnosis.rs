//! What a lab with a fault teaches: what is right to say of it, from both ends and from the client alone.

use locale::say;
use serde::Deserialize;
use toml::Spanned;

use super::checked_values::Source;
use crate::Error;

/// Most causes of a lesson.
const CAUSES_MAX: usize = 16;
/// Longest title of a lesson.
const TITLE_CHARS_MAX: usize = 200;

/// What a lab with a fault teaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lesson {
    /// What is wrong, in a few words.
    pub title: String,
    /// What is right for who sees the client and the server; no cause where nothing is wrong.
    pub both_ends: Expected,
    /// What is right for who sees the client alone.
    pub client: Expected,
    /// Ids of causes that are in the lab as well, behind the first.
    pub also: Vec<String>,
}

/// What is right to say from one view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Ids of the causes of which each is a right first one; none where none can be known.
    pub causes: Vec<String>,
    /// How sure it has to be.
    pub state: ExpectedState,
    /// Ids of the causes of which this view cannot decide.
    pub not_knowable: Vec<String>,
}

/// How sure a right first cause has to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectedState {
    /// By a counter with one meaning, or by an intervention.
    #[default]
    Proven,
    /// Something speaks for it, and what would decide is out of reach.
    Suspected,
}

impl ExpectedState {
    /// Its word in a lab file and in the output of a check.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Suspected => "suspected",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenLesson {
    title: Spanned<String>,
    causes: Vec<Spanned<String>>,
    #[serde(default)]
    state: ExpectedState,
    #[serde(default)]
    not_knowable: Vec<Spanned<String>>,
    #[serde(default)]
    also: Vec<Spanned<String>>,
    client: Option<WrittenView>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenView {
    causes: Option<Vec<Spanned<String>>>,
    state: Option<ExpectedState>,
    #[serde(default)]
    not_knowable: Vec<Spanned<String>>,
}

/// A lesson is shown to people, so it holds nothing that a terminal or a page would act on.
pub(super) fn meant_lesson(source: &Source<'_>, written: &WrittenLesson) -> Result<Lesson, Error> {
    let title = written.title.get_ref();
    if title.chars().count() > TITLE_CHARS_MAX || title.chars().any(char::is_control) {
        let problem = say("error-lab.not-a-title");
        let hint = say("hint-lab.title").count("most", TITLE_CHARS_MAX);
        return Err(source.refuse(written.title.span(), problem, hint));
    }
    let both_ends = Expected {
        causes: ids(source, "lesson.causes", &written.causes)?,
        state: written.state,
        not_knowable: ids(source, "lesson.not_knowable", &written.not_knowable)?,
    };
    let client = match &written.client {
        None => both_ends.clone(),
        Some(view) => Expected {
            causes: match &view.causes {
                None => both_ends.causes.clone(),
                Some(causes) => ids(source, "lesson.client.causes", causes)?,
            },
            state: view.state.unwrap_or(both_ends.state),
            not_knowable: ids(source, "lesson.client.not_knowable", &view.not_knowable)?,
        },
    };
    Ok(Lesson {
        title: title.clone(),
        both_ends,
        client,
        also: ids(source, "lesson.also", &written.also)?,
    })
}

fn ids(
    source: &Source<'_>,
    field: &str,
    written: &[Spanned<String>],
) -> Result<Vec<String>, Error> {
    source.count(say("error-lab.too-many-causes"), written.len(), CAUSES_MAX)?;
    written.iter().map(|id| source.name(field, id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Topology;

    fn lesson(text: &str) -> Lesson {
        let text = format!("[lesson]\ntitle = \"t\"\n{text}\n[[host]]\nname = \"a\"\n");
        Topology::parse(&text).unwrap().lesson.unwrap()
    }

    #[test]
    fn the_client_alone_knows_the_same_unless_the_file_says_less() {
        let same = lesson("causes = [\"slow-link\"]\nstate = \"suspected\"");
        assert!(same.also.is_empty());
        assert_eq!(same.client, same.both_ends);
        assert_eq!(same.client.state, ExpectedState::Suspected);
        let less = lesson(
            "causes = [\"server-disk\"]\nalso = [\"slow-link\"]\n[lesson.client]\nstate = \"suspected\"\n\
             not_knowable = [\"server-processor\"]",
        );
        assert_eq!(less.both_ends.state, ExpectedState::Proven);
        assert_eq!(less.also, ["slow-link"]);
        assert_eq!(less.client.causes, ["server-disk"]);
        assert_eq!(less.client.state, ExpectedState::Suspected);
        assert_eq!(less.client.not_knowable, ["server-processor"]);
        let none = lesson("causes = [\"few-credits\"]\n[lesson.client]\ncauses = []");
        assert!(none.client.causes.is_empty());
    }
}
