"""Images: keep the newest images, put a note in place of older ones."""

from collections.abc import Iterator
from dataclasses import dataclass

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import PartIndex, iter_parts
from compactctl.model.edit import Proposal, Skipped
from compactctl.model.message import MediaPart, Message, Part, ToolResultPart, media_of
from compactctl.stages.support.replacement import Rewrite, rewrite_proposal, tokens_saved
from compactctl.stages.support.stage import Stage, option
from compactctl.tokens.meter import Meter

NAME = "images"
_MEGABYTE, _KILOBYTE = 1_000_000, 1_000
# Smaller images would have 0.0 MB.
_SMALLEST_IN_MB = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagesOptions:
    """How many images to keep; the defaults are those of agent-code."""

    max_bytes: int = option(
        12 * 1024 * 1024, "Bytes of the newest images to keep, as stored before base64."
    )
    max_images: int = option(32, "How many of the newest images to keep.")
    placeholder: str = option(
        "[image dropped from context — {media}, {size}]",
        "What stands in place of an image; ``{media}`` is its media type, ``{size}`` its size.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ImagePart:
    """The images that one part shows: an image itself, or a tool result with images."""

    part_index: PartIndex
    part: Part
    images: tuple[MediaPart, ...]


def propose(view: ConversationView, meter: Meter, options: ImagesOptions) -> Proposal | Skipped:
    """Propose to replace all images older than the newest ones that are within the limits."""
    shown = tuple(_shown(view))
    if not shown:
        return Skipped(stage=NAME, reason="there are no images")
    limits = f"{options.max_images:,} images and {options.max_bytes:,} bytes of them"
    rewrites = tuple(_dropped(view, meter, options, shown, f"older than the newest {limits}"))
    if not rewrites:
        reason = f"no image that may be dropped is older than the newest {limits}"
        detail = "lower it with --images-max-images or --images-max-bytes"
        return Skipped(stage=NAME, reason=reason, detail=detail)
    note = f"images dropped: {_count(shown, rewrites):,}"
    return rewrite_proposal(view, rewrites, stage=NAME, options=options, note=note)


def _shown(view: ConversationView) -> Iterator[_ImagePart]:
    for place, part in iter_parts(view.messages):
        images = tuple(filter(_is_image, media_of(part)))
        if images:
            yield _ImagePart(part_index=place, part=part, images=images)


def _dropped(
    view: ConversationView,
    meter: Meter,
    options: ImagesOptions,
    shown: tuple[_ImagePart, ...],
    reason: str,
) -> Iterator[Rewrite]:
    for each in _beyond_limits(shown, options):
        text = _text(each, options)
        saved = tokens_saved(view, meter, each.part_index, text)
        if saved and _is_replaceable(view.messages[each.part_index.message], each):
            yield Rewrite(part_index=each.part_index, text=text, tokens_saved=saved, reason=reason)


def _beyond_limits(shown: tuple[_ImagePart, ...], options: ImagesOptions) -> tuple[_ImagePart, ...]:
    """Return what is not kept: the newest that does not fit any more, and all before it."""
    n_bytes = count = 0
    for index in reversed(range(len(shown))):
        n_bytes += sum(image.n_bytes for image in shown[index].images)
        count += len(shown[index].images)
        if n_bytes > options.max_bytes or count > options.max_images:
            return shown[: index + 1]
    return ()


def _is_replaceable(message: Message, shown: _ImagePart) -> bool:
    """Whether images can be replaced by text.

    What the model drew itself has to go back to it in its own shape, and other media of a result
    would be lost with its images.
    """
    others = isinstance(shown.part, ToolResultPart) and len(shown.images) < len(shown.part.media)
    return message.role != "assistant" and not others


def _count(shown: tuple[_ImagePart, ...], rewrites: tuple[Rewrite, ...]) -> int:
    places = {rewrite.part_index for rewrite in rewrites}
    return sum(len(each.images) for each in shown if each.part_index in places)


def _text(shown: _ImagePart, options: ImagesOptions) -> str:
    notes = [_note(image, options.placeholder) for image in shown.images]
    before = shown.part.text if isinstance(shown.part, ToolResultPart) else ""
    return "\n".join(filter(None, (before, *notes)))


def _note(image: MediaPart, placeholder: str) -> str:
    size = _size(image.n_bytes) if image.n_bytes else "size unknown"
    return placeholder.replace("{media}", image.media_type).replace("{size}", size)


def _size(n_bytes: int) -> str:
    """Return a size in MB, as agent-code writes it; a small one in kB or bytes."""
    if n_bytes >= _SMALLEST_IN_MB:
        return f"{n_bytes / _MEGABYTE:.1f} MB"
    return f"{n_bytes / _KILOBYTE:.1f} kB" if n_bytes >= _KILOBYTE else f"{n_bytes} B"


def _is_image(media: MediaPart) -> bool:
    return media.media_type.lower().startswith("image/")


STAGE = Stage(
    name=NAME,
    title="keep the newest images, put a note in place of older ones",
    options=ImagesOptions,
    propose=propose,
)
