//! One end of a model and of a real session, which meet the same and have to tell the same.

use hookless::Limits;
use hookless::session::Role;

use super::model::{Model, State};
use super::real::Real;
use super::{Step, Told, limits};

/// One end, twice.
#[derive(Debug)]
pub struct Both {
    /// The model's.
    pub model: Model,
    real: Real,
    /// All that both told.
    pub told: Vec<Told>,
}

impl Both {
    /// An end to which nothing has been said.
    pub fn new(role: Role, planted: bool) -> Both {
        let real = Real::new(role, limits(), planted);
        Both { model: Model::new(role, limits()), real, told: Vec::new() }
    }

    /// Whether it is over.
    pub fn is_closed(&self) -> bool {
        self.model.state == State::Closed
    }

    /// The body of the HELLO that this end says.
    pub fn hello(&self) -> Vec<u8> {
        self.real.hello()
    }

    /// Does something on the driver's account.
    ///
    /// # Panics
    /// Where model and session differ.
    pub fn step(&mut self, step: Step) -> Told {
        let (model, real) = (self.model.step(step), self.real.step(step));
        self.same(vec![model], vec![real], &format!("{step:?}")).swap_remove(0)
    }

    /// Takes bytes as they come.
    ///
    /// # Panics
    /// Where model and session differ.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Told> {
        let (model, real) = (self.model.feed(bytes), self.real.feed(bytes));
        self.same(model, real, &format!("{bytes:02x?}"))
    }

    /// The stream ends.
    ///
    /// # Panics
    /// Where model and session differ.
    pub fn end(&mut self) -> Told {
        let (model, real) = (self.model.end(), self.real.end());
        self.same(vec![model], vec![real], "the end of the stream").swap_remove(0)
    }

    fn same(&mut self, model: Vec<Told>, real: Vec<Told>, of: &str) -> Vec<Told> {
        let after = || &self.told[self.told.len().saturating_sub(50)..];
        assert_eq!(real, model, "session (left) and model differ: {of}, after {:?}", after());
        assert_eq!(self.real.open(), self.model.calls.len(), "open calls after {of}, after {:?}", after());
        let ids = self.model.last.saturating_sub(20)..=self.model.last.saturating_add(1);
        for id in ids.chain(1..4) {
            let call = self.model.calls.get(&id).map(|call| {
                let known = self.model.end == Role::Worker && call.cancelled;
                (true, u64::from(call.credit), known)
            });
            let call = call.unwrap_or_default();
            assert_eq!(self.real.call(id), call, "call {id} after {of}, after {:?}", after());
        }
        let own = Limits::strict();
        let mut named = self.model.peer.iter();
        for ((name, found), (_, own)) in self.real.peer_limits(&own).entries().zip(own.entries()) {
            // S17: the smaller, and this end's where the peer names none.
            assert_eq!(found, named.next().map_or(own, |peer| own.min(*peer)), "{name} after {of}");
        }
        self.told.extend(model.iter().cloned());
        model
    }
}
