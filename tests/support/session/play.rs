//! What one end of a model and of a real session meet: bytes of any origin, taken as decisions.

use hookless::session::Role;

use super::both::Both;
use super::draw::{Drawn, frame, step};
use super::model::{Model, State};
use super::{Step, Told, limits};

/// Has both ends of a comparison meet what `input` says; gives what they told, alike.
///
/// # Panics
/// Where model and session differ.
pub fn play(input: &[u8], planted: bool) -> Vec<Told> {
    let mut drawn = Drawn(input);
    let role = if drawn.byte() % 4 == 0 { Role::Worker } else { Role::Host };
    let mut end = Both::new(role, planted);
    // Bytes on their way: what a step of the driver's overtakes.
    let mut sent: Vec<u8> = Vec::new();
    // A few frames are read past the end of a session, which has to stay closed.
    let mut past = 0;
    while !drawn.0.is_empty() && past < 3 {
        past += u8::from(end.is_closed());
        match drawn.below(5) {
            0..2 => {
                end.step(step(&end.model, &mut drawn));
            }
            2 if end.model.state == State::Ready && drawn.below(200) == 0 => fill(&mut end),
            _ => sent.extend(frame(&end.model, &mut drawn)),
        }
        let keep = if drawn.below(3) == 0 { drawn.below(100).min(sent.len()) } else { 0 };
        let arrives: Vec<u8> = sent.drain(..sent.len() - keep).collect();
        let mut rest = &arrives[..];
        while !rest.is_empty() {
            let size = [usize::MAX, 1, 7, 32, 33][drawn.below(5)].min(rest.len());
            let now = rest.split_off(..size).unwrap_or_default();
            let closed = end.is_closed();
            end.feed(now);
            if closed {
                break;
            }
            if size == 1 && rest.len() > 40 {
                // One byte at a time makes long frames long work: only their first bytes come so.
                let now = rest.split_off(..rest.len() - 1).unwrap_or_default();
                end.feed(now);
            }
        }
    }
    end.end();
    end.told
}

/// L11: as many calls as may be open, and one more.
fn fill(end: &mut Both) {
    for _ in end.model.calls.len()..1025 {
        if end.model.end == Role::Host {
            end.step(Step::Begin(0));
        } else if end.model.state == State::Ready {
            let id = end.model.last + 1;
            end.feed(&super::draw::good(super::kind::CALL, id, 2, 0, &mut Drawn(&[])).bytes());
        }
    }
}

/// What a peer says to an end that opens a call, or answers it, whenever it can: what it says first, and then after each CALL.
pub fn peer_parts(role: Role, input: &[u8]) -> Vec<Vec<u8>> {
    let mut drawn = Drawn(input);
    drawn.byte();
    let mut model = Model::new(role, limits());
    let (mut said, mut past) = (vec![Vec::new()], 0);
    while !drawn.0.is_empty() && past < 2 {
        past += u8::from(model.state == State::Closed);
        if let (Role::Worker, Some(id)) = (role, model.calls.keys().next().copied()) {
            model.step(Step::Answer(id, super::kind::RESULT));
        }
        if role == Role::Host && model.state == State::Ready && model.calls.is_empty() {
            model.step(Step::Begin(0));
            said.push(Vec::new());
        }
        let frame = frame(&model, &mut drawn);
        model.feed(&frame);
        said.last_mut().expect("there is one").extend(frame);
    }
    said
}
