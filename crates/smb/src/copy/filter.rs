//! Which files of a tree are copied.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use locale::{Message, say};

use crate::error::Error;

/// Patterns of files to take and to leave, as `*.jpg`, `raw/**` or `cache/`.
///
/// `*` and `?` stay within one name, `**` crosses folders, `[a-z]` and `{a,b}` are alternatives. A
/// pattern without `/` counts in every folder, one with `/` from the top of what is copied, and one
/// that ends in `/` for folders only.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    include: Option<GlobSet>,
    exclude: GlobSet,
    exclude_folders: GlobSet,
}

impl Filter {
    /// Takes files that match one of `include`, or all if there is none, unless they or a folder
    /// above them match one of `exclude`.
    ///
    /// # Errors
    /// [`Error::Pattern`] for a pattern that is none.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self, Error> {
        let mut includes = GlobSetBuilder::new();
        for pattern in include {
            add(&mut includes, pattern, pattern)?;
        }
        let (mut any, mut folders) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for pattern in exclude {
            match pattern.strip_suffix('/') {
                Some(folder) => add(&mut folders, folder, pattern)?,
                None => add(&mut any, pattern, pattern)?,
            }
        }
        let include_none = include.is_empty();
        Ok(Self {
            include: (!include_none).then(|| build(&includes)).transpose()?,
            exclude: build(&any)?,
            exclude_folders: build(&folders)?,
        })
    }

    /// Whether folders are made only where a file goes.
    pub(super) const fn is_selective(&self) -> bool {
        self.include.is_some()
    }

    /// Whether a file is taken; its path is relative to the top, with `/`.
    pub(super) fn takes_file(&self, path: &str) -> bool {
        self.include
            .as_ref()
            .is_none_or(|include| include.is_match(path))
            && !self.exclude.is_match(path)
    }

    /// Whether it leaves nothing out.
    pub(super) fn takes_all(&self) -> bool {
        self.include.is_none() && self.exclude.is_empty() && self.exclude_folders.is_empty()
    }

    /// Whether a folder is looked into.
    pub(super) fn takes_folder(&self, path: &str) -> bool {
        !self.exclude.is_match(path) && !self.exclude_folders.is_match(path)
    }
}

fn add(set: &mut GlobSetBuilder, pattern: &str, typed: &str) -> Result<(), Error> {
    let from_top = match pattern.strip_prefix('/') {
        Some(rest) => rest.to_owned(),
        None if pattern.contains('/') => pattern.to_owned(),
        None => format!("**/{pattern}"),
    };
    if pattern.trim_start_matches('/').is_empty() {
        return Err(wrong(typed, say("error-smb.pattern-empty")));
    }
    let glob = GlobBuilder::new(&from_top)
        .literal_separator(true)
        .build()
        .map_err(|error| not_read(typed, &error))?;
    set.add(glob);
    Ok(())
}

fn build(set: &GlobSetBuilder) -> Result<GlobSet, Error> {
    set.build().map_err(|error| not_read("", &error))
}

fn not_read(pattern: &str, error: &globset::Error) -> Error {
    wrong(pattern, error.kind().to_string().into())
}

fn wrong(pattern: &str, reason: Message) -> Error {
    Error::Pattern {
        pattern: pattern.to_owned(),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(include: &[&str], exclude: &[&str]) -> Filter {
        let owned = |list: &[&str]| -> Vec<String> {
            list.iter().map(|&pattern| pattern.to_owned()).collect()
        };
        Filter::new(&owned(include), &owned(exclude)).expect("good patterns")
    }

    #[test]
    fn all_is_taken_where_nothing_is_said() {
        let all = filter(&[], &[]);
        assert!(all.takes_file("a/b.c") && all.takes_folder("a") && !all.is_selective());
    }

    #[test]
    fn a_pattern_without_a_slash_counts_everywhere() {
        let photos = filter(&["*.jpg"], &["IMG_00*"]);
        assert!(photos.takes_file("a.jpg") && photos.takes_file("x/y/a.jpg"));
        assert!(!photos.takes_file("x/IMG_001.jpg") && !photos.takes_file("a.jpeg"));
        assert!(photos.takes_folder("x") && photos.is_selective());
    }

    #[test]
    fn a_pattern_with_a_slash_counts_from_the_top() {
        let some = filter(&[], &["/build", "x/*.o", "raw/**", "cache/"]);
        assert!(!some.takes_folder("build") && some.takes_folder("x/build"));
        assert!(!some.takes_file("x/a.o") && some.takes_file("x/y/a.o"));
        assert!(!some.takes_file("raw/a/b"));
        assert!(!some.takes_folder("a/cache") && some.takes_file("a/cache"));
    }

    #[test]
    fn a_pattern_that_is_none_is_named() {
        for empty in ["", "/"] {
            assert!(Filter::new(&[], &[empty.to_owned()]).is_err(), "{empty}");
        }
        let wrong = Filter::new(&["a[".to_owned()], &[]).expect_err("no pattern");
        assert!(wrong.to_string().contains("`a[`"), "{wrong}");
    }
}
