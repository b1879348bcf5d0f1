//! One suite, every implementation: what the trait promises, races included.
//!
//! A law is an async function over a [`place::Place`], where stores can be opened. To add an
//! implementation, write its place and a module that says what is done with the laws.

#![cfg(test)]

#[path = "conformance/asks.rs"]
mod asks;
#[path = "conformance/audit.rs"]
mod audit;
#[path = "conformance/claims.rs"]
mod claims;
#[path = "conformance/devices.rs"]
mod devices;
#[path = "conformance/file.rs"]
mod file;
#[path = "conformance/grants.rs"]
mod grants;
#[path = "conformance/keys.rs"]
mod keys;
#[path = "conformance/kill.rs"]
mod kill;
#[path = "conformance/nodes.rs"]
mod nodes;
#[path = "conformance/place.rs"]
mod place;
#[path = "conformance/races.rs"]
mod races;
#[path = "conformance/restart.rs"]
mod restart;
#[path = "conformance/retention.rs"]
mod retention;
#[path = "conformance/runs.rs"]
mod runs;
#[path = "conformance/samples.rs"]
mod samples;

/// Every law, by its room; `$suite` says what is done with them.
macro_rules! laws {
    ($suite:ident) => {
        $suite! {
        asks::{
            an_ask_reads_back_as_it_was_opened,
            several_asks_are_read_at_once,
            a_decision_reads_back_as_it_was_made,
            the_same_call_is_found_in_any_state,
            an_identical_call_that_is_pending_is_joined,
            the_asks_of_a_key_that_are_pending_take_bounded_room,
            no_more_asks_of_a_key_are_pending_than_may_be,
            an_ask_is_settled_once,
            filters_name_what_they_say,
            the_riskiest_come_first_and_of_those_the_newest,
            what_is_due_comes_by_its_deadline,
        },
        claims::{
            an_approval_is_claimed_once_within_its_time,
            what_was_not_allowed_is_not_claimed,
            an_identical_call_claims_an_unused_approval,
            the_same_call_does_not_live_on_an_approval_that_is_too_old,
            an_approval_of_an_access_is_for_its_run,
            what_is_opened_found_or_claimed_is_recorded_with_it,
            an_approval_with_a_grant_is_used_by_the_grant,
        },
        races::{
            of_racing_answers_exactly_one_counts,
            of_racing_calls_exactly_one_opens_the_ask,
            of_racing_calls_exactly_one_claims_the_approval,
            of_racing_claims_exactly_one_gets_it,
            of_racing_uses_exactly_one_gets_the_last,
            racing_calls_stay_below_the_cap,
            of_racing_runs_and_keys_exactly_one_is_stored,
        },
        grants::{
            a_grant_reads_back_as_it_was_made,
            a_use_is_taken_from_what_is_left,
            what_is_gone_is_not_used,
            good_grants_are_told_from_others,
            a_run_takes_its_grants_with_it,
        },
        keys::{
            a_key_reads_back_as_it_was_made,
            a_name_is_taken_while_its_key_counts,
            a_key_is_revoked_once,
        },
        devices::{
            a_token_is_taken_once,
            a_device_counts_until_it_is_revoked,
        },
        runs::{
            the_first_root_of_a_session_stays,
            the_policy_of_a_session_is_set_and_taken_back,
            a_run_starts_and_ends_once,
            a_run_is_changed_by_one_of_several,
        },
        audit::{
            entries_stand_in_order_in_one_chain,
            what_fails_leaves_no_entry,
            filters_name_what_they_say,
            untidy_data_does_not_break_the_chain,
            the_bell_tells_the_newest_position,
            checkpoints_are_kept,
            a_closed_store_refuses,
        },
        restart::{
            everything_is_there_again,
            two_stores_write_one_chain,
            another_node_has_its_own_chain,
            the_bell_hears_the_other_store,
        },
        retention::{
            what_is_old_goes_and_the_rest_stays,
            the_chain_begins_behind_a_checkpoint,
            without_a_checkpoint_no_entry_goes,
            a_wrong_checkpoint_is_no_base,
            what_is_too_large_gets_smaller,
        },
        kill::{
            nothing_acknowledged_is_lost,
        },
            }
    };
}

/// Each law as a test in a file of its own.
macro_rules! on_files {
    ($($room:ident::{$($law:ident),* $(,)?}),* $(,)?) => {
        $(mod $room {
            use crate::place::Place;

            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $law() {
                crate::$room::$law(&crate::place::OneFile::new()).await;
            })*
        })*
    };
}

mod sqlite {
    laws!(on_files);
}

/// Each law in a schema of its own, in one database: making one takes longer than most laws.
macro_rules! in_a_database {
    ($($room:ident::{$($law:ident),* $(,)?}),* $(,)?) => {
        #[test]
        fn every_law_holds() {
            let house = crate::place::House::start();
            let mut broken = Vec::new();
            $($(
                let law = concat!(stringify!($room), "::", stringify!($law));
                let done = house.run(law, |place| async move {
                    crate::$room::$law(&place).await;
                });
                if !done {
                    broken.push(law);
                }
            )*)*
            assert!(broken.is_empty(), "not on PostgreSQL: {broken:?}");
        }
    };
}

mod postgres {
    laws!(in_a_database);
}
