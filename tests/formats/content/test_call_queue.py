from compactctl.formats.content.call_queue import NO_CALL, CallQueue
from compactctl.model.message import Tags


def test_parallel_calls_are_answered_in_their_order() -> None:
    queue = CallQueue("c")
    first, second = queue.call("read"), queue.call("read")

    assert [queue.result("read"), queue.result("read")] == [first, second]


def test_a_result_belongs_to_the_newest_batch_and_not_to_an_old_unanswered_call() -> None:
    queue = CallQueue("c")
    queue.call("read")
    queue.call("read")
    queue.result("read")
    newest = queue.call("read")

    assert queue.result("read") == newest


def test_a_late_result_goes_back_to_the_batch_that_still_waits_for_its_tool() -> None:
    queue = CallQueue("c")
    grep, read = queue.call("grep"), queue.call("read")
    queue.result("read")
    queue.call("read")
    queue.result("read")

    assert queue.result("grep") == grep
    assert grep != read


def test_the_step_tells_calls_of_one_tool_apart() -> None:
    queue = CallQueue("c")
    queue.call("read", 1)
    second = queue.call("read", 2)

    assert queue.result("read", 2) == second


def test_a_result_without_any_call_joins_nothing() -> None:
    assert CallQueue("c").result("read") == NO_CALL


def test_call_ids_never_repeat() -> None:
    queue = CallQueue("c")
    names = []
    for _ in range(200):
        names.append(queue.call("read"))
        queue.result("other")

    assert len(set(names)) == 200


def test_an_original_has_the_ids_of_the_record_that_was_rewritten_from_it() -> None:
    queue = CallQueue("c")
    early, late = queue.call("read"), queue.call("grep")
    queue.begin(Tags(edit_id="one"))
    rewritten = queue.result("grep")
    queue.begin(Tags(edit_parent="one"))
    original = queue.result("grep")
    queue.begin()

    assert (rewritten, original) == (late, late)
    assert queue.result("read") == early


def test_an_original_elsewhere_joins_as_any_other_record() -> None:
    queue = CallQueue("c")
    asked = queue.call("read")
    queue.begin(Tags(edit_id="one"))
    queue.begin()
    queue.begin(Tags(edit_parent="one"))

    assert queue.result("read") == asked
