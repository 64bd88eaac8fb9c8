//! Why a candidate was kept or put back, without what a report says of it elsewhere.

use locale::{Argument, Language, Message, PLAIN};

/// The first of several reasons.
pub(super) fn first_clause(reason: &Message) -> &Message {
    match reason.argument("clauses") {
        Some(Argument::Clauses(clauses)) => clauses.first().unwrap_or(reason),
        _ => reason,
    }
}

/// What a screening has found of a candidate that was not worth a proof.
pub(super) fn found_in_screening(reason: &Message) -> Option<&Message> {
    match (reason.id, reason.argument("found")) {
        ("decided.screened-out", Some(Argument::Message(found))) => Some(found),
        _ => None,
    }
}

/// A reason without the effects that it repeats as numbers, `read 1.054 [1.045, 1.073] better`, and
/// without how many blocks would settle it where that is said already.
pub(super) fn without_effects(reason: &Message, is_settling_said: bool) -> Option<Message> {
    match reason.id {
        PLAIN => {
            let text = without_numbers(&Language::English.say(reason), is_settling_said);
            (!text.is_empty()).then(|| text.into())
        }
        _ => shortened(reason, is_settling_said),
    }
}

fn shortened(reason: &Message, is_settling_said: bool) -> Option<Message> {
    let is_said = match reason.id {
        "decided.compared" | "decided.all-blocks" => true,
        "decided.blocks-needed" => is_settling_said,
        _ => false,
    };
    let is_whole_without = matches!(
        reason.id,
        "decided.costs"
            | "decided.not-proven"
            | "decided.no-difference"
            | "decided.against-rest"
            | "decided.against-start"
    );
    let arguments = reason.arguments.iter().filter_map(|(name, argument)| {
        let argument = match argument {
            Argument::Message(message) => shortened(message, is_settling_said)?.into(),
            Argument::Clauses(clauses) => {
                let clauses = clauses.iter();
                let clauses = clauses.filter_map(|clause| shortened(clause, is_settling_said));
                let clauses: Vec<Message> = clauses.collect();
                (!clauses.is_empty()).then_some(Argument::Clauses(clauses))?
            }
            Argument::Series(_) if is_whole_without => return None,
            argument => argument.clone(),
        };
        Some((*name, argument))
    });
    let short = Message {
        id: reason.id,
        arguments: arguments.collect(),
    };
    let is_nothing = short.id == "decided.clauses" && short.arguments.is_empty();
    (!is_said && !is_nothing).then_some(short)
}

/// The same of a reason as older programs wrote it: a text alone.
fn without_numbers(reason: &str, is_settling_said: bool) -> String {
    let is_effect = |text: &str| {
        let number = text
            .strip_prefix("read ")
            .or_else(|| text.strip_prefix("write "));
        number.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    let mut clauses: Vec<&str> = Vec::new();
    for clause in reason.split("; ") {
        // The parts before the first effect: `not confirmed: it costs something`.
        let mut end = 0;
        let mut has_effect = false;
        for part in clause.split_inclusive(": ") {
            if is_effect(part) {
                has_effect = true;
                break;
            }
            end += part.len();
        }
        let kept = if has_effect {
            clause[..end].trim_end_matches(": ")
        } else {
            clause
        };
        let phases = ["compare", "confirm", "all blocks", "before that: compare"];
        let is_phase = has_effect && phases.contains(&kept);
        let settles = is_settling_said && kept.ends_with(" blocks would settle it");
        if kept.is_empty() || is_phase || settles {
            continue;
        }
        // `not better in the same response twice: compare`
        clauses.push(match has_effect {
            true => kept.trim_end_matches(": compare"),
            false => kept,
        });
    }
    clauses.join("; ")
}

#[cfg(test)]
mod tests {
    use locale::say;

    use super::*;

    /// Reasons as `tune` wrote them before there were messages beside them.
    #[test]
    fn reasons_without_the_numbers_that_stand_above_them() {
        let effects = "read 0.963 [0.767, 1.000] worse, write 0.716 [0.473, 1.000] undecided";
        let cases = [
            (
                format!("it costs something: {effects}; about 8 blocks would settle it"),
                "it costs something; about 8 blocks would settle it",
            ),
            (
                format!("it makes no difference that matters: {effects}; 2 trials failed"),
                "it makes no difference that matters; 2 trials failed",
            ),
            (format!("compare: {effects}; confirm: {effects}"), ""),
            (format!("compare: {effects}; all blocks: {effects}"), ""),
            (
                format!("compare: {effects}; not confirmed: not proven: {effects}"),
                "not confirmed: not proven",
            ),
            (
                format!(
                    "not better in the same response twice: compare: {effects}; confirm: {effects}"
                ),
                "not better in the same response twice",
            ),
            (
                format!("put back because tune was stopped; before that: compare: {effects}"),
                "put back because tune was stopped",
            ),
            (
                "3 trials failed; the last: cannot read: it timed out".into(),
                "3 trials failed; the last: cannot read: it timed out",
            ),
            (
                "undecided: the baseline differed from itself (read 1.06 [1.03, 1.09]), so nothing"
                    .into(),
                "undecided: the baseline differed from itself (read 1.06 [1.03, 1.09]), so nothing",
            ),
            (String::new(), ""),
        ];
        for (reason, short) in cases {
            assert_eq!(without_numbers(&reason, false), short);
        }
        let settled = format!("not proven: {effects}; about 8 blocks would settle it");
        assert_eq!(without_numbers(&settled, true), "not proven");
    }

    fn clauses(clauses: Vec<Message>) -> Message {
        say("decided.clauses").with("clauses", Argument::Clauses(clauses))
    }

    #[test]
    fn reasons_are_said_without_the_effects_that_stand_above_them() {
        let effect = say("decided-effect.judged")
            .with("direction", say("direction.read"))
            .with("ratio", "0.963")
            .with("interval", "0.767, 1.000")
            .with("verdict", say("verdict.worse"));
        let with = |id| say(id).with("effects", Argument::Series(vec![effect.clone()]));
        let settles = say("decided.blocks-needed").count("blocks", 8_u64);
        let lost = || clauses(vec![with("decided.costs"), settles.clone()]);
        let not_confirmed = say("decided.not-confirmed").with("reason", lost());
        let won = vec![with("decided.compared"), with("decided.all-blocks")];
        let put_back = |before: Message| {
            say("decided.put-back")
                .with("why", say("decided.stopped"))
                .with("before", before)
        };
        let not_borne_out =
            say("decided.not-borne-out").with("reason", Argument::Clauses(won.clone()));
        let cases = [
            (
                lost(),
                false,
                "it costs something; about 8 blocks would settle it",
            ),
            (lost(), true, "it costs something"),
            (
                clauses(vec![with("decided.compared"), not_confirmed]),
                true,
                "not confirmed: it costs something",
            ),
            (clauses(won.clone()), false, ""),
            (
                put_back(clauses(won)),
                false,
                "put back because tune was stopped",
            ),
            (
                put_back(with("decided.against-rest")),
                false,
                "put back because tune was stopped; before that: against all the rest without it",
            ),
            (not_borne_out, false, "the fresh trials do not bear it out"),
            (
                with("decided.baseline-differed"),
                false,
                "undecided: the baseline differed from itself (read 0.963 [0.767, 1.000] worse), \
                 so no difference here can be believed",
            ),
        ];
        for (reason, is_settling_said, text) in cases {
            let short = without_effects(&reason, is_settling_said);
            let short = short.map(|short| Language::English.say(&short));
            assert_eq!(short.unwrap_or_default(), text);
        }
    }
}
