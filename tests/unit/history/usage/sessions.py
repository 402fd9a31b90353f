"""Sessions whose answers say what was reported of them."""

from typing import Any

from builders import assistant, conversation
from unit.stages.support.trials import meter

from compactctl.history.usage.rounds import Round, find_rounds
from compactctl.model.message import Message, ReportedUsage
from compactctl.model.transcript import Transcript


def session(*messages: Message, **facts: Any) -> Transcript:
    found = conversation(*messages)
    return Transcript(
        format="test", n_lines=len(found), n_bytes=0, messages=found, effective=found, **facts
    )


def answer(context: int, read: int | None = None, name: str = "", **fields: Any) -> Message:
    """Build an answer; ``output`` and ``write`` are what was reported as well."""
    reported = {"output": fields.pop("output", 10), "cache_write": fields.pop("write", None)}
    usage = ReportedUsage(context=context, cache_read=read, **reported)
    return assistant("ok", response_id=name or f"r{context}", usage=usage, **fields)


def found(*messages: Message, **facts: Any) -> tuple[Round, ...]:
    return find_rounds(session(*messages, **facts), meter()).rounds
