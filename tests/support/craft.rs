//! Frames that are almost valid: a frame is taken apart into its MessagePack items, a few of them are damaged or replaced, and lengths,
//! counts and the order of set members are mostly put right again, so that the damage is met deep in the reader.

mod item;

use std::cell::RefCell;
use std::sync::LazyLock;

use hookless::{Limits, Value, encode};
use proptest::strategy::{BoxedStrategy, Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::generate;
use crate::mutate::{Dice, mutate};
use crate::vectors::{accept, wrap};
use item::{Item, Kind};

/// A damaged frame of at most so many bytes, by a seed: what a fuzzer calls.
pub fn fuzzed(frame: &[u8], most: usize, seed: u32) -> Vec<u8> {
    let mut dice = Dice(seed.into());
    let mut bytes = if dice.below(4) == 0 { mutate(frame, &mut dice) } else { craft(frame, &mut dice) };
    bytes.truncate(most);
    bytes
}

/// As [`fuzzed`], for a stream of several frames: one of them is damaged, said twice, or another one added.
pub fn fuzzed_stream(stream: &[u8], most: usize, seed: u32) -> Vec<u8> {
    let mut dice = Dice(u64::from(seed) << 1);
    let mut frames: Vec<Vec<u8>> = split(stream).into_iter().map(<[u8]>::to_vec).collect();
    let at = dice.below(frames.len());
    match dice.below(8) {
        0 => frames.insert(at, wrap(&POOL[dice.below(POOL.len())].encoded(), &[])),
        1 => frames.insert(at, frames.get(at).cloned().unwrap_or_default()),
        2 if frames.len() > 1 => drop(frames.remove(at)),
        3 if frames.get(at).is_some_and(|frame| frame.len() > 32) => {
            frames[at][5] = dice.below(7) as u8;
            frames[at][15] = dice.below(3) as u8;
        }
        _ => {
            let damaged = fuzzed(frames.get(at).map_or(&[], Vec::as_slice), most, dice.roll() as u32);
            frames.splice(at..(at + 1).min(frames.len()), [damaged]);
        }
    }
    let mut bytes = frames.concat();
    bytes.truncate(most);
    bytes
}

/// The frames of a stream by the lengths in their heads; what is no frame comes last.
pub fn split(mut stream: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    while let Some(head) = stream.first_chunk::<32>() {
        let long = |at: usize| u64::from_be_bytes(head[at..at + 8].try_into().expect("eight bytes"));
        let body = long(16).saturating_add(32);
        let whole = if long(24) == 0 {
            Some(body)
        } else {
            body.checked_next_multiple_of(64).and_then(|at| at.checked_add(long(24)))
        };
        let Some(whole) = whole.and_then(|len| usize::try_from(len).ok()).filter(|&len| len <= stream.len())
        else {
            break;
        };
        let (frame, rest) = stream.split_at(whole);
        found.push(frame);
        stream = rest;
    }
    if !stream.is_empty() || found.is_empty() {
        found.push(stream);
    }
    found
}

/// What is spliced in: the values of the accept vectors that are not large.
static POOL: LazyLock<Vec<Item>> = LazyLock::new(|| {
    let small = accept().into_iter().filter(|vector| vector.frame.len() < 2000);
    small.filter_map(|vector| taken_apart(&vector.frame).map(|(item, _)| item)).collect()
});

/// The frame with the length, or count, of one of its items wrong: each item in turn, by each of some lengths.
pub fn with_wrong_lengths(frame: &[u8]) -> Vec<Vec<u8>> {
    let Some((item, region)) = taken_apart(frame) else { return Vec::new() };
    let mut found = Vec::new();
    for target in 0..item.count() {
        let mut item = item.clone();
        if item.nth(target).kind == Kind::Atom {
            continue;
        }
        for lie in [-1, 1, 20, 100, 1 << 16, 1 << 25] {
            item.nth(target).lie = lie;
            found.push(wrap(&item.encoded(), region));
        }
    }
    found
}

fn taken_apart(frame: &[u8]) -> Option<(Item, &[u8])> {
    let len = usize::try_from(u64::from_be_bytes(frame.get(16..24)?.try_into().ok()?)).ok()?;
    let end = len.checked_add(32)?;
    let (item, rest) = Item::parse(frame.get(32..end)?, 0)?;
    let region = frame.get(end.next_multiple_of(64)..).unwrap_or_default();
    rest.is_empty().then_some((item, region))
}

/// One frame, changed in one to four places.
fn craft(frame: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut body = Vec::new();
    let (mut item, region) =
        taken_apart(frame).unwrap_or_else(|| (POOL[dice.below(POOL.len())].clone(), &[]));
    let mut region = region.to_vec();
    for _ in 0..=dice.below(4) {
        let target = dice.below(item.count());
        change(item.nth(target), dice, &mut region);
    }
    if dice.below(4) != 0 {
        item.put_in_order();
    }
    item.write(&mut body);
    damage_region(&mut region, dice);
    let mut bytes = wrap(&body, &region);
    match dice.below(40) {
        0 => bytes.truncate(dice.below(bytes.len())),
        1 => bytes[dice.below(32)] ^= 1 << dice.below(8),
        2 => bytes.push(0),
        // Padding, and bytes of the region.
        3..6 if !region.is_empty() => {
            let from = 32 + body.len();
            let at = from + dice.below((bytes.len() - from).min(128));
            bytes[at] ^= 1 << dice.below(8);
        }
        _ => (),
    }
    bytes
}

fn damage_region(region: &mut Vec<u8>, dice: &mut Dice) {
    match dice.below(24) {
        0 => region.push(0),
        1 => region.truncate(region.len().saturating_sub(1 + dice.below(64))),
        2 if !region.is_empty() => {
            let at = dice.below(region.len());
            region[at] = dice.roll() as u8;
        }
        _ => (),
    }
}

/// Changes one item.
fn change(item: &mut Item, dice: &mut Dice, region: &mut Vec<u8>) {
    match dice.below(16) {
        0 => item.lie = [-1, 1, 2, 1 << 16][dice.below(4)],
        1 => item.longer = 1 + dice.below(3) as u8,
        2 | 3 => children(item, dice),
        4 | 5 => *item = part(&POOL[dice.below(POOL.len())], dice),
        6 => *item = telling(dice),
        7 => renamed(item, dice),
        8..11 => payload(item, dice),
        11 => *item = wrapped(item.clone(), dice),
        12 => {
            if let Some(child) = (!item.children.is_empty()).then(|| dice.below(item.children.len())) {
                *item = item.children.swap_remove(child);
            }
        }
        13 => into_region(item, dice, region),
        14 => equal_keys(item, dice),
        _ => *item = generated(dice).unwrap_or_else(|| telling(dice)),
    }
}

fn part(item: &Item, dice: &mut Dice) -> Item {
    let mut item = item.clone();
    let target = dice.below(item.count());
    item.nth(target).clone()
}

/// Swaps, repeats or removes children; of maps by pairs, but for one in four times.
fn children(item: &mut Item, dice: &mut Dice) {
    let each = if item.kind == Kind::Map && dice.below(4) != 0 { 2 } else { 1 };
    let count = item.children.len() / each;
    if count == 0 {
        return;
    }
    let (one, other) = (each * dice.below(count), each * dice.below(count));
    match dice.below(3) {
        0 => (0..each).for_each(|index| item.children.swap(one + index, other + index)),
        1 => {
            let copied = item.children[one..one + each].to_vec();
            item.children.splice(other..other, copied);
        }
        _ => drop(item.children.drain(one..one + each)),
    }
}

/// Bytes at the edges of what is canonical.
fn telling(dice: &mut Dice) -> Item {
    const ATOMS: [&[u8]; 28] = [
        &[0xc0],
        &[0xc2],
        &[0xc3],
        &[0],
        &[1],
        &[0x7f],
        &[0xcc, 0x80],
        &[0xcc, 0xff],
        &[0xcd, 1, 0],
        &[0xce, 0, 1, 0, 0],
        &[0xcf, 0, 0, 0, 1, 0, 0, 0, 0],
        &[0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        &[0xff],
        &[0xe0],
        &[0xd0, 0xdf],
        &[0xd1, 0xff, 0x7f],
        &[0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0],
        &[0xcb, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0xcb, 0x80, 0, 0, 0, 0, 0, 0, 0],
        &[0xcb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0],
        &[0xcb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0],
        &[0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0],
        &[0xcb, 0xff, 0xf8, 0, 0, 0, 0, 0, 1],
        &[0xcc, 1],
        &[0xd0, 1],
        &[0xc1],
        &[0xca, 0, 0, 0, 0],
        &[0xcd, 0, 1],
    ];
    Item::atom(ATOMS[dice.below(ATOMS.len())].to_vec())
}

/// Another ext, another kind of node, or bytes under another head.
fn renamed(item: &mut Item, dice: &mut Dice) {
    match &mut item.kind {
        Kind::Array => match item.children.first_mut().filter(|first| first.kind == Kind::Ext(1)) {
            Some(marker) => marker.payload = vec![dice.below(30) as u8],
            None => item.children.insert(0, Item::marker(dice.below(26) as u8)),
        },
        Kind::Ext(number) => {
            *number = if dice.below(8) == 0 { dice.roll() as u8 } else { 1 + dice.below(51) as u8 }
        }
        Kind::Map => item.kind = Kind::Array,
        Kind::Str | Kind::Bin => {
            item.kind = [Kind::Str, Kind::Bin, Kind::Ext(4), Kind::Ext(5), Kind::Ext(2), Kind::Ext(49)]
                [dice.below(6)];
        }
        Kind::Atom => (),
    }
}

fn payload(item: &mut Item, dice: &mut Dice) {
    let len = item.payload.len();
    let at = dice.below(len);
    match dice.below(5) {
        0 => item.payload.insert(at.min(len), dice.roll() as u8),
        1 if len > 0 => drop(item.payload.remove(at)),
        2 if len > 0 => item.payload[at] = [0, 1, 2, 0x7f, 0x80, 0xed, 0xff][dice.below(7)],
        3 if len > 0 => item.payload[at] ^= 1 << dice.below(8),
        _ if len > 0 => item.payload[at] = item.payload[at].wrapping_add(1),
        _ => (),
    }
}

fn wrapped(item: Item, dice: &mut Dice) -> Item {
    let node = |kind: u8, items: Vec<Item>| Item::array([vec![Item::marker(kind)], items].concat());
    match dice.below(8) {
        0 => Item::array(vec![item]),
        1 => node(1, vec![item]),
        2 => node(2, vec![item]),
        3 => node(3, vec![item]),
        4 => Item::map(vec![item, telling(dice)]),
        5 => Item::map(vec![telling(dice), item]),
        6 => node(2, vec![node(3, vec![item.clone()]), item]),
        _ => node(4, vec![telling(dice), item]),
    }
}

/// Bytes that lie in the region, and the claim to them.
fn into_region(item: &mut Item, dice: &mut Dice, region: &mut Vec<u8>) {
    let len = 16_380 + dice.below(10) as u64;
    let number = if item.kind == Kind::Ext(5) { 7 } else { 6 };
    *item = Item::ext(number, len.to_be_bytes().to_vec());
    region.resize(region.len().next_multiple_of(64) + len as usize, 0);
}

/// Adds a key or member that is equal to one that is there, or almost: the same number in another form.
fn equal_keys(item: &mut Item, dice: &mut Dice) {
    let numbers: [Item; 9] = [
        Item::atom(vec![1]),
        Item::atom(vec![0xc3]),
        Item::atom([vec![0xcb], 1f64.to_bits().to_be_bytes().to_vec()].concat()),
        Item::ext(3, [1f64.to_bits().to_be_bytes(), [0; 8]].concat()),
        Item::ext(37, vec![1]),
        Item::ext(42, 1f32.to_bits().to_be_bytes().to_vec()),
        Item::ext(17, [vec![0], (-1i64).to_be_bytes().to_vec(), b"10".to_vec()].concat()),
        Item::ext(18, vec![0, 0, 0, 0, 1, 1, 1]),
        Item::ext(41, vec![0x3c, 0]),
    ];
    let one = numbers[dice.below(9)].clone();
    let member = match dice.below(3) {
        0 => Item::array(vec![Item::marker(1), one]),
        _ => one,
    };
    match item.kind {
        Kind::Map => item.children.extend([member, Item::atom(vec![0xc0])]),
        Kind::Array => item.children.push(member),
        _ => *item = Item::array(vec![Item::marker(2), member, numbers[dice.below(9)].clone()]),
    }
}

thread_local! {
    static VALUES: RefCell<BoxedStrategy<Value>> = RefCell::new(generate::value().boxed());
}

/// A value of the generator of the round-trip tests, when it has nothing in the region.
fn generated(dice: &mut Dice) -> Option<Item> {
    let seed: Vec<u8> = (0..4).flat_map(|_| dice.roll().to_be_bytes()).collect();
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let value = VALUES.with_borrow(|values| values.new_tree(&mut runner)).ok()?.current();
    let frame = encode(&value, &Limits::default()).ok()?;
    (frame[24..32] == [0; 8]).then(|| Item::parse(&frame[32..], 0))?.map(|(item, _)| item)
}
