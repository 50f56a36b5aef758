//! A host and a worker in one process, joined by nothing: what a call costs without a kernel between them.

use hookless::frame::{FrameKind, HEAD_LEN, Head, Intake, Place, Whole};
use hookless::session::{End, Host, HostEvent, Verb, Worker, WorkerEvent};
use hookless::{Code, Error, Limits, Result, Value, encode_parts};

/// Two ends that have said HELLO, each with what puts its frames together.
#[derive(Debug)]
pub struct Pair {
    limits: Limits,
    host: (Host, Intake),
    worker: (Worker, Intake),
}

impl Pair {
    /// Begins a session.
    ///
    /// # Errors
    /// None in fact.
    pub fn new() -> Result<Pair> {
        let limits = Limits::default();
        let (mut host, mut worker) = (Host::new(limits.clone()), Worker::new(limits.clone()));
        let (said, answer) = (host.hello().to_body()?, worker.hello().to_body()?);
        worker.handle(&hello(&said), &said)?;
        host.handle(&hello(&answer), &answer)?;
        let intake = || Intake::new(limits.clone());
        Ok(Pair { host: (host, intake()), worker: (worker, intake()), limits })
    }

    /// A whole call: CALL is encoded, taken by the worker, and answered by a RESULT that holds the argument, which the host takes.
    ///
    /// # Errors
    /// None in fact, for arguments that can be sent and are not large enough for a data region.
    pub fn call(&mut self, argument: &Value) -> Result<Value> {
        let (host, intake) = &mut self.host;
        let id = host.begin_call(Verb::Function)?;
        let arguments = Value::Tuple(vec![argument.clone()]);
        let fields =
            vec![Value::from(0), Value::from("m:f"), Value::None, arguments, Value::Dict(Vec::new())];
        let frame = encode_parts(&Value::List(fields), FrameKind::Call, id, &self.limits, &mut Vec::new())?;

        let (worker, theirs) = &mut self.worker;
        let call = receive(theirs, &frame)?;
        let WorkerEvent::Call(id) = worker.handle(&call.head, frame.get(HEAD_LEN..).unwrap_or_default())?
        else {
            return Err(Error::new(Code::UnexpectedFrame));
        };
        let result = only_argument(call.value)?;
        let frame = encode_parts(&result, FrameKind::Result, id, &self.limits, &mut Vec::new())?;
        worker.end_call(id, End::Result)?;

        host.frame_begins();
        let answer = receive(intake, &frame)?;
        host.check_head(&answer.head)?;
        match host.handle(&answer.head, &answer.body)? {
            HostEvent::Returned(_) => Ok(answer.value),
            _ => Err(Error::new(Code::UnexpectedFrame)),
        }
    }
}

fn hello(body: &[u8]) -> Head {
    Head { kind: FrameKind::Hello, call_id: 0, body_len: body.len() as u64, data_len: 0 }
}

/// Puts a frame together as a receiver does.
fn receive(intake: &mut Intake, frame: &[u8]) -> Result<Whole> {
    let mut rest = frame;
    loop {
        let count = match intake.place()? {
            Place::Bytes(space) => {
                let count = space.len().min(rest.len());
                space[..count].copy_from_slice(&rest[..count]);
                count
            }
            Place::Array { data, most } => {
                data.extend_from_slice(&rest[..most]);
                most
            }
            Place::Done => break,
        };
        rest = &rest[count..];
        intake.advance(count)?;
    }
    let whole = intake.take()?;
    intake.release(whole.cost);
    Ok(whole)
}

fn only_argument(call: Value) -> Result<Value> {
    if let Value::List(fields) = call
        && let Some(Value::Tuple(arguments)) = fields.into_iter().nth(3)
        && let Some(argument) = arguments.into_iter().next()
    {
        return Ok(argument);
    }
    Err(Error::new(Code::BadCall))
}
