"""Texts on which tokenizers differ."""

from hypothesis import strategies as st

LETTERS = ("it's", "DON'T", "x'y", "'ll", "fooBar", "Foo", "FOO", "ÉCOLE", "straße", "ёж", "日本語")
MARKS = ("\u017f", "\u0301", "e\u0301", "हिन्दी", "ไทย", "\u0e4d\u0e32", "عربي", "ⓐ", "Ⅳ", "ẞ", "İ")
SPACES = (" ", "  ", "\t", "\n", "\n\n", "\r\n", "\u00a0", "\u3000", "\x1c", "\x85", "\ufeff")
OTHERS = ("1234567", "0x1F", "١٢", "½", "/", "//", "'", "_", "\0", "{", '":', "...", "====", "→")
STRANGE = (
    "<|endoftext|>",
    "⟨bow⟩",
    "\ud800",
    "\udc00",
    "👩\u200d👧",
    "⚖\ufe0f",
    "\ue000",
    "\ufdd0",
)

any_text = st.text(st.characters(exclude_categories=()), max_size=200)
fragments = st.sampled_from((*LETTERS, *MARKS, *SPACES, *OTHERS, *STRANGE))
code_like = st.lists(fragments, max_size=40).map("".join)
texts = st.one_of(any_text, code_like)
