"""How a client is led through all that changes a session, as far as it needs no screen."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from subprocess import SubprocessError

from clients.desk import Desk, write_picture
from clients.running import SUMMARY, entry
from clients.stub import Answer
from clients.watched import Watched

Step = Callable[[Watched, Desk, str], str]
FAILED = "failed:"
# What a client that behaves in another way leads to.
_ERRORS = (OSError, ValueError, LookupError, AssertionError, SubprocessError)


def lead(watched: Watched, desk: Desk) -> Iterator[tuple[str, str]]:
    """Have a client do all that changes a session; yield what, and how that went."""
    desk.project.mkdir(parents=True)
    session = ""
    for step in STEPS:
        try:
            outcome = step(watched, desk, session)
        except _ERRORS as error:
            outcome = f"{FAILED} {error!r:.300}"
        yield step.__name__.strip("_").replace("_", " "), outcome
        try:
            session = watched.client.id_of(watched.client.session(desk))
        except (OSError, ValueError):
            return


def _say(
    watched: Watched, desk: Desk, session: str, *answers: Answer, limit: int | None = None
) -> str:
    """Say something, which the model answers so; return how many requests that took."""
    desk.model.expect(*answers, Answer(text="It is done."))
    printed = watched.client.say(desk, "What about it?", session=session, limit=limit)
    if not desk.model.requests:
        return f"{FAILED} nothing was asked: {printed.strip()[-300:]!r}"
    left = len(desk.model.script)
    return f"done, {len(desk.model.requests)} requests" + (f", {left} answers left" if left else "")


def _parallel_calls(watched: Watched, desk: Desk, session: str) -> str:
    first, *beside = _reads(watched, desk)
    return _say(watched, desk, session, replace(first, beside=tuple(beside)))


def _reads(watched: Watched, desk: Desk) -> Iterator[Answer]:
    """Yield the calls that show long files."""
    for number in range(6):
        path = desk.project / f"log-{number}.txt"
        path.write_text("".join(map(entry, range(watched.client.lines))))
        yield watched.client.read(path)


def _picture(watched: Watched, desk: Desk, session: str) -> str:
    return _say(watched, desk, session, watched.picture(write_picture(desk)))


def _interrupted_answer(watched: Watched, desk: Desk, session: str) -> str:
    return _say(watched, desk, session, Answer(text="It would be long.", interrupts=True))


def _interrupted_call(watched: Watched, desk: Desk, session: str) -> str:
    return _say(watched, desk, session, replace(watched.run("sleep 60"), interrupts=True))


def _rewind(watched: Watched, desk: Desk, session: str) -> str:
    if watched.rewind is None:
        return f"not done: {watched.no_rewind}"
    _say(watched, desk, session)
    return f"said: {watched.rewind(desk, watched.client.session(desk)).strip()[-200:]}"


def _compaction(watched: Watched, desk: Desk, session: str) -> str:
    if watched.no_compaction:
        return f"not done: {watched.no_compaction}"
    _say(watched, desk, session, *_reads(watched, desk))
    full = desk.model.context
    # Copilot CLI compacts beside a turn, and not any more when that is done.
    desk.model.expect(watched.run("sleep 5"), usual=SUMMARY)
    printed = watched.client.say(desk, "And in short?", session=session, limit=int(full * 0.9))
    if not desk.model.requests:
        return f"{FAILED} nothing was asked: {printed.strip()[-300:]!r}"
    return f"done, {len(desk.model.requests)} requests, the last {desk.model.context} of {full}"


def _another_model(watched: Watched, desk: Desk, session: str) -> str:
    return _say(watched, replace(desk, asked=watched.other_model), session)


def _resumed(watched: Watched, desk: Desk, session: str) -> str:
    return _say(watched, desk, session)


STEPS: tuple[Step, ...] = (
    _parallel_calls,
    _picture,
    _interrupted_answer,
    _interrupted_call,
    _rewind,
    _compaction,
    _another_model,
    _resumed,
)
