//! The kinds of frames.

/// What a body is.
enum Body {
    Value,
    Control,
}

/// F5: which call ids a kind has.
enum CallId {
    /// 0.
    None,
    /// Not 0.
    Call,
    /// Any.
    Either,
}

macro_rules! kinds {
    ($($variant:ident $number:literal $name:literal $body:ident $call:ident, $doc:literal;)*) => {
        /// What a frame is for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum FrameKind {
            $(#[doc = $doc] $variant,)*
        }

        impl FrameKind {
            /// Every kind that this version reads.
            pub const ALL: &'static [FrameKind] = &[$(FrameKind::$variant,)*];

            /// Its number in the head.
            pub const fn number(self) -> u8 {
                match self { $(FrameKind::$variant => $number,)* }
            }

            /// The kind of a number: F3.
            pub const fn from_number(number: u8) -> Option<FrameKind> {
                match number { $($number => Some(FrameKind::$variant),)* _ => None }
            }

            /// Its name in lower case.
            pub const fn name(self) -> &'static str {
                match self { $(FrameKind::$variant => $name,)* }
            }

            /// Whether its body is a value; otherwise it is a control frame.
            pub const fn carries_value(self) -> bool {
                match self { $(FrameKind::$variant => matches!(Body::$body, Body::Value),)* }
            }

            /// F5: whether a frame of this kind may have this call id.
            pub const fn takes_call_id(self, id: u64) -> bool {
                let rule = match self { $(FrameKind::$variant => CallId::$call,)* };
                match rule {
                    CallId::None => id == 0,
                    CallId::Call => id != 0,
                    CallId::Either => true,
                }
            }
        }
    };
}

kinds! {
    Value 1 "value" Value None, "A value by itself, as `dumps` writes it.";
    Hello 2 "hello" Control None, "The first frame of each end of a session.";
    Call 3 "call" Value Call, "A call, from host to worker.";
    Result 4 "result" Value Call, "What a call returned; of a stream, what its generator returned.";
    Error 5 "error" Value Call, "How a call failed.";
    Item 6 "item" Value Call, "An item of a stream.";
    Cancel 7 "cancel" Control Call, "The host no longer wants a call.";
    Cancelled 8 "cancelled" Control Call, "A call has ended because of CANCEL.";
    Credit 9 "credit" Control Call, "How many items more a stream may send.";
    Progress 10 "progress" Control Call, "How far a call is.";
    Log 11 "log" Control Either, "A record of the worker's log, of a call or of none.";
    Shutdown 12 "shutdown" Control None, "The host begins no further call.";
}
