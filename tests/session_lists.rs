//! The kinds of frames and the bounds of the session are those of `proto/`: F3, F5, F7, L11, L12, S15.

#![expect(clippy::disallowed_methods, reason = "reads the lists of the repository")]

use hookless::frame::FrameKind;
use hookless::limits::{CREDIT, OPEN_CALLS};
use hookless::session::TextLimits;

/// Cells of the rows of a document's tables.
fn rows(document: &str) -> Vec<Vec<String>> {
    let path = support::root().join("proto").join(document);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let cells = |line: &str| line.split('|').skip(1).map(|cell| cell.trim().to_owned()).collect();
    text.lines().filter(|line| line.starts_with('|')).map(cells).collect()
}

/// The numbers in a text, of which `65 536` is one.
fn numbers(text: &str) -> Vec<usize> {
    let text: Vec<char> = text.chars().collect();
    let joined = text.iter().enumerate().filter(|&(at, &one)| {
        let digit = |at: usize| text.get(at).is_some_and(char::is_ascii_digit);
        one != ' ' || !(at > 0 && digit(at - 1) && digit(at + 1))
    });
    let joined: String = joined.map(|(_, one)| one).collect();
    joined.split(|one: char| !one.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

#[test]
fn f3_f5_f7_the_kinds_are_those_of_the_document() {
    let documented: Vec<_> = rows("frame.md")
        .into_iter()
        .filter_map(|row| {
            let number: u8 = row[0].parse().ok()?;
            let ids = match &row[2][..] {
                "0" => (true, false),
                "not 0" => (false, true),
                "0 or not 0" => (true, true),
                other => panic!("call id {other}"),
            };
            Some((number, row[1].to_lowercase(), ids, row[3] != "control"))
        })
        .collect();
    let ours: Vec<_> = FrameKind::ALL
        .iter()
        .map(|kind| {
            assert_eq!(FrameKind::from_number(kind.number()), Some(*kind));
            let ids = (kind.takes_call_id(0), kind.takes_call_id(1) && kind.takes_call_id(u64::MAX));
            (kind.number(), kind.name().to_owned(), ids, kind.carries_value())
        })
        .collect();
    assert_eq!(ours, documented);
    assert_eq!(FrameKind::from_number(0).or(FrameKind::from_number(13)), None);
}

#[test]
fn l11_l12_s15_the_bounds_are_those_of_the_documents() {
    let limit = |rule: &str| {
        let rows = rows("limits.md");
        let row = rows.iter().find(|row| row[0] == rule).unwrap_or_else(|| panic!("no rule {rule}"));
        numbers(&row[2])
    };
    assert_eq!((limit("L11"), limit("L12")), (vec![OPEN_CALLS], vec![CREDIT as usize]));
    let body = |name: &str| {
        let rows = rows("session.md");
        let row = rows.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("no frame {name}"));
        row[2].split(',').filter(|part| part.contains("bytes")).flat_map(numbers).collect::<Vec<_>>()
    };
    assert_eq!(body("PROGRESS"), [TextLimits::PROGRESS]);
    let texts = [TextLimits::LOGGER, TextLimits::MESSAGE, TextLimits::PATH, TextLimits::FUNCTION];
    assert_eq!(body("LOG"), texts);
}
