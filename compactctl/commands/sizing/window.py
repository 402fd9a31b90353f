"""Which context window a transcript is measured against, and why that one."""

from dataclasses import dataclass

from compactctl.model.message import Message
from compactctl.model.transcript import Transcript
from compactctl.tokens.clients import assumed_window, client_of
from compactctl.tokens.models.lookup import ModelInfo, window_holding


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A context window in tokens, and in words where it comes from.

    ``recorded`` tells that the transcript names it, ``for_input`` that it is for input alone.
    """

    tokens: int
    source: str
    recorded: bool = False
    for_input: bool = False


def window_of(transcript: Transcript, model: ModelInfo, *, named: bool = False) -> Window:
    """Return the window of the user's table, else the recorded one, else the model's.

    ``named`` tells that the model was asked for, whatever the transcript was written with. Of the
    latter two, a request that was answered shows that they are at least as large as it was, and
    one that was refused since says how large they are.
    """
    if model.own and model.own.window:
        return Window(tokens=model.window, source=f"{model.own.prefix!r} in {model.own.source}")
    if named:
        return _of_model(model, "--model")
    refusal = transcript.refusal
    if refusal is not None and refusal.limit is not None:
        source = f"the provider refused more, line {refusal.line + 1}"
        return Window(tokens=refusal.limit, source=source)
    found = _recorded(transcript) or _of_model(model, "model in the transcript")
    return _corrected(found, transcript, model)


def assumed(transcript: Transcript, model: ModelInfo) -> int | None:
    """Return the window that the client takes the model to have; None where it knows the model.

    A larger request that was answered shows that it was told otherwise.
    """
    window = assumed_window(transcript.format, transcript.client_version)
    is_known = model.family.startswith("Claude") or bool(model.own and model.own.window)
    if window is None or is_known or transcript.model is None:
        return None
    return window if max(map(_answered, transcript.messages), default=0) <= window else None


def shown_by_requests(transcript: Transcript, model: ModelInfo) -> int:
    """Return the largest request that was answered if it shows a larger window, else 0."""
    found = _recorded(transcript) or _of_model(model, "")
    shown = (_answered(m) for m in transcript.messages if _is_by(m, transcript.model))
    largest = max(shown, default=0)
    return largest if largest > found.tokens else 0


def _recorded(transcript: Transcript) -> Window | None:
    if not transcript.window:
        return None
    client = client_of(transcript.format, transcript.client_version)
    return Window(
        tokens=transcript.window,
        source="recorded in the transcript",
        recorded=True,
        for_input=client is not None and client.records_input,
    )


def _of_model(model: ModelInfo, where: str) -> Window:
    """Return a model's window; the source also says by what it is guessed, if it is."""
    source = f"{model.name}, {where}"
    match model.rule:
        case "unknown":
            source = "default for unknown models"
        case "provider default":
            source += f"; not a listed model, default of {model.match.rstrip('/')}"
        case "longest prefix":
            source += (
                f"; not a listed model, inferred from the beginning of its name, {model.match}"
            )
        case "Claude version" | "Claude line":
            source += f"; not a listed model, inferred from {model.match}"
        case "own table" | "name":
            pass
    if model.longer is not None:
        source += f"; assumed, it may have {model.longer:,}"
    return Window(tokens=model.window, source=source, for_input=model.for_input)


def _corrected(found: Window, transcript: Transcript, model: ModelInfo) -> Window:
    """Return the window that holds the largest request that the model answered."""
    shown = [m for m in transcript.messages if _is_by(m, transcript.model)]
    largest = max(shown, key=_answered, default=None)
    if largest is None or _answered(largest) <= found.tokens:
        return found
    tokens = _answered(largest)
    return Window(
        tokens=window_holding(model, tokens),
        source=f"a request of {tokens:,} tokens was answered, line {largest.line + 1}",
    )


def _is_by(message: Message, model: str | None) -> bool:
    return model is None or message.model in (None, model)


def _answered(message: Message) -> int:
    """Return what was sent for an answer, or noted of one that compactctl took out, in tokens."""
    return max(message.usage.context if message.usage else 0, message.tags.answered or 0)
