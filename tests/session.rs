//! Sessions of good, damaged and hostile frames, in any chunks, have the course that the model of `proto/session.md` has: S1–S7, S9, S10.

#![expect(clippy::print_stdout, reason = "the figures are asked for with --nocapture")]

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use support::mutate::Dice;
use support::session::Told;
use support::session::play::play;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn a_session_has_the_course_of_the_model(input in vec(any::<u8>(), 0..300)) {
        play(&input, false);
    }
}

/// The name of what was told, without its numbers.
fn name(told: Told) -> String {
    match told {
        Told::Refused(code, _) => code.to_owned(),
        other => format!("{other:?}").split('(').next().unwrap_or_default().to_owned(),
    }
}

#[test]
fn the_courses_reach_all_that_can_happen() {
    let mut dice = Dice(1);
    let (mut found, mut longest) = (BTreeMap::new(), 0);
    for _ in 0..20_000 {
        let input: Vec<u8> = (0..dice.below(300)).map(|_| dice.roll() as u8).collect();
        let told = play(&input, false);
        let answered = told.iter().filter(|one| matches!(one, Told::Returned(_) | Told::Failed(_)));
        longest = longest.max(answered.count());
        for one in told {
            *found.entry(name(one)).or_insert(0u32) += 1;
        }
    }
    println!("at most {longest} calls; {found:?}");
    let wanted = [
        "Ready",
        "Opened",
        "Returned",
        "Failed",
        "Called",
        "Answered",
        "Ended",
        "unexpected_frame",
        "unknown_call",
        "bad_control",
        "bad_call",
        "bad_role",
        "version_mismatch",
        "bad_type",
        "truncated",
        "bad_magic",
        "bad_version",
        "unknown_frame_kind",
        "bad_flags",
        "bad_call_id",
        "bad_length",
        "body_limit",
        "region_limit",
    ];
    for one in wanted {
        assert!(found.get(one).is_some_and(|count| *count >= 20), "{one}: {:?}", found.get(one));
    }
    assert!(found.len() > wanted.len() + 12, "the damage must reach the bodies");
    assert!(longest > 5, "sessions end too early: {longest} calls");
}

#[test]
fn the_planted_bug_is_found() {
    let mut dice = Dice(1);
    let found = std::panic::catch_unwind(move || {
        for _ in 0..10_000 {
            let input: Vec<u8> = (0..300).map(|_| dice.roll() as u8).collect();
            play(&input, true);
        }
    });
    assert!(found.is_err(), "answers of earlier calls were taken, and the model did not see it");
}
