"""Images: replace older images with a note, keep the newest."""

from collections.abc import Iterator

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import PartIndex, iter_parts
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.message import MediaPart, Message, Part, ToolResultPart, media_of
from compactctl.records import Record
from compactctl.stages.support.replacement import Rewrite, count_saved_tokens, propose_rewrites
from compactctl.stages.support.stage import Stage, option
from compactctl.tokens.media import base64_length
from compactctl.tokens.meter import Meter

NAME = "images"
_MEGABYTE, _KILOBYTE = 1_000_000, 1_000
# Smaller images would be rounded to 0.0 MB.
_MIN_BYTES_IN_MB = 50_000


class ImagesOptions(Record):
    """How many images to keep; the defaults are those of agent-code."""

    max_bytes: int = option(
        12 * 1024 * 1024, "Total size of the newest images to keep, in bytes of base64."
    )
    max_images: int = option(32, "Number of the newest images to keep.")
    placeholder: str = option(
        "[image dropped from context — {media}, {size}]",
        "Text that replaces an image; ``{media}`` is its media type, ``{size}`` its size.",
    )


class _ImagePart(Record):
    """A part with images: an image itself, or a tool result that contains some."""

    part_index: PartIndex
    part: Part
    images: tuple[MediaPart, ...]


def propose(
    view: ConversationView, meter: Meter, options: ImagesOptions
) -> Proposal | SkippedStage:
    """Propose to replace all images but the newest that fit the limits."""
    image_parts = tuple(_image_parts(view))
    if not image_parts:
        return SkippedStage(stage=NAME, reason="no images")
    limits = f"{options.max_images:,} images and {options.max_bytes:,} bytes of them"
    reason = f"older than the newest {limits}"
    rewrites = tuple(_rewrites(view, meter, options, image_parts, reason))
    if not rewrites:
        reason = f"no image that can be dropped is {reason}"
        detail = "lower it with --images-max-images or --images-max-bytes"
        return SkippedStage(stage=NAME, reason=reason, detail=detail)
    note = f"images dropped: {_count_images(image_parts, rewrites):,}"
    return propose_rewrites(view, rewrites, stage=NAME, options=options, note=note)


def _image_parts(view: ConversationView) -> Iterator[_ImagePart]:
    for part_index, part in iter_parts(view.messages):
        images = tuple(filter(_is_image, media_of(part)))
        if images:
            yield _ImagePart(part_index=part_index, part=part, images=images)


def _rewrites(
    view: ConversationView,
    meter: Meter,
    options: ImagesOptions,
    image_parts: tuple[_ImagePart, ...],
    reason: str,
) -> Iterator[Rewrite]:
    for image_part in _beyond_limits(image_parts, options):
        text = _text_for(image_part, options)
        saved = count_saved_tokens(view, meter, image_part.part_index, text)
        if saved and _is_replaceable(view.messages[image_part.part_index.message], image_part):
            yield Rewrite(
                part_index=image_part.part_index, text=text, tokens_saved=saved, reason=reason
            )


def _beyond_limits(
    image_parts: tuple[_ImagePart, ...], options: ImagesOptions
) -> tuple[_ImagePart, ...]:
    """Return the parts from the oldest to the newest with which a limit is exceeded."""
    n_bytes = count = 0
    for index in reversed(range(len(image_parts))):
        n_bytes += sum(base64_length(image.n_bytes) for image in image_parts[index].images)
        count += len(image_parts[index].images)
        if n_bytes > options.max_bytes or count > options.max_images:
            return image_parts[: index + 1]
    return ()


def _is_replaceable(message: Message, image_part: _ImagePart) -> bool:
    """Whether the images of a part can be replaced by text.

    Images that the model generated must be sent back unchanged, and replacing a tool result would
    also remove its other media.
    """
    part = image_part.part
    has_other_media = isinstance(part, ToolResultPart) and len(part.media) > len(image_part.images)
    return message.role != "assistant" and not has_other_media


def _count_images(image_parts: tuple[_ImagePart, ...], rewrites: tuple[Rewrite, ...]) -> int:
    replaced = {rewrite.part_index for rewrite in rewrites}
    return sum(len(part.images) for part in image_parts if part.part_index in replaced)


def _text_for(image_part: _ImagePart, options: ImagesOptions) -> str:
    notes = [_note(image, options.placeholder) for image in image_part.images]
    result_text = image_part.part.text if isinstance(image_part.part, ToolResultPart) else ""
    return "\n".join(filter(None, (result_text, *notes)))


def _note(image: MediaPart, placeholder: str) -> str:
    size = _size(image.n_bytes) if image.n_bytes else "size unknown"
    return placeholder.replace("{media}", image.media_type).replace("{size}", size)


def _size(n_bytes: int) -> str:
    """Format a size in MB, as agent-code does; small sizes in kB or bytes."""
    if n_bytes >= _MIN_BYTES_IN_MB:
        return f"{n_bytes / _MEGABYTE:.1f} MB"
    return f"{n_bytes / _KILOBYTE:.1f} kB" if n_bytes >= _KILOBYTE else f"{n_bytes} B"


def _is_image(media: MediaPart) -> bool:
    return media.media_type.lower().startswith("image/")


STAGE = Stage(
    name=NAME,
    title="replace older images with a note, keep the newest",
    options=ImagesOptions,
    propose=propose,
    example=ImagesOptions(max_images=0),
)
