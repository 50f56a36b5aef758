//! The kinds of frames.

macro_rules! kinds {
    ($($variant:ident $number:literal $name:literal $value:literal $call:literal, $doc:literal;)*) => {
        /// What a frame is for. The numbers 6 to 12 are reserved (`proto/frame.md`).
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
                match self { $(FrameKind::$variant => $value,)* }
            }

            /// F5: whether it belongs to a call.
            pub const fn has_call_id(self) -> bool {
                match self { $(FrameKind::$variant => $call,)* }
            }
        }
    };
}

kinds! {
    Value 1 "value" true false, "A value by itself, as `dumps` writes it.";
    Hello 2 "hello" false false, "The first frame of each end of a session.";
    Call 3 "call" true true, "A call, from host to worker.";
    Result 4 "result" true true, "What a call returned.";
    Error 5 "error" true true, "How a call failed.";
}
