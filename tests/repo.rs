//! The lists that the repository keeps in more than one place are equal. Each failure names what is missing, and where.

#![expect(clippy::disallowed_methods, reason = "reads the lists of the repository")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use hookless::limits::REGION_ENTRIES;
use hookless::{Class, Code, Limits};
use support::{root, typed, vectors};

/// Letters that rule numbers begin with.
const LETTERS: &str = "FVKDARXSLT";

/// A range of rules that still says where they are applied, such as A2–A5.
const NARROW: u32 = 4;

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Files below a folder whose names end so; build output and hidden folders are skipped.
fn files(folder: impl AsRef<Path>, ending: &str) -> Vec<PathBuf> {
    let path = root().join(folder);
    let mut found = Vec::new();
    for entry in fs::read_dir(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())) {
        let path = entry.expect("a folder that can be listed").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" && name != "__pycache__" {
                found.extend(files(&path, ending));
            }
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
    found
}

/// Cells of the rows of every Markdown table in a text.
fn rows(text: &str) -> impl Iterator<Item = Vec<String>> {
    text.lines().filter(|line| line.starts_with('|')).map(|line| {
        // `\|` is a bar inside a cell.
        let line = line.trim_matches('|').replace("\\|", "\0");
        line.split('|').map(|cell| cell.replace('\0', "|").trim().to_owned()).collect()
    })
}

/// The number of a rule: one of the letters, then digits.
fn rule(word: &str) -> Option<(char, u32)> {
    let letter = word.chars().next().filter(|&letter| LETTERS.contains(letter))?;
    let digits = &word[1..];
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok().map(|number| (letter, number)))?
}

/// Rule numbers in prose, with ranges such as F1–F4 written out. `"|S3"` or `X1y` is none. A range of more than `widest` rules is a
/// table of contents and names none of them.
fn mentioned(text: &str, widest: u32) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for word in text.split(|c: char| c.is_whitespace() || "(),.;:`".contains(c)) {
        let mut ends = word.split(['-', '–']).map(rule);
        match (ends.next().flatten(), ends.next(), ends.next()) {
            (Some((letter, first)), None, _) => {
                found.insert(format!("{letter}{first}"));
            }
            (Some((letter, first)), Some(Some((same, last))), None)
                if letter == same && last < first + widest =>
            {
                found.extend((first..=last).map(|number| format!("{letter}{number}")));
            }
            _ => (),
        }
    }
    found
}

/// The rules of `proto/`, each with its row.
fn rules() -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for file in files("proto", ".md") {
        for row in rows(&read(&file)) {
            if row.first().is_some_and(|cell| rule(cell).is_some()) {
                let number = row[0].clone();
                assert!(found.insert(number.clone(), row).is_none(), "two rules {number} in proto/");
            }
        }
    }
    assert!(
        found.len() > 60,
        "only {} rules found in proto/: has the form of its tables changed?",
        found.len()
    );
    found
}

/// S rules are about a conversation, and rules whose code is – refuse nothing: a test shows them, not a vector.
fn needs_a_vector(number: &str, row: &[String]) -> bool {
    !number.starts_with('S') && !row.iter().skip(2).any(|cell| cell == "–")
}

/// What the tests say of rules: comments, docstrings, and the parts of test names.
fn mentioned_in_tests() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let crate_tests = files("crates", ".rs");
    for file in files("tests", ".rs").iter().chain(&files("bindings/python/tests", ".py")).chain(&crate_tests)
    {
        if file.ends_with("tests/repo.rs") {
            continue;
        }
        let text = read(file);
        let tests = match (crate_tests.contains(file), text.split_once("#[cfg(test)]")) {
            (false, _) => &text[..],
            (true, Some((_, tests))) => tests,
            (true, None) => continue,
        };
        found.extend(mentioned(tests, NARROW));
        for line in tests.lines().map(str::trim_start) {
            if let Some(name) = line.strip_prefix("fn ").or(line.strip_prefix("def test_")) {
                let name = name.split('(').next().unwrap_or_default().to_uppercase();
                found.extend(name.split('_').filter(|part| rule(part).is_some()).map(str::to_owned));
            }
        }
    }
    found
}

fn complain(what: &str, missing: impl IntoIterator<Item = impl AsRef<str>>) {
    let missing: Vec<_> = missing.into_iter().map(|one| one.as_ref().to_owned()).collect();
    assert!(missing.is_empty(), "{what}: {}", missing.join(", "));
}

#[test]
fn every_rule_has_a_vector_or_a_test() {
    let shown = vectors::accept().into_iter().chain(vectors::reject()).flat_map(|vector| vector.rules);
    let of_types = typed::accept().into_iter().chain(typed::reject()).flat_map(|vector| vector.rules);
    let shown: BTreeSet<_> = shown.chain(of_types).collect();
    let tested = mentioned_in_tests();
    let rules = rules();
    complain(
        "rules in vectors that proto/ does not know",
        shown.iter().filter(|number| !rules.contains_key(*number)),
    );
    let missing = |wanted| {
        rules
            .iter()
            .filter(move |(number, row)| needs_a_vector(number, row) == wanted)
            .map(|(number, _)| number)
    };
    complain("rules without a vector", missing(true).filter(|number| !shown.contains(*number)));
    complain(
        "rules without a vector, and named by no test",
        missing(false).filter(|number| !shown.contains(*number) && !tested.contains(*number)),
    );
}

#[test]
fn every_rule_stands_in_a_doc_comment() {
    let mut found = BTreeSet::new();
    for file in files("crates", ".rs") {
        let text = read(file);
        // A macro's `#[doc = $doc]` makes docs of strings, which then begin with the rule: `"L1: …"`.
        let makes_docs = text.contains("#[doc = $");
        for line in text.lines().map(str::trim_start) {
            if line.starts_with("///") || line.starts_with("//!") {
                found.extend(mentioned(line, NARROW));
            } else if makes_docs {
                let first = line.split('"').nth(1).and_then(|string| string.split_once(':'));
                found.extend(
                    first.filter(|(number, _)| rule(number).is_some()).map(|(number, _)| number.to_owned()),
                );
            }
        }
    }
    let rules = rules();
    complain(
        "rules that no doc comment under crates/ names",
        rules.keys().filter(|number| !found.contains(*number)),
    );
    complain(
        "rules in doc comments that proto/ does not know",
        found.iter().filter(|number| !rules.contains_key(*number)),
    );
}

#[test]
fn proto_readme_names_the_range_of_rules_of_each_file() {
    let (text, rules) = (read("proto/README.md"), rules());
    let named: BTreeSet<_> = rows(&text)
        .filter_map(|row| row.get(2).cloned())
        .flat_map(|cell| mentioned(&cell, u32::MAX / 2))
        .collect();
    complain(
        "rules outside the ranges of proto/README.md",
        rules.keys().filter(|number| !named.contains(*number)),
    );
    complain(
        "rules in the ranges of proto/README.md only",
        named.iter().filter(|number| !rules.contains_key(*number)),
    );
}

/// Code and class of each row of `proto/errors.md`.
fn documented_codes() -> Vec<(String, String)> {
    let coded = |row: Vec<String>| {
        let code = row.first()?.strip_prefix('`')?.strip_suffix('`')?.to_owned();
        Some((code, row.get(1)?.clone()))
    };
    rows(&read("proto/errors.md")).filter_map(coded).collect()
}

#[test]
fn codes_are_those_of_the_document() {
    let class = |code: &Code| match code.class() {
        Class::Wire => "wire",
        Class::Limit => "limit",
        Class::Environment => "environment",
        Class::Encode => "encode",
        Class::Session => "session",
    };
    let ours: Vec<_> =
        Code::ALL.iter().map(|code| (code.as_str().to_owned(), class(code).to_owned())).collect();
    let documented = documented_codes();
    let lacks = |list: &[(String, String)], of: &[(String, String)]| {
        of.iter()
            .filter(|one| !list.contains(one))
            .map(|(code, class)| format!("{code} ({class})"))
            .collect::<Vec<_>>()
    };
    complain("codes that proto/errors.md lacks, or gives another class", lacks(&documented, &ours));
    complain("codes that Code::ALL lacks, or gives another class", lacks(&ours, &documented));
    assert_eq!(ours, documented, "Code::ALL and proto/errors.md differ in order");
}

#[test]
fn codes_are_those_of_the_python_literal() {
    let folder = "bindings/python/python/hookless";
    let stubs = ["_hookless.pyi", "errors.py"].map(|name| root().join(folder).join(name));
    let texts: Vec<_> = stubs.iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
    // `Code = Literal[`, private or not, perhaps with an annotation.
    let literal = texts.iter().find_map(|text| {
        let (before, after) = text.split_once("= Literal[")?;
        let line = before.lines().last()?;
        line.trim_start_matches('_').starts_with("Code").then(|| after.split(']').next().unwrap_or_default())
    });
    let literal =
        literal.unwrap_or_else(|| panic!("no `Code = Literal[` in _hookless.pyi or errors.py of {folder}"));
    let python: BTreeSet<_> = literal.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    let ours: BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str().to_owned()).collect();
    complain("codes that the Python Literal lacks", ours.difference(&python));
    complain("codes of the Python Literal that Code::ALL lacks", python.difference(&ours));
}

#[test]
fn every_code_of_wire_and_limit_has_a_reject_vector() {
    let shown: BTreeSet<_> =
        vectors::reject().into_iter().filter_map(|vector| vector.error).map(|(code, _)| code).collect();
    // The codes of S rules are about a conversation.
    let meanings: BTreeMap<_, _> = rows(&read("proto/errors.md"))
        .filter_map(|row| Some((row.first()?.replace('`', ""), row.get(3)?.clone())))
        .collect();
    let cites_session = |text: &String| mentioned(text, NARROW).iter().any(|number| number.starts_with('S'));
    let of_session = |code: &Code| meanings.get(code.as_str()).is_some_and(cites_session);
    let wanted = Code::ALL
        .iter()
        .filter(|code| matches!(code.class(), Class::Wire | Class::Limit) && !of_session(code));
    complain(
        "codes without a reject vector",
        wanted.map(|code| code.as_str()).filter(|code| !shown.contains(*code)),
    );
    let known = |code: &String| Code::ALL.iter().any(|one| one.as_str() == code);
    complain("codes in vectors that nothing has", shown.iter().filter(|code| !known(code)));
}

/// `256 MiB`, `32 Mi` or `65 536` as a number.
fn number(text: &str) -> Option<u64> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c.is_whitespace());
    let digits: String = text[..text.len() - unit.len()].split_whitespace().collect();
    let scale = match unit.trim_end_matches('B') {
        "" => 0,
        "Ki" => 10,
        "Mi" => 20,
        "Gi" => 30,
        "Ti" => 40,
        _ => return None,
    };
    digits.parse::<u64>().ok().map(|number| number << scale)
}

/// Name, default and ceiling of each limit in `proto/limits.md`; L7 has several in one cell: `` `chain` 64 (128), ``….
fn documented_limits() -> Vec<(String, u64, u64)> {
    let parsed = |name: &str, default: &str, ceiling: &str| {
        let wrong = || panic!("proto/limits.md: cannot read {name} {default} {ceiling}");
        (name.to_owned(), number(default).unwrap_or_else(wrong), number(ceiling).unwrap_or_else(wrong))
    };
    let mut found = Vec::new();
    for row in rows(&read("proto/limits.md")).filter(|row| row.len() == 6 && rule(&row[0]).is_some()) {
        let names: Vec<_> = row[1].split('`').collect();
        match &names[..] {
            ["", name, ""] => found.push(parsed(name, &row[2], &row[3])),
            several => {
                for pair in several[1..].chunks(2).filter(|pair| pair.len() == 2) {
                    let (default, rest) = pair[1].split_once('(').unwrap_or((pair[1], ""));
                    found.push(parsed(pair[0], default.trim(), rest.split(')').next().unwrap_or_default()));
                }
            }
        }
    }
    found
}

#[test]
fn limits_are_those_of_the_document() {
    let documented = documented_limits();
    let ours: Vec<_> =
        Limits::TABLE.iter().map(|&(name, default, ceiling)| (name.to_owned(), default, ceiling)).collect();
    let lacks = |list: &[(String, u64, u64)], of: &[(String, u64, u64)]| {
        of.iter().filter(|one| !list.contains(one)).map(|one| format!("{one:?}")).collect::<Vec<_>>()
    };
    complain("limits (name, default, ceiling) that proto/limits.md lacks", lacks(&documented, &ours));
    complain("limits (name, default, ceiling) that Limits::TABLE lacks", lacks(&ours, &documented));
    let defaults: Vec<_> = documented.iter().map(|(name, default, _)| (name.as_str(), *default)).collect();
    assert_eq!(
        Limits::default().entries().collect::<Vec<_>>(),
        defaults,
        "Limits::default() and proto/limits.md"
    );
    for (name, _, ceiling) in &documented {
        assert!(
            Limits::default().with(name, *ceiling).is_some(),
            "{name} cannot be set to its ceiling {ceiling}"
        );
        assert!(
            Limits::default().with(name, ceiling + 1).is_none(),
            "{name} can be set past its ceiling {ceiling}"
        );
    }
    let entries = rows(&read("proto/limits.md")).find(|row| row[0] == "L8").and_then(|row| number(&row[2]));
    assert_eq!(entries, Some(REGION_ENTRIES), "L8 and REGION_ENTRIES");
}

/// The three profiles, limit by limit.
#[test]
fn profiles_are_those_of_the_document() {
    let text = read("proto/limits.md");
    let named = |row: &Vec<String>| row.len() == 5 && row[0].starts_with('`');
    let documented: Vec<_> = rows(&text)
        .filter(named)
        .map(|row| (row[0].trim_matches('`').to_owned(), [1, 2, 3].map(|column| number(&row[column]))))
        .collect();
    let profiles = [Limits::strict(), Limits::default(), Limits::generous()];
    let ours: Vec<_> = Limits::TABLE
        .iter()
        .enumerate()
        .map(|(index, (name, ..))| {
            let value = |limits: &Limits| limits.entries().nth(index).map(|(_, value)| value);
            ((*name).to_owned(), [value(&profiles[0]), value(&profiles[1]), value(&profiles[2])])
        })
        .collect();
    assert_eq!(documented, ours, "proto/limits.md, Profiles, and Limits");
    for (name, [strict, default, generous]) in ours {
        let ceiling = Limits::TABLE.iter().find(|row| row.0 == name).map(|row| row.2);
        assert!(strict < default && default < generous && generous <= ceiling, "{name}");
    }
}

#[test]
fn readme_folder_map_is_complete() {
    let (readme, ignored) = (read("README.md"), read(".gitignore"));
    let ignored: BTreeSet<_> = ignored.lines().map(|line| line.trim_matches('/')).collect();
    let folders: BTreeSet<String> = fs::read_dir(root())
        .expect("the workspace can be listed")
        .map(|entry| entry.expect("the workspace can be listed").path())
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with('.') && !ignored.contains(name.as_str()))
        .collect();
    // A line of the map begins with the folder: `proto/`, perhaps in a table or a list.
    let named = readme.lines().filter_map(|line| {
        let (name, _) = line.trim_start_matches(['|', ' ', '-', '*', '`', '[']).split_once('/')?;
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-').then(|| name.to_owned())
    });
    let named: BTreeSet<_> = named.collect();
    complain("folders that the map in README.md lacks", folders.difference(&named));
    complain(
        "folders of the map in README.md that do not exist",
        named.iter().filter(|name| !root().join(name).is_dir()),
    );
}

/// Places in a source file where unsafe code begins: blocks, functions, impls and foreign declarations.
fn unsafe_places(text: &str) -> usize {
    let code: Vec<_> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let kinds = ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"];
    kinds.iter().map(|kind| code.join("\n").matches(kind).count()).sum()
}

#[test]
fn unsafe_inventory_is_that_of_the_sources() {
    let folder = "bindings/python/src";
    let mut found = BTreeMap::new();
    for file in files(folder, ".rs") {
        let count = unsafe_places(&read(&file));
        let name = file.strip_prefix(root().join(folder)).expect("a file in that folder").to_owned();
        if count > 0 {
            found.insert(name.to_string_lossy().into_owned(), count);
        }
    }
    let listed: BTreeMap<_, _> = rows(&read("SECURITY.md"))
        .filter_map(|row| {
            let name = row.first()?.trim_matches('`').to_owned();
            let count = row.get(1)?.parse().ok()?;
            name.ends_with(".rs").then_some((name, count))
        })
        .collect();
    assert_eq!(found, listed, "left: unsafe places of {folder}; right: the table of SECURITY.md");
    for name in found.keys() {
        assert!(name.starts_with("ffi/") || name == "array.rs", "unsafe code outside of ffi/: {name}");
    }
    for package in ["hookless", "hookless-sandbox", "hookless-tokio"] {
        let lib = read(format!("crates/{package}/src/lib.rs"));
        assert!(lib.contains("#![forbid(unsafe_code)]"), "{package} does not forbid unsafe code");
    }
}

#[test]
fn rule_numbers_are_found_in_prose() {
    let found = mentioned("F1 (V2, `K3`): A4–A6, L1-L2. Not \"|S3\", X, X1y, S1–L3 or V1–V18", NARROW);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["A4", "A5", "A6", "F1", "K3", "L1", "L2", "V2"]);
    assert_eq!(
        ["256 MiB", "32 Mi", "65 536", "1 TiB", "–"].map(number),
        [Some(256 << 20), Some(32 << 20), Some(65_536), Some(1 << 40), None]
    );
}
