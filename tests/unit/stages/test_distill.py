import json
from itertools import pairwise

import pytest
from builders import assistant, call, conversation, result, user
from unit.stages.support.trials import (
    carried_out,
    hidden,
    inserted,
    joined,
    meter,
    propose,
    skipped,
    view,
    without_marks,
    words,
)

from compactctl.history.conversation_view import ConversationView
from compactctl.model.message import Message, MessageId
from compactctl.records import replace
from compactctl.stages.distill import STAGE
from compactctl.stages.support.condensation import originals_after
from compactctl.tokens.meter import part_texts


def session(steps: int = 40) -> tuple[Message, ...]:
    """A task, and edits of files each of which is read before."""
    done: list[Message] = [user("Move the port into the settings; never touch the tests.")]
    for n in range(steps):
        path = f"src/part_{n}.py"
        code = "\n".join(f"value_{n}_{row} = read_setting({row})" for row in range(30))
        done += [
            call(f"r{n}", "Read", file_path=path),
            result(f"r{n}", code),
            assistant(f"The problem is value_{n}_7 because it is read before the settings are."),
            call(f"e{n}", "Edit", file_path=path, old_string=f"old_{n} = 1", new_string="new = 2"),
            result(f"e{n}", "The file has been updated."),
        ]
    return conversation(*done, user("Now run the checks."), assistant("They pass."))


@pytest.mark.parametrize("share", [0.5, 0.3, 0.15, 0.1])
def test_it_comes_down_to_what_is_asked_and_not_far_below(share: float) -> None:
    before = view(session())
    target = int(meter().total(before.messages) * share)
    after = carried_out(before, propose(STAGE, view(session(), target=target)))
    assert 0.92 * target <= meter().total(after.messages) <= target


def test_without_a_target_a_part_of_the_conversation_is_kept() -> None:
    before = view(session())
    after = carried_out(before, propose(STAGE, before, keep=0.2))
    total = meter().total(before.messages)
    assert 0.92 * 0.2 * total <= meter().total(after.messages) <= 0.2 * total


def test_more_of_the_newest_stays_as_it_is_where_much_is_kept() -> None:
    much = hidden(propose(STAGE, view(session()), form="digest", keep=0.5))
    little = hidden(propose(STAGE, view(session()), keep=0.1))
    assert set(much) < set(little)
    whole = hidden(propose(STAGE, view(session()), form="digest", keep=0.5, tail=0.9))
    assert set(whole) < set(much)


@pytest.mark.parametrize("target", [20_000, 100_000, 400_000])
@pytest.mark.parametrize("tail", [None, 0.3, 0.6])
def test_the_newest_that_stays_as_it_is_is_a_share_of_what_is_kept_at_any_size(
    target: int, tail: float | None
) -> None:
    size, talk = target // 50, [user("Moor the boats.")]
    while meter().total(talk) <= target:
        talk.append(assistant(f"Berth {len(talk)} is taken.\n{words(size)}"))
    options = {} if tail is None else {"tail": tail}
    before = view(conversation(*talk), target=target)
    gone = set(hidden(propose(STAGE, before, form="digest", **options)))
    newest = meter().total(m for m in before.messages if m.id not in gone)
    room = target * (0.1 if tail is None else tail)
    assert room - 1.2 * size < newest <= room


@pytest.mark.parametrize("size", [700, 1_900])
@pytest.mark.parametrize("target", [20_000, 60_000])
@pytest.mark.parametrize("form", ["digest", "in-place"])
def test_what_the_user_wrote_stays_whole_beside_what_they_pasted(
    size: int, target: int, form: str
) -> None:
    def pasted(name: str) -> Message:
        return user("\n\n".join(f"{name} {n} {words(96)}." for n in range(target // 150)))

    asked = user("\n\n".join(f"berth {n} {words(size // 10 - 2)}." for n in range(10)))
    steps = session(10)
    talk = joined(steps[0], pasted("quay"), asked, pasted("pier"), *steps[1:])
    of = view(talk, target=target)
    left = carried_out(of, propose(STAGE, of, form=form)).messages
    (text,) = part_texts(asked.parts[0])
    if form == "in-place":
        assert asked.parts in [each.parts for each in left]
    else:
        assert text in without_marks("\n".join(said(replace(of, messages=left))))
        little = carried_out(of, propose(STAGE, of, form=form, keep_user=0)).messages
        assert text not in without_marks("\n".join(said(replace(of, messages=little))))


@pytest.mark.parametrize("place", ["first", "newest"])
@pytest.mark.parametrize("form", ["digest", "in-place"])
def test_beside_words_that_are_more_than_is_asked_the_rest_is_still_told(
    place: str, form: str
) -> None:
    asked = "\n\n".join(f"berth {n} {words(48)}." for n in range(100))
    long = user(asked)
    messages = joined(long, *session()) if place == "first" else joined(*session(), long)
    protected = [messages[-1].id]
    of = view(messages, target=1_000, protected=protected)
    left = carried_out(of, propose(STAGE, of, form=form)).messages
    text = "".join(text for each in left for part in each.parts for text in part_texts(part))
    text = without_marks(text)
    if place == "newest":
        # It is protected, and more than half of what there is room for.
        assert asked in text
        assert meter().total(left) < 5_000 + 1_000
    else:
        assert asked.partition("berth 6 ")[0] in text
        assert "berth 9 " not in text
        assert meter().total(left) <= 1_000
    assert "never touch the tests" in text
    assert "src/part_" in text


def test_a_digest_is_made_of_the_originals_of_an_earlier_one() -> None:
    first = view(session())
    proposal = propose(STAGE, first, keep=0.3)
    gone = set(hidden(proposal))
    originals = {inserted(proposal).message.id: tuple(m for m in first.messages if m.id in gone)}
    once = carried_out(first, proposal).messages
    later = conversation(user("And now the docs."), assistant(words(50)))
    grown = (*once, *(replace(m, id=MessageId(f"later-{m.id}")) for m in later))
    target = meter().total(grown) // 2
    again = propose(STAGE, view(grown, target=target, originals=originals))
    text = inserted(again).message.text
    assert text.count("[Earlier conversation]:") == 1
    assert "never touch the tests" in text


def distilled(before: ConversationView, target: int) -> ConversationView:
    """Return a view after it was distilled, with what is known of its past."""
    proposal = propose(STAGE, replace(before, target=target), form="digest")
    known = originals_after(before, proposal.edits)
    return replace(carried_out(before, proposal), originals=known)


def test_what_is_small_enough_stays_as_it_is() -> None:
    total = meter().total(session())
    after = distilled(view(session()), int(0.3 * total))
    assert "already within the target" in skipped(STAGE, after, keep=0.3).reason


def test_smaller_and_smaller_digests_are_what_the_smallest_would_have_been() -> None:
    total = meter().total(session())
    targets = [int(share * total) for share in (0.5, 0.3, 0.1)]
    step_by_step = view(session())
    for target in targets:
        step_by_step = distilled(step_by_step, target)
    at_once = distilled(view(session()), targets[-1])
    assert said(step_by_step) == said(at_once)


def test_three_digests_in_a_life_are_what_one_at_its_end_would_have_been() -> None:
    whole = session(60)
    target = int(0.15 * meter().total(whole))
    ends = [len(whole) // 3, len(whole) * 2 // 3, len(whole)]
    grown = view(())
    for start, end in pairwise([0, *ends]):
        grown = replace(grown, messages=(*grown.messages, *whole[start:end]))
        grown = distilled(grown, target)
    assert said(grown) == said(distilled(view(whole), target))
    assert "never touch the tests" in "".join(said(grown))


def said(of: ConversationView) -> list[str]:
    return [text for m in of.messages for part in m.parts for text in part_texts(part)]


def with_large_newest() -> ConversationView:
    """A session whose newest step is as large as a third of all others."""
    lines = [f"row_{n} holds berth_{n} and pontoon_{n}" for n in range(700)]
    newest = (call("last", "Bash", command="make list"), result("last", "\n".join(lines)))
    talk = conversation(*session()[:-1], *newest)
    ids = [talk[0].id, talk[-2].id, talk[-1].id]
    return view(talk, protected=ids, automatic=ids[1:])


@pytest.mark.parametrize("form", ["digest", "in-place"])
def test_newest_work_that_is_too_large_is_shortened(form: str) -> None:
    before = with_large_newest()
    target = meter().total(before.messages) // 10
    after = carried_out(before, propose(STAGE, replace(before, target=target), form=form))
    assert 0.92 * target <= meter().total(after.messages) <= target
    call_left, result_left = after.messages[-2:]
    assert call_left == before.messages[-2]
    (kept,) = result_left.results
    (was,) = before.messages[-1].results
    assert set(kept.text.split("\n")) <= {*was.text.split("\n"), "…"}
    assert 0.3 * target < meter().part(kept) <= 0.5 * target


def test_a_smaller_size_refers_to_the_same_lines() -> None:
    before = with_large_newest()
    size = meter().total(before.messages)
    once = distilled(before, size // 5)
    written = tuple(replace(each, line=line) for line, each in enumerate(once.messages))
    again = distilled(replace(once, messages=written), size // 8)
    text = "".join(said(again))
    assert "\n[L" in text
    assert "[M" not in text


def test_a_newest_call_that_is_too_large_is_shortened() -> None:
    lines = [f"row_{n} holds berth_{n} and pontoon_{n}" for n in range(700)]
    written = call("last", "Write", file_path="rows.txt", content="\n".join(lines))
    talk = conversation(*session()[:-1], written, result("last", "The file has been written."))
    ids = [talk[0].id, talk[-2].id, talk[-1].id]
    before = view(talk, protected=ids, automatic=ids[1:])
    target = meter().total(talk) // 10
    after = carried_out(before, propose(STAGE, replace(before, target=target)))
    assert 0.92 * target <= meter().total(after.messages) <= target
    (kept,) = after.messages[-2].calls
    assert json.loads(kept.arguments).keys() == {"file_path", "content"}


def test_a_skill_that_the_newest_request_calls_stays_whole() -> None:
    steps = "\n".join(f"Then tie berth_{n} to pontoon_{n}." for n in range(400))
    skill = user(f"# How to moor\n{steps}", is_injected=True, is_instruction=True)
    extra = user(f"<env>\n{steps.replace('tie', 'see')}\n</env>", is_injected=True)
    talk = conversation(*session()[:-1], user("/moor"), skill, extra)
    ids = [talk[0].id, *(message.id for message in talk[-3:])]
    before = view(talk, protected=ids, automatic=ids[1:])
    target = meter().total(talk) // 8
    after = carried_out(before, propose(STAGE, replace(before, target=target)))
    assert after.messages[-3:-1] == talk[-3:-1]
    assert len(part_texts(after.messages[-1].parts[0])[0]) < len(steps) / 2


def test_newest_work_that_somebody_asked_for_stays_as_it_is() -> None:
    before = with_large_newest()
    before = replace(before, protection=replace(before.protection, automatic=frozenset()))
    target = meter().total(before.messages) // 10
    after = carried_out(before, propose(STAGE, replace(before, target=target)))
    assert after.messages[-2:] == before.messages[-2:]


def test_where_there_is_no_room_the_requests_are_all_that_is_said() -> None:
    outcome = propose(STAGE, view(session(), target=50))
    assert [line for line in inserted(outcome).message.text.split("\n") if ">" in line[:2]] == []


def test_a_smaller_size_is_made_from_the_originals() -> None:
    first = view(session())
    large = propose(STAGE, first, form="digest", keep=0.5)
    gone = set(hidden(large))
    originals = {inserted(large).message.id: tuple(m for m in first.messages if m.id in gone)}
    once = carried_out(first, large).messages
    target = meter().total(first.messages) // 5
    small = propose(STAGE, view(once, target=target, originals=originals), form="digest")
    after = carried_out(view(once), small)
    assert 0.92 * target <= meter().total(after.messages) <= target
    at_once = propose(STAGE, first, form="digest", keep=0.2)
    assert inserted(small).message.text == inserted(at_once).message.text
