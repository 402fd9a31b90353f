from compactctl.clients.content.call_queue import NO_CALL, CallIdAssigner
from compactctl.model.message import Tags


def test_parallel_calls_are_answered_in_their_order() -> None:
    queue = CallIdAssigner("c")
    first, second = queue.id_for_call("read"), queue.id_for_call("read")

    assert [queue.id_for_result("read"), queue.id_for_result("read")] == [first, second]


def test_a_result_belongs_to_the_newest_batch_and_not_to_an_old_unanswered_call() -> None:
    queue = CallIdAssigner("c")
    queue.id_for_call("read")
    queue.id_for_call("read")
    queue.id_for_result("read")
    newest = queue.id_for_call("read")

    assert queue.id_for_result("read") == newest


def test_a_late_result_goes_back_to_the_batch_that_still_waits_for_its_tool() -> None:
    queue = CallIdAssigner("c")
    grep, read = queue.id_for_call("grep"), queue.id_for_call("read")
    queue.id_for_result("read")
    queue.id_for_call("read")
    queue.id_for_result("read")

    assert queue.id_for_result("grep") == grep
    assert grep != read


def test_the_step_tells_calls_of_one_tool_apart() -> None:
    queue = CallIdAssigner("c")
    queue.id_for_call("read", 1)
    second = queue.id_for_call("read", 2)

    assert queue.id_for_result("read", 2) == second


def test_a_result_without_any_call_joins_nothing() -> None:
    assert CallIdAssigner("c").id_for_result("read") == NO_CALL


def test_call_ids_never_repeat() -> None:
    queue = CallIdAssigner("c")
    names = []
    for _ in range(200):
        names.append(queue.id_for_call("read"))
        queue.id_for_result("other")

    assert len(set(names)) == 200


def test_an_original_has_the_ids_of_the_record_that_was_rewritten_from_it() -> None:
    queue = CallIdAssigner("c")
    early, late = queue.id_for_call("read"), queue.id_for_call("grep")
    queue.begin_record(Tags(edit_id="one"))
    rewritten = queue.id_for_result("grep")
    queue.begin_record(Tags(edit_parent="one"))
    original = queue.id_for_result("grep")
    queue.begin_record()

    assert (rewritten, original) == (late, late)
    assert queue.id_for_result("read") == early


def test_an_original_elsewhere_joins_as_any_other_record() -> None:
    queue = CallIdAssigner("c")
    asked = queue.id_for_call("read")
    queue.begin_record(Tags(edit_id="one"))
    queue.begin_record()
    queue.begin_record(Tags(edit_parent="one"))

    assert queue.id_for_result("read") == asked


def test_a_recorded_id_needs_no_order_and_closes_its_call_to_results_without_one() -> None:
    queue = CallIdAssigner("c")
    calls = [queue.id_for_call("read", recorded_id=name) for name in ("x", "")]

    assert calls == ["x", "c1"]
    assert queue.id_for_result("read", recorded_id="x") == "x"
    assert queue.id_for_result("read") == "c1"
    assert queue.id_for_result("read") == NO_CALL


def test_a_result_without_an_id_answers_an_open_call_with_one() -> None:
    queue = CallIdAssigner("c")
    queue.id_for_call("read", recorded_id="x")

    assert queue.id_for_result("read") == "x"
