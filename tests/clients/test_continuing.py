"""A compacted session goes on in its client, which sends what is left and nothing before it."""

from pathlib import Path

import pytest
from clients.asking import compactctl, typed, viewed
from clients.running import Led

# Of what a session holds, from where on the client compacts by itself: below what it was when it
# is compacted, above what is left.
LIMIT = 0.7
STAGES = {
    "outputs": ("--stages", "dedup,prune", "--prune-protect-tokens", "500",
                "--prune-min-savings", "0", "--keep-turns", "0"),
    "default": ("--keep", "40%"),
    "summary": ("--stages", "summarize", "--keep-turns", "1"),
}  # fmt: skip
LAYOUTS = ("fork", "--in-place", "--native")
# Those that leave the session where it is, and whose client is told to go on with it.
NATIVE = frozenset({"claude-code", "codex", "pi"})
# Older clients do not tell that they have ended.
APPENDED = ("--native", "--while-open")


def compacted(led: Led, layout: str, stages: str) -> str:
    """Compact a session; return the one that the client goes on with."""
    if layout == "--in-place" and not led.client.has_files:
        pytest.skip(f"the database of {led.client.name} is only read")
    if layout == "--native" and led.client.name not in NATIVE:
        pytest.skip(f"nothing is appended to sessions of {led.client.name}")
    how = {"fork": (), "--native": APPENDED}.get(layout, (layout,))
    done = compactctl(led.desk, "compact", led.session, *STAGES[stages], *how)
    small = str(done["output"])
    led.client.take_in(led.desk, small)
    return small


def test_a_full_session_is_compacted_by_its_client(led: Led) -> None:
    if led.client.name == "cline":
        pytest.skip("what cline does for an editor it does not compact")
    whole = [*viewed(led.desk, led.session)]
    sent = led.say("And now?", led.session, limit=int(led.full * LIMIT))
    assert sent != [[*whole, typed("And now?")]]


@pytest.mark.each_choice
@pytest.mark.parametrize("limit", [0, LIMIT], ids=["off", "auto"])
@pytest.mark.parametrize("stages", STAGES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_it_sends_what_view_shows(led: Led, layout: str, stages: str, limit: float) -> None:
    before = bytes_of(led)
    small = compacted(led, layout, stages)
    left = [*viewed(led.desk, small)]
    sent = led.say("And now?", small, limit=int(led.full * limit))
    assert sent == [[*left, typed("And now?")]]
    if layout != "--in-place":
        assert bytes_of(led)[: len(before)] == before
    if layout == "fork":
        assert bytes_of(led) == before


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_said_since_survives_another_compaction_and_the_way_back(
    led: Led, layout: str
) -> None:
    if not led.client.has_files:
        pytest.skip(f"what {led.client.name} takes in is in its database: the original goes on")
    whole = [*viewed(led.desk, led.session)]
    small = compacted(led, layout, "outputs")
    led.say("And now?", small)
    again = APPENDED if layout == "--native" else ("--in-place",)
    compactctl(led.desk, "compact", small, *STAGES["summary"], *again)
    left = [*viewed(led.desk, small)]
    assert typed("And now?") in left
    assert led.say("And then?", small) == [[*left, typed("And then?")]]
    compactctl(led.desk, "rewind", small, "--all", "--while-open")
    since = ("And now?", "Understood.", "And then?", "Understood.", "And back?")
    # It is as large again as it was: with a limit the client would refuse it.
    assert led.say("And back?", small, limit=None) == [[*whole, *map(typed, since)]]


def bytes_of(led: Led) -> bytes:
    """Return the bytes of the session as it was led; none where it is not a file."""
    return Path(led.session).read_bytes() if led.client.has_files else b""


def test_what_its_client_compacted_is_appended_to(led: Led) -> None:
    if led.client.name not in NATIVE:
        pytest.skip(f"nothing is appended to sessions of {led.client.name}")
    led.say("And now?", led.session, limit=int(led.full * LIMIT))
    led.say("And then?", led.session)
    whole = [*viewed(led.desk, led.session)]
    before = bytes_of(led)
    compactctl(led.desk, "compact", led.session, *APPENDED, *STAGES["summary"])
    left = [*viewed(led.desk, led.session)]
    if left == whole:
        pytest.skip("its own compaction left nothing that could go")
    # Newer versions send their own summary, the first piece, in other words than they keep it.
    [sent] = led.say("And what else?", led.session)
    assert sent[1:] == [*left[1:], typed("And what else?")]
    compactctl(led.desk, "rewind", led.session, "--while-open")
    assert bytes_of(led)[: len(before)] == before
    since = ("And what else?", "Understood.", "And back?")
    [sent] = led.say("And back?", led.session)
    assert sent[1:] == [*whole[1:], *map(typed, since)]


def test_what_its_client_compacted_is_compacted_in_place(led: Led) -> None:
    if led.client.name not in NATIVE:
        pytest.skip(f"the sessions of {led.client.name} are not changed")
    led.say("And now?", led.session, limit=int(led.full * LIMIT))
    led.say("And then?", led.session)
    before = bytes_of(led)
    compactctl(led.desk, "compact", led.session, "--in-place", *STAGES["summary"])
    left = [*viewed(led.desk, led.session)]
    [sent] = led.say("And what else?", led.session)
    assert sent[1:] == [*left[1:], typed("And what else?")]
    compactctl(led.desk, "rewind", led.session, "--while-open")
    assert bytes_of(led)[: len(before)] == before


def test_what_its_client_compacted_is_undone_by_what_is_appended(led: Led) -> None:
    if led.client.name not in NATIVE:
        pytest.skip(f"nothing is appended to sessions of {led.client.name}")
    whole = [*viewed(led.desk, led.session)]
    led.say("And now?", led.session, limit=int(led.full * LIMIT))
    led.say("And then?", led.session)
    before, small = bytes_of(led), [*viewed(led.desk, led.session)]
    compactctl(led.desk, "rewind", led.session, "--client", *APPENDED)
    assert bytes_of(led)[: len(before)] == before
    since = ("And now?", "Understood.", "And then?", "Understood.")
    everything = [*viewed(led.desk, led.session)]
    # Codex keeps what it was answered when it asked for its summary.
    assert everything[: len(whole)] == whole
    assert everything[-len(since) :] == [*map(typed, since)]
    assert led.say("And back?", led.session, limit=None) == [[*everything, typed("And back?")]]
    compactctl(led.desk, "rewind", led.session, "--while-open")
    assert [*viewed(led.desk, led.session)][: len(small)] == small
