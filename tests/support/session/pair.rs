//! Both ends of a session, each twice, joined by queues of bytes. What one of them may send the other gets: as it is, or cut, changed, twice,
//! late, not at all, or with a forged frame behind it.

use hookless::session::Role;

use super::both::Both;
use super::draw::{Drawn, Made, frame, good, step};
use super::kind::*;
use super::{Step, Told};

/// Two ends, and the bytes on their way to each.
struct Pair {
    ends: [Both; 2],
    queues: [Vec<u8>; 2],
    /// A frame that is to come after the next one.
    late: [Option<Vec<u8>>; 2],
    faulty: bool,
    items: usize,
}

/// What became of a pair: what each end told, the host's first.
#[derive(Debug)]
pub struct Course {
    /// What each end told.
    pub told: [Vec<Told>; 2],
    /// Whether what was sent came as it was.
    pub clean: bool,
}

/// Has two ends meet what `input` says. Where nothing is done to what they send, neither refuses anything of the other's, whatever the
/// order in which it comes, and each call gets one answer.
///
/// # Panics
/// Where a model and a session differ, or one end that keeps to the rules refuses another.
pub fn pair(input: &[u8], planted: bool) -> Course {
    let mut drawn = Drawn(input);
    let faulty = drawn.byte() % 3 != 0;
    let ends = [Both::new(Role::Host, planted), Both::new(Role::Worker, planted)];
    let hellos = [&ends[1], &ends[0]].map(|end| Made { kind: HELLO, call_id: 0, body: end.hello() }.bytes());
    let mut pair = Pair { ends, queues: hellos, late: [None, None], faulty, items: 0 };
    let mut past = 0;
    while !drawn.0.is_empty() && past < 4 {
        past += u8::from(pair.ends.iter().any(Both::is_closed));
        let at = drawn.below(2);
        if drawn.below(2) == 0 { pair.deliver(at, &mut drawn) } else { pair.act(at, &mut drawn) }
    }
    if !faulty {
        pair.settle();
    }
    for end in &mut pair.ends {
        end.end();
    }
    Course { told: pair.ends.map(|end| end.told), clean: !faulty }
}

impl Pair {
    fn act(&mut self, at: usize, drawn: &mut Drawn<'_>) {
        let end = &mut self.ends[at];
        let step = step(&end.model, drawn);
        // Bytes of an earlier call have left, and whoever closes has not kept to the rules.
        if matches!(step, Step::Unsent(_)) || step == Step::Close && !self.faulty {
            return;
        }
        let told = end.step(step);
        if let (Step::Begin(_), Told::Opened(id), 0) = (step, &told, drawn.below(10)) {
            end.step(Step::Unsent(*id));
            return;
        }
        let (kind, id, items) = match (step, told) {
            (Step::Begin(_), Told::Opened(id)) => (CALL, id, 0),
            (Step::Cancel(id), Told::Done(true)) => (CANCEL, id, 0),
            (Step::Credit(id, items), Told::Done(true)) => (CREDIT, id, items),
            (Step::Shutdown, Told::Done(true)) => (SHUTDOWN, 0, 0),
            (Step::Item(id), Told::Done(true)) => (ITEM, id, 0),
            (Step::Answer(id, kind), Told::Done(true)) => (kind, id, 0),
            (Step::Note(id), Told::Done(true)) => ([PROGRESS, LOG][drawn.below(2)], id, 0),
            (Step::Note(_), _) if !end.is_closed() && !end.told.is_empty() => (LOG, 0, 0),
            _ => return,
        };
        self.items += usize::from(kind == ITEM);
        let verb = if let Step::Begin(verb) = step { verb } else { 0 };
        let bytes = good(kind, id, verb, items, drawn).bytes();
        self.send(1 - at, bytes, drawn);
    }

    fn send(&mut self, to: usize, mut bytes: Vec<u8>, drawn: &mut Drawn<'_>) {
        let fault = if self.faulty { drawn.below(120) } else { usize::MAX };
        let mut after = self.late[to].take().unwrap_or_default();
        match fault {
            0 => bytes.truncate(drawn.below(bytes.len())),
            1 => after.extend(bytes.clone()),
            2 => {
                self.late[to] = Some(std::mem::take(&mut bytes));
            }
            3 => after.extend(frame(&self.ends[to].model, drawn)),
            4 => {
                let at = drawn.below(bytes.len());
                bytes[at] ^= 1 << drawn.below(8);
            }
            5 => bytes.clear(),
            _ => {}
        }
        self.queues[to].extend(bytes);
        self.queues[to].extend(after);
    }

    fn deliver(&mut self, to: usize, drawn: &mut Drawn<'_>) {
        let most = [usize::MAX, usize::MAX, 1, 20, 32, 50][drawn.below(6)];
        let count = most.min(self.queues[to].len());
        let bytes: Vec<u8> = self.queues[to].drain(..count).collect();
        self.feed(to, &bytes);
    }

    fn feed(&mut self, to: usize, bytes: &[u8]) {
        let told = self.ends[to].feed(bytes);
        let refused = told.iter().find(|one| matches!(one, Told::Refused(..)));
        assert!(self.faulty || refused.is_none(), "an end that keeps to the rules was refused: {refused:?}");
    }

    /// All that is on its way arrives, and is what was sent.
    fn settle(&mut self) {
        for to in [1, 0] {
            let bytes = std::mem::take(&mut self.queues[to]);
            self.feed(to, &bytes);
        }
        let [host, worker] = &self.ends;
        assert!(host.model.calls.keys().eq(worker.model.calls.keys()), "the ends differ in what is open");
        let answers = |told: &&Told| matches!(told, Told::Returned(_) | Told::Failed(_) | Told::Cancelled(_));
        let answered = host.told.iter().filter(answers).count();
        assert_eq!(answered + host.model.calls.len(), host.model.last as usize, "one answer for each call");
        let items = host.told.iter().filter(|told| matches!(told, Told::Item(_))).count();
        assert_eq!(items, self.items, "each item arrives");
    }
}
