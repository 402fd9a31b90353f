"""A session about a garden planner: long enough to be cut, and with a future that looks back."""

from collections.abc import Iterator

from builders import assistant, call, conversation, result, user

from compactctl.model.message import Message

RULE = "Never water the cactus_bed before noon or in rain."
CHANGED = "garden/beds.py"
BROKEN = "ValueError: soil_sensor answered nothing"
CHECK = "pytest -q tests/test_beds.py"


def line(plot: int, row: int) -> str:
    """Return a line of a plot's file."""
    return f"bed_{plot}_{row} = plant_{row} + water_{plot} - sun * day"


def _looks(count: int, filler: int) -> Iterator[Message]:
    for number in range(count):
        name = f"look{number}"
        yield call(name, "Read", file_path=f"garden/plot_{number}.py")
        lines = [line(number, row) for row in range(filler)]
        yield result(name, "\n".join(lines))


def _work() -> Iterator[Message]:
    yield call("edit", "Edit", file_path=CHANGED, old_string="a = 1", new_string="a = 2")
    yield result("edit", "ok")
    yield call("check", "Bash", command=CHECK)
    yield result("check", f"collected 3 items\n{BROKEN}\n1 failed in 0.2s", is_error=True)


def _later(count: int) -> Iterator[Message]:
    for number in range(count):
        name = f"later{number}"
        path = f"garden/plot_{number}.py"
        yield call(name, "Edit", file_path=path, old_string=line(number, 3))
        yield result(name, "done")


def session(
    *first: Message, before: int = 12, after: int = 10, filler: int = 60
) -> tuple[Message, ...]:
    """Return a session with so many reads before its edits, and requests behind them."""
    return conversation(
        *first,
        user(f"Make garden/beds.py tidy. {RULE}"),
        *_looks(before, filler),
        *_work(),
        assistant("The soil_sensor is next, then the greenhouse_roof."),
        user("Go on with the plots, one by one."),
        *_later(after),
    )
