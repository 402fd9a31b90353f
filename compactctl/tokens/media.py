"""Token estimates for images, recordings and documents, whose base64 never counts as text."""

import re
from collections.abc import Callable

from compactctl.model.message import MediaPart
from compactctl.records import Record, replace
from compactctl.tokens.models.lookup import ModelInfo
from compactctl.tokens.models.table import GEMINI

# For an image of unknown size. The mean in Claude Code sessions was about 1,175, NeuroLink
# documents 1,024.
UNKNOWN_IMAGE_TOKENS = 1_024
# Anthropic documents width x height / 750, with the longest edge scaled down to 1,568 pixels.
PIXELS_PER_TOKEN = 750
MAX_EDGE = 1_568
# Larger images are scaled down to about this many tokens (Anthropic, vision documentation).
MAX_IMAGE_TOKENS = 1_600


class MediaRates(Record):
    """Tokens per second of audio, per second of video, and per page of a PDF.

    ``document_bytes`` are the bytes per token of all documents, 0 to count their text or pages.
    """

    audio: int
    video: int
    page: int
    document_bytes: int = 0


# Audio: OpenAI documents a token per 100 ms of a user's audio (Realtime API, managing costs). Video
# is sent to Google only. Pages: Anthropic documents 1,500 to 3,000 tokens for the text of a page,
# which is sent with its image (PDF support); in October 2026 a page of text measured 2,347 and a
# scan 1,600.
RATES = MediaRates(audio=10, video=263, page=2_250)
# Google, "Understand and count tokens"; a page at the default resolution of Gemini 3.
GOOGLE_RATES = MediaRates(audio=32, video=263, page=560)
# For documents that are text.
_BYTES_PER_TOKEN = 4
# For other documents of which the text is not known, such as those of Word before 2007; a guess.
_DOCUMENT_BYTES_PER_TOKEN = 16
_RECORDING_TYPES = ("audio/", "video/")
_TEXT_TYPES = ("text/", "application/json", "application/xml", "application/x-ndjson")
_DOCUMENT_TYPE = re.compile(
    r"application/(?:vnd\.(?:openxmlformats-officedocument|oasis\.opendocument|ms-(?:excel|powerpoint"
    r"|word))|msword|(?:x-)?rtf|epub|(?:doc|xls|ppt)x?$|od[tsp]$)"
)


def rates_for(model: ModelInfo, document_bytes: int = 0) -> MediaRates:
    """Return the rates of a model's provider."""
    rates = GOOGLE_RATES if model.family.startswith(GEMINI.label) else RATES
    return replace(rates, document_bytes=document_bytes) if document_bytes else rates


def media_tokens(
    part: MediaPart,
    image_tokens: int | None = None,
    rates: MediaRates = RATES,
    count: Callable[[str], int] | None = None,
) -> int:
    """Estimate the tokens of a medium from its pixels, length, pages or text.

    ``image_tokens`` replaces the estimate of every image, and ``count`` counts the text of a
    document, which is otherwise estimated too. Other media of unknown size count 0.
    """
    kind = part.media_type.lower()
    if kind.startswith("image/"):
        return _image_tokens(part.width, part.height) if image_tokens is None else image_tokens
    bytes_per_token = _bytes_per_token(kind, rates)
    if part.text and not rates.document_bytes:
        return (
            count(part.text)
            if count
            else len(part.text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN
        )
    if bytes_per_token:
        # Rounded half up, as agent-code does.
        return (2 * part.n_bytes + bytes_per_token) // (2 * bytes_per_token)
    per_second = rates.video if kind.startswith("video/") else rates.audio
    return round(part.seconds * per_second) + part.pages * rates.page


def base64_length(n_bytes: int) -> int:
    """Return the characters of base64 in which data of this size is sent."""
    return -(-n_bytes // 3) * 4


def is_unsized(part: MediaPart, rates: MediaRates = RATES) -> bool:
    """Return whether a medium counts 0 tokens because its size is unknown.

    The file may store only a link or an id, or a format whose size cannot be read.
    """
    kind = part.media_type.lower()
    if kind.startswith("image/") or part.seconds or part.pages or part.text:
        return False
    return not (part.n_bytes and _bytes_per_token(kind, rates))


def _bytes_per_token(kind: str, rates: MediaRates) -> int:
    """Return how many bytes of a document of unknown text count as a token, 0 for other media."""
    if rates.document_bytes and not kind.startswith(_RECORDING_TYPES):
        return rates.document_bytes
    if kind.startswith(_TEXT_TYPES):
        return _BYTES_PER_TOKEN
    return _DOCUMENT_BYTES_PER_TOKEN if _DOCUMENT_TYPE.match(kind) else 0


def _image_tokens(width: int, height: int) -> int:
    if width <= 0 or height <= 0:
        return UNKNOWN_IMAGE_TOKENS
    scale = min(1.0, MAX_EDGE / max(width, height))
    tokens = int(width * scale * height * scale) // PIXELS_PER_TOKEN
    return min(max(1, tokens), MAX_IMAGE_TOKENS)
