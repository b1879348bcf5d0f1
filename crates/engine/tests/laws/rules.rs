//! What a rule can do to an answer, and what no rule can.

use portcullis_engine::{Mode, Outcome};
use portcullis_law::law;
use proptest::prelude::*;
use proptest::sample::select;

use crate::around::{WRAPPERS, is_simple};
use crate::samples::{RULES, command, mode, one, policy, rules, verdict};

#[test]
fn a_deny_rule_holds_in_every_mode() {
    law((command(), rules(), rules(), mode()), |(command, allow, deny, mode)| {
        let denied = verdict(&policy(Mode::Bypass, &[], &[], &deny), &command);
        let by_rule = denied.acts.iter().any(|act| act.reason.code == "rule.deny");
        let answer = verdict(&policy(mode, &allow, &[], &deny), &command);
        prop_assert!(!by_rule || answer.outcome == Outcome::Deny, "{} {:?}", command, deny);
        Ok(())
    });
}

#[test]
fn a_command_is_denied_by_its_own_first_words() {
    let wrapper = prop_oneof![Just(""), select(&WRAPPERS[..])];
    law((one(), 1..4_usize, wrapper, rules(), mode()), |(command, count, wrapper, allow, mode)| {
        prop_assume!(
            is_simple(command) && !command.contains(['\'', '"', '\\', '*', '?', '#', ':'])
        );
        let words: Vec<&str> = command.split(' ').take(count).collect();
        let rule = format!("Bash({}:*)", words.join(" "));
        let answer = verdict(&policy(mode, &allow, &[], &[&rule]), &format!("{wrapper} {command}"));
        prop_assert_eq!(answer.outcome, Outcome::Deny, "`{} {}` by `{}`", wrapper, command, rule);
        Ok(())
    });
}

#[test]
fn a_stricter_rule_never_loosens() {
    let strategy = (command(), rules(), rules(), rules(), select(&RULES[..]), mode());
    law(strategy, |(command, allow, ask, deny, rule, mode)| {
        let before = verdict(&policy(mode, &allow, &ask, &deny), &command).outcome;
        let more_deny = [&deny[..], &[rule]].concat();
        let after = verdict(&policy(mode, &allow, &ask, &more_deny), &command).outcome;
        prop_assert!(after >= before, "{command} with deny {rule} in {}", mode.name());
        if mode != Mode::Explore {
            let more_ask = [&ask[..], &[rule]].concat();
            let after = verdict(&policy(mode, &allow, &more_ask, &deny), &command).outcome;
            prop_assert!(after >= before, "{command} with ask {rule} in {}", mode.name());
        }
        Ok(())
    });
}

#[test]
fn dont_ask_never_asks() {
    law((command(), rules(), rules()), |(command, allow, ask)| {
        let answer = verdict(&policy(Mode::DontAsk, &allow, &ask, &[]), &command);
        prop_assert_ne!(answer.outcome, Outcome::Ask);
        Ok(())
    });
}

#[test]
fn an_allow_rule_changes_only_what_it_covers() {
    let strategy = (command(), rules(), rules(), select(&RULES[..]), mode());
    law(strategy, |(command, allow, ask, rule, mode)| {
        let before = verdict(&policy(mode, &allow, &ask, &[]), &command);
        let more = [&allow[..], &[rule]].concat();
        let after = verdict(&policy(mode, &more, &ask, &[]), &command);
        prop_assert_eq!(before.acts.len(), after.acts.len());
        for (before, after) in before.acts.iter().zip(&after.acts) {
            let by_rule = after.rule.as_deref() == Some(rule);
            prop_assert!(before.outcome == after.outcome || by_rule, "{command} with allow {rule}");
            prop_assert!(after.outcome <= before.outcome);
            prop_assert_eq!(before.tier, after.tier, "a rule never changes the tier");
        }
        Ok(())
    });
}

#[test]
fn accepting_every_suggestion_answers_the_question() {
    law((command(), rules()), |(command, allow)| {
        let asked = verdict(&policy(Mode::Default, &allow, &[], &[]), &command);
        let offered: Vec<&str> =
            asked.suggestions.iter().map(|suggestion| suggestion.rule.as_str()).collect();
        let more = [&allow[..], &offered].concat();
        let after = verdict(&policy(Mode::Default, &more, &[], &[]), &command);
        // Only five are given, however many there would have to be.
        let is_cut = offered.len() == 5;
        prop_assert!(
            offered.is_empty() || is_cut || after.outcome == Outcome::Allow,
            "{command}: {offered:?}"
        );
        Ok(())
    });
}
