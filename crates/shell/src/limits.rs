//! Limits: how much text is read before the reader gives up.

/// How much a text may hold. Beyond a limit stands a refusal of kind `Limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the whole text.
    pub bytes: usize,
    /// Openers inside openers, counted across words, scripts and nested texts.
    pub nesting: u32,
    /// Commands at every depth.
    pub commands: u32,
}

impl Limits {
    /// The limits under which a tool call is judged.
    pub const JUDGING: Limits = Limits { bytes: 64 * 1024, nesting: 128, commands: 4096 };

    /// Limits for measuring against installed scripts, which are longer than any tool call.
    /// Nesting this deep wants a stack of 16 MiB.
    pub const LIFTED: Limits = Limits { bytes: 1 << 30, nesting: 1024, commands: u32::MAX };

    /// How many fields a brace expansion or a split constant may have before it is unknown.
    pub const FIELDS: usize = 64;

    /// How many bytes a folded value may have; a longer one is unknown.
    pub const VALUE_BYTES: usize = 64 * 1024;

    /// How many bytes a constant may have to be followed; every use looks at all of it.
    pub const CONSTANT_BYTES: usize = 1024;

    /// How many bytes of look-ahead a text of `len` bytes may spend on telling `((` from `( (`.
    #[must_use]
    pub const fn look_ahead(len: usize) -> usize {
        len.saturating_mul(8).saturating_add(1024)
    }

    /// How many bytes may be made from a text of `len` bytes by taking off escapes and tabs.
    #[must_use]
    pub const fn derived(len: usize) -> usize {
        len.saturating_mul(16).saturating_add(1024)
    }
}
