//! What `step` returns.

use hookless::session::{Credit, HostEvent, Log, Progress, WorkerEvent};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use super::machine::Told;
use crate::ffi::fallible::{self, Str, Unsigned, interned};
use crate::ffi::make;
use crate::inbox::Arrived;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Ready,
    Result,
    Error,
    Cancelled,
    Item,
    Progress,
    Log,
    Call,
    Cancel,
    Credit,
    Shutdown,
    Output,
    Eof,
    Woken,
}

/// Something that has happened.
pub(super) struct Event {
    pub(super) kind: Kind,
    id: u64,
    value: Option<Py<PyAny>>,
    /// L10: what its frame holds.
    held: u64,
}

impl Kind {
    fn name(self, py: Python<'_>) -> PyResult<Bound<'_, PyString>> {
        let name = match self {
            Kind::Ready => interned!(py, c"ready"),
            Kind::Result => interned!(py, c"result"),
            Kind::Error => interned!(py, c"error"),
            Kind::Cancelled => interned!(py, c"cancelled"),
            Kind::Item => interned!(py, c"item"),
            Kind::Progress => interned!(py, c"progress"),
            Kind::Log => interned!(py, c"log"),
            Kind::Call => interned!(py, c"call"),
            Kind::Cancel => interned!(py, c"cancel"),
            Kind::Credit => interned!(py, c"credit"),
            Kind::Shutdown => interned!(py, c"shutdown"),
            Kind::Output => interned!(py, c"output"),
            Kind::Eof => interned!(py, c"eof"),
            Kind::Woken => interned!(py, c"woken"),
        };
        name.cloned()
    }
}

impl Event {
    /// One without a frame.
    pub(super) fn plain(kind: Kind) -> Event {
        Event { kind, id: 0, value: None, held: 0 }
    }

    pub(super) fn output(py: Python<'_>, index: usize, bytes: &[u8]) -> PyResult<Event> {
        let value = fallible::bytes(py, bytes)?.into_any().unbind();
        Ok(Event { kind: Kind::Output, id: index as u64, value: Some(value), held: 0 })
    }

    /// That of a frame; none where the session ignores it.
    pub(super) fn of(py: Python<'_>, told: &Told<'_>, arrived: &Arrived) -> PyResult<Option<Event>> {
        let value = || Some(arrived.value.clone_ref(py));
        let (kind, value) = match told {
            Told::Host(HostEvent::Ready) | Told::Worker(WorkerEvent::Ready) => (Kind::Ready, None),
            Told::Host(HostEvent::Returned(_)) => (Kind::Result, value()),
            Told::Host(HostEvent::Failed(_)) => (Kind::Error, value()),
            Told::Host(HostEvent::Cancelled(_)) => (Kind::Cancelled, None),
            Told::Host(HostEvent::Item(_)) => (Kind::Item, value()),
            Told::Host(HostEvent::Progress(_, progress)) => {
                (Kind::Progress, Some(of_progress(py, progress)?))
            }
            Told::Host(HostEvent::Log(_, log)) => (Kind::Log, Some(of_log(py, log)?)),
            // The list of S4, whose shape is checked; or the error of S18.
            Told::Worker(WorkerEvent::Call(_)) => {
                let call = arrived.value.bind(py);
                let list = call.cast::<PyList>().map(|list| list.to_tuple().into_any());
                (Kind::Call, Some(list.unwrap_or_else(|_| call.clone()).unbind()))
            }
            Told::Worker(WorkerEvent::Cancel(_)) => (Kind::Cancel, None),
            Told::Worker(WorkerEvent::Credit(_)) => {
                let items = Credit::parse(&arrived.body).map_or(0, |credit| credit.items);
                (Kind::Credit, Some(number(py, items.into())?.unbind()))
            }
            Told::Worker(WorkerEvent::Shutdown) => (Kind::Shutdown, None),
            Told::Worker(WorkerEvent::Ignored) => return Ok(None),
        };
        Ok(Some(Event { kind, id: arrived.head.call_id, value, held: arrived.cost }))
    }

    pub(super) fn is_call(&self) -> bool {
        self.kind == Kind::Call
    }

    /// What the channel itself gives back when the event is handed out (L10); of values that the host is given, the program does.
    pub(super) fn own_cost(&self) -> u64 {
        if self.is_value() { 0 } else { self.held }
    }

    fn is_value(&self) -> bool {
        matches!(self.kind, Kind::Result | Kind::Error | Kind::Item)
    }

    /// Kind, call (or index of an output), value, and cost.
    pub(super) fn to_tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let value = self.value.as_ref().map_or_else(|| py.None(), |value| value.clone_ref(py)).into_bound(py);
        let cost = if self.is_value() { self.held } else { 0 };
        fallible::tuple(py, &[self.kind.name(py)?.into_any(), number(py, self.id)?, value, number(py, cost)?])
    }
}

fn number(py: Python<'_>, number: u64) -> PyResult<Bound<'_, PyAny>> {
    Ok(Unsigned(number).into_pyobject(py)?.into_any())
}

fn text<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    Ok(Str(text).into_pyobject(py)?.into_any())
}

fn of_progress(py: Python<'_>, progress: &Progress<'_>) -> PyResult<Py<PyAny>> {
    let total = progress.total.map(|total| number(py, total)).transpose()?;
    let total = total.unwrap_or_else(|| py.None().into_bound(py));
    Ok(fallible::tuple(py, &[number(py, progress.done)?, total, text(py, progress.text)?])?
        .into_any()
        .unbind())
}

fn of_log(py: Python<'_>, log: &Log<'_>) -> PyResult<Py<PyAny>> {
    let created = make::float(py, log.created).map_err(|error| crate::errors::decode_error(py, &error))?;
    let parts = [
        number(py, log.level.into())?,
        text(py, log.logger)?,
        text(py, log.message)?,
        created,
        text(py, log.path)?,
        number(py, log.line.into())?,
        text(py, log.function)?,
    ];
    Ok(fallible::tuple(py, &parts)?.into_any().unbind())
}
