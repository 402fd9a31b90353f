"""Token estimates for images, recordings and documents; base64 is never counted as text."""

from dataclasses import dataclass

from compactctl.model.message import MediaPart
from compactctl.tokens.models.lookup import ModelInfo
from compactctl.tokens.models.table import GEMINI

# Flat estimate for an image whose size is unknown; observed mean in Claude Code sessions was
# about 1,175 and NeuroLink documents 1,024.
UNKNOWN_IMAGE_TOKENS = 1_024
# Anthropic documents width x height / 750 with the longest edge scaled down to 1,568 pixels.
PIXELS_PER_TOKEN = 750
MAX_EDGE = 1_568
# Larger images are scaled down to about this many tokens (Anthropic, vision documentation).
MAX_IMAGE_TOKENS = 1_600


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaRates:
    """Tokens of a second of audio, a second of video, and a page of a PDF."""

    audio: int
    video: int
    page: int


# OpenAI: a token for 100 ms of a user's audio (Realtime API, managing costs). Video is sent to
# Google alone. Anthropic: 1,500 to 3,000 tokens for the text of a page, which comes with its image
# (PDF support); measured in October 2026 were 2,347 for a page of text and 1,600 for a scan.
RATES = MediaRates(audio=10, video=263, page=2_250)
# Google, understand and count tokens; a page at the default resolution of Gemini 3.
GOOGLE_RATES = MediaRates(audio=32, video=263, page=560)
# Of a document that is text, as of text elsewhere.
_BYTES_PER_TOKEN = 4
_TEXT_TYPES = ("text/", "application/json", "application/xml", "application/x-ndjson")


def rates_for(model: ModelInfo) -> MediaRates:
    """Return what media come to with a model."""
    return GOOGLE_RATES if model.family.startswith(GEMINI.label) else RATES


def media_tokens(
    part: MediaPart, image_tokens: int | None = None, rates: MediaRates = RATES
) -> int:
    """Estimate the tokens of a medium from its pixels, its length, its pages or its text.

    ``image_tokens`` is what every image counts as instead, where that is given. What has no known
    size counts nothing.
    """
    kind = part.media_type.lower()
    if kind.startswith("image/"):
        return _image_tokens(part.width, part.height) if image_tokens is None else image_tokens
    if kind.startswith(_TEXT_TYPES):
        return part.n_bytes // _BYTES_PER_TOKEN
    per_second = rates.video if kind.startswith("video/") else rates.audio
    return round(part.seconds * per_second) + part.pages * rates.page


def is_unsized(part: MediaPart) -> bool:
    """Whether a medium counts no tokens because its size is unknown.

    A link or an id is stored, or a format of which the size cannot be told.
    """
    kind = part.media_type.lower()
    has_text = part.n_bytes and kind.startswith(_TEXT_TYPES)
    return not (kind.startswith("image/") or has_text or part.seconds or part.pages)


def _image_tokens(width: int, height: int) -> int:
    if width <= 0 or height <= 0:
        return UNKNOWN_IMAGE_TOKENS
    scale = min(1.0, MAX_EDGE / max(width, height))
    tokens = int(width * scale * height * scale) // PIXELS_PER_TOKEN
    return min(max(1, tokens), MAX_IMAGE_TOKENS)
