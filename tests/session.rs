//! Sessions of good, damaged and hostile frames, in any chunks and any order of both ends, have the course that the model of
//! `proto/session.md` has: S1–S7, S9–S17, L11, L12.

#![expect(clippy::print_stdout, reason = "the figures are asked for with --nocapture")]

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use support::mutate::Dice;
use support::session::Told;
use support::session::pair::pair;
use support::session::play::play;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_session_has_the_course_of_the_model(input in vec(any::<u8>(), 0..400)) {
        play(&input, false);
    }

    #[test]
    fn two_ends_have_the_course_of_the_model(input in vec(any::<u8>(), 0..800)) {
        pair(&input, false);
    }
}

/// Inputs of a seed.
fn inputs(count: usize, longest: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut dice = Dice(1);
    (0..count).map(move |_| (0..dice.below(longest)).map(|_| dice.roll() as u8).collect())
}

/// How often each thing was told, by name and without its numbers.
fn count(found: &mut BTreeMap<String, u32>, told: &[Told]) {
    for one in told {
        let name = match one {
            Told::Refused(code, _) => (*code).to_owned(),
            other => format!("{other:?}").split('(').next().unwrap_or_default().to_owned(),
        };
        *found.entry(name).or_insert(0) += 1;
    }
}

fn assert_found(found: &BTreeMap<String, u32>, wanted: &[&str]) {
    for one in wanted {
        assert!(found.get(*one).is_some_and(|count| *count >= 20), "{one}: {:?}", found.get(*one));
    }
}

/// What a session that goes on can tell.
const EVENTS: &[&str] = &[
    "Ready",
    "Opened",
    "Returned",
    "Failed",
    "Cancelled",
    "Item",
    "Progress",
    "Log",
    "Called",
    "Unwanted",
    "Credited",
    "Ending",
    "Ignored",
    "Done",
    "Ended",
    "unexpected_frame",
    "unknown_call",
    "no_credit",
    "truncated",
];

#[test]
fn the_courses_reach_all_that_can_happen() {
    let (mut found, mut longest) = (BTreeMap::new(), 0);
    for input in inputs(20_000, 400) {
        let told = play(&input, false);
        let answered = |one: &&Told| matches!(one, Told::Returned(_) | Told::Failed(_) | Told::Cancelled(_));
        longest = longest.max(told.iter().filter(answered).count());
        count(&mut found, &told);
    }
    println!("at most {longest} answers; {found:?}");
    let codes = [
        "open_call_limit",
        "bad_control",
        "bad_call",
        "bad_role",
        "version_mismatch",
        "bad_type",
        "bad_magic",
        "bad_version",
        "unknown_frame_kind",
        "bad_flags",
        "bad_call_id",
        "bad_length",
        "body_limit",
        "region_limit",
    ];
    let wanted = [EVENTS, &codes].concat();
    assert_found(&found, &wanted);
    assert!(found.len() > wanted.len() + 12, "the damage must reach the bodies");
    assert!(longest > 5, "sessions end too early: {longest} answers");
}

#[test]
fn pairs_reach_all_that_can_happen() {
    let (mut clean, mut faulty, mut longest) = (BTreeMap::new(), BTreeMap::new(), 0);
    for input in inputs(6000, 1600) {
        let course = pair(&input, false);
        for told in &course.told {
            count(if course.clean { &mut clean } else { &mut faulty }, told);
        }
        longest = longest.max(course.told[0].iter().filter(|one| matches!(one, Told::Opened(_))).count());
    }
    println!("at most {longest} calls; clean {clean:?}; faulty {faulty:?}");
    assert_found(&faulty, EVENTS);
    // Steps alone are refused where nothing is wrong with the frames; S10: the last may be under way when it ends.
    assert_found(
        &clean,
        EVENTS.iter().filter(|one| **one != "truncated").copied().collect::<Vec<_>>().as_slice(),
    );
    assert!(longest > 30, "sessions end too early: {longest} calls");
}

#[test]
fn the_planted_bug_is_found() {
    for course in [|input: &[u8]| drop(play(input, true)), |input: &[u8]| drop(pair(input, true))] {
        let found = std::panic::catch_unwind(move || inputs(10_000, 800).for_each(|input| course(&input)));
        assert!(found.is_err(), "frames of other calls were taken, and the model did not see it");
    }
}
