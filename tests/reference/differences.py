"""Where compactctl answers differently from NeuroLink on purpose: each difference, once.

A difference explains a pair of answers only if its predicate holds for exactly that question and
both answers; everything else that differs is an error.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Any

from reference.ours import Question, counter_of

from compactctl.stages.support.cutting import byte_length, line_count

Answer = Any
# Whether a difference explains the answers to a question: NeuroLink's and compactctl's.
Predicate = Callable[[Question, Answer, Answer], bool]
Message = Mapping[str, Any]
# Whose contents a stage may replace.
_MAY_CHANGE: Mapping[str, tuple[str, ...]] = {
    "prune": ("tool_result",),
    "dedup": ("tool_result", "assistant"),
    "compact": ("tool_result", "assistant"),
    "summarize": (),
    "truncate": (),
    "repair": (),
}
_TOOL_ROLES = ("tool_call", "tool_result")
# FILE_READ_PATTERN
_READ = re.compile(
    r"(?:read|reading|read_file|readFile|Read file|cat)\s+['\"`]?([^\s'\"`\n]+)", re.IGNORECASE
)
_TAGS = {
    "condense": ("condenseId", "condenseParent"),
    "truncate": ("truncationId", "truncationParent"),
}
_CLEARED = "[Tool result cleared]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference in some areas, its reason, and whether it explains two answers."""

    name: str
    areas: tuple[str, ...]
    reason: str
    explains: Predicate


def explanation(question: Question, theirs: Answer, ours: Answer) -> str:
    """Return the name of the difference that explains two unequal answers; "" for none."""
    candidates = (each for each in DIFFERENCES if question["area"] in each.areas)
    names = (each.name for each in candidates if each.explains(question, theirs, ours))
    return next(names, "") if _is_consistent(question, theirs, ours) else ""


def _is_consistent(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Whether what compactctl did to a conversation is possible at all, and its figures agree."""
    if not (isinstance(ours, dict) and "after" in ours):
        return True
    area, messages, after = question["area"], question["messages"], ours["after"]
    positions, rewritten = _positions(after), _rewritten(after)
    hidden = sorted(set(range(len(messages))) - set(positions))
    texts = {_CLEARED, *_rewritten(theirs["after"]).values(), *map(_notice, messages)}
    return (
        positions == sorted(set(positions))
        and all(messages[index]["role"] in _MAY_CHANGE[area] for index in rewritten)
        and texts.issuperset(rewritten.values())
        and _are_in_one_piece(messages, hidden)
        and ours.get("messagesRemoved", len(hidden)) == len(hidden)
        and ours.get("tokensAfter", 0) in (0, area == "compact" and _tokens_after(question, ours))
        and (bool(hidden) == (len(after) > len(positions)) or area == "repair")
    )


def _are_in_one_piece(messages: Sequence[Message], hidden: Sequence[int]) -> bool:
    """Whether only summaries and system messages remain between hidden messages."""
    between = set(range(hidden[0], hidden[-1])) - set(hidden) if hidden else set()
    return all(
        messages[index]["role"] == "system" or messages[index].get("metadata", {}).get("isSummary")
        for index in between
    )


def _notice(message: Message) -> str:
    read = _READ.search(message["content"])
    return f"[File {read[1]} - refer to latest read below]" if read else ""


def _positions(after: Sequence[Any]) -> list[int]:
    """Return the positions of the messages that remain, changed or not."""
    return [
        entry if isinstance(entry, int) else entry[0]
        for entry in after
        if isinstance(entry, int) or entry[0] is not None
    ]


def _rewritten(after: Sequence[Any]) -> dict[int, str]:
    return {e[0]: e[1] for e in after if not isinstance(e, int) and e[0] is not None}


def _is_safe(messages: Sequence[Message], cut: int) -> bool:
    """Return whether no call before a position has its result after it."""
    if not 0 < cut < len(messages):
        return True
    before, after = messages[cut - 1]["role"], messages[cut]["role"]
    is_inside = before in _TOOL_ROLES and after in _TOOL_ROLES
    following = takewhile(lambda message: message["role"] in _TOOL_ROLES, messages[cut:])
    has_result = any(message["role"] == "tool_result" for message in following)
    return not is_inside or not has_result or (before, after) == ("tool_result", "tool_call")


def _cuts(after: Sequence[Any], count: int) -> list[int]:
    """Return the ends of the gaps in what remains of ``count`` messages."""
    positions = _positions(after)
    bounds = [-1, *positions, count]
    gaps = [(a + 1, b) for a, b in pairwise(bounds) if b > a + 1]
    return [end for gap in gaps for end in gap]


def _splits_pairs(messages: Sequence[Message], after: Sequence[Any]) -> bool:
    return any(not _is_safe(messages, cut) for cut in _cuts(after, len(messages)))


def _window(question: Question, theirs: Answer, ours: Answer) -> bool:
    key = (question["provider"], question["model"])
    return (theirs[0], ours[0]) == _OTHER_WINDOWS.get(key)


_OTHER_WINDOWS = {
    ("openai", "o1-mini-2024-09-12"): (200_000, 128_000),
    ("openai", "gpt-5.4-mini-2026-03-05"): (1_050_000, 400_000),
}


def _no_room(question: Question, theirs: Answer, ours: Answer) -> bool:
    return bool(theirs[0] == ours[0] and theirs[1] < 0 == ours[1])


def _system_in_history(question: Question, theirs: Answer, ours: Answer) -> bool:
    request = question["request"]
    counter = counter_of(request["provider"])
    messages = request["conversationMessages"]
    leading = takewhile(lambda message: message["role"] == "system", messages)
    moved = sum(counter.count_many([message["content"] for message in leading]))
    parts = dict(theirs["breakdown"])
    parts["systemPrompt"] += moved
    parts["conversationHistory"] -= moved
    return bool({**theirs, "breakdown": parts} == ours)


def _tiny_results(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Prune again, but no results that are no larger than the placeholder, nor the newest."""
    messages, config = question["messages"], question["config"]
    counter = counter_of(config["provider"])
    (least,) = counter.count_many([_CLEARED])
    sizes = counter.count_many([message["content"] for message in messages])
    used, expected = 0, set()
    for index in reversed(range(len(messages))):
        is_protected = messages[index].get("tool") in config["protectedTools"]
        if messages[index]["role"] != "tool_result" or is_protected:
            continue
        if used >= config["protectTokens"]:
            expected.add(index)
        else:
            used += sizes[index]
    expected = {n for n in expected if sizes[n] > least and n != len(messages) - 1}
    saved = sum(sizes[index] - least for index in expected)
    if saved < max(1, config["minimumSavings"]):
        expected, saved = set(), 0
    return ours["tokensSaved"] == saved and set(_rewritten(ours["after"])) == expected


def _tiny_reads(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Deduplicate again, but no older reads that are no larger than their notice."""
    messages = question["messages"]
    count = counter_of(None).count_many
    reads = {
        index: match[1]
        for index, message in enumerate(messages)
        if message["role"] in _MAY_CHANGE["dedup"] and (match := _READ.search(message["content"]))
    }
    newest = {name: index for index, name in reads.items()}
    notices = {n: _notice(messages[n]) for n, name in reads.items() if n != newest[name]}
    expected = {
        index: notice
        for index, notice in notices.items()
        if count([notice])[0] < count([messages[index]["content"]])[0]
    }
    before = sum(len(messages[index]["content"]) for index in expected)
    if before - sum(map(len, expected.values())) < 0.3 * before:
        expected = {}
    figure = ours["filesDeduped"] == len(set(expected.values()))
    return figure and _rewritten(ours["after"]) == expected


def _surrogates(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Whether the share of characters depends on those that are two for NeuroLink."""
    contents = [message["content"] for message in question["messages"]]
    replaced = _rewritten(theirs["after"])
    after = sum(len(notice) for notice in replaced.values())
    before = sum(len(contents[index]) for index in replaced)
    return bool(replaced) and not _rewritten(ours["after"]) and before - after < 0.3 * before


def _dangling_notice(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Whether theirs has a notice about a read that it hides."""
    contents = [message["content"] for message in question["messages"]]
    notices = _rewritten(theirs["after"])
    for index, notice in notices.items():
        name = notice.removeprefix("[File ").partition(" - refer to latest read below]")[0]
        later = [n for n in _positions(theirs["after"]) if n > index and n not in notices]
        reads = [_READ.search(contents[n]) for n in later]
        if notice.startswith("[File ") and not any(read and read[1] == name for read in reads):
            return index not in _rewritten(ours["after"])
    return False


def _fits_without_frames(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Hold the messages that ours keeps against the part of the target for contents."""
    messages, config = question["messages"], question["config"]
    counter = counter_of(config["provider"])
    sizes = counter.count_many([m["content"] for m in messages])
    target, total = config["targetTokens"], counter.conversation([m["content"] for m in messages])
    share = config.get("keepRecentRatio", 0.3)
    room = target * sum(sizes) // total * share
    kept, number = _positions(ours["after"]), len(messages)
    first = min(kept, default=number)
    if not kept or kept != list(range(first, number)) or not _is_safe(messages, first):
        return False
    # The cut before the one that the contents alone allow.
    limit = number
    while limit and sum(sizes[limit - 1 :]) <= room:
        limit -= 1
    limit = min(limit, number - 1)
    while not _is_safe(messages, limit):
        limit -= 1
    return first == limit


def _system_stays(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Whether theirs hides a message that ours keeps, or counts one to the first exchange."""
    messages, kept = question["messages"], set(_positions(ours["after"]))
    is_cut = question["area"] != "summarize" and not _summary_in(question, ours)
    front = next((n for n, m in enumerate(messages) if m["role"] != "system"), 0)
    fixed = set(range(front))
    if is_cut:
        fixed |= {n for n, m in enumerate(messages) if m.get("metadata", {}).get("isSummary")}
    is_moved = is_cut and not fixed.isdisjoint({0, 1})
    return fixed <= kept and (is_moved or not fixed <= set(_positions(theirs["after"])))


def _pairs_stay(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Whether theirs splits a pair, and ours leaves no more than the target or whole pairs."""
    messages = question["messages"]
    largest = max(_target(question), _tokens_with_whole_pairs(question, theirs))
    is_split = _splits_pairs(messages, theirs["after"])
    is_whole = not _splits_pairs(messages, ours["after"])
    return is_split and is_whole and _tokens_after(question, ours) <= largest


def _tokens_with_whole_pairs(question: Question, answer: Answer) -> int:
    """Return the tokens of what remains with both halves of each pair, and another marker."""
    messages, parts = question["messages"], set(_positions(answer["after"]))
    for cut in _cuts(answer["after"], len(messages)):
        first = end = cut
        while not _is_safe(messages, first):
            first -= 1
        while not _is_safe(messages, end):
            end += 1
        parts |= set(range(first, end))
    added = [messages[index]["content"] for index in parts - set(_positions(answer["after"]))]
    written = [e[1] for e in answer["after"] if isinstance(e, list) and e[0] is None]
    counter = counter_of(question["config"]["provider"])
    return _tokens_after(question, answer) + counter.conversation([*added, *written])


def _late_results(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    """Yield the calls whose results come after other messages, with these results."""
    pending: list[int] = []
    for index, message in enumerate(messages):
        if message["role"] == "tool_call":
            pending.append(index)
        elif message["role"] == "tool_result":
            tool = message.get("tool")
            fits = [n for n in pending if tool in (None, messages[n].get("tool"))]
            if fits and _group(messages, index) != _group(messages, fits[-1]):
                yield fits[-1], index
            pending = [n for n in pending if n not in fits[-1:]]


def _late_result(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Whether theirs keeps one of a call and its late result, and ours both or none."""
    kept_by_theirs, kept_by_ours = (set(_positions(answer["after"])) for answer in (theirs, ours))
    return any(
        len(kept_by_theirs.intersection(pair)) == 1 and len(kept_by_ours.intersection(pair)) != 1
        for pair in _late_results(question["messages"])
    )


def _late_result_repaired(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Whether theirs completes a call and its late result, and ours leaves both as they are."""
    after = list(theirs["after"])
    for call, result in _late_results(question["messages"]):
        places = (after.index(call) + 1, after.index(result) - 1)
        for place in sorted(places, reverse=True):
            if isinstance(after[place], list):
                del after[place]
    return bool(after == ours["after"])


def _newest_stays(question: Question, theirs: Answer, ours: Answer) -> bool:
    newest = len(question["messages"]) - 1
    is_rewritten = newest in _rewritten(theirs["after"])
    is_touched = is_rewritten or newest not in _positions(theirs["after"])
    return is_touched and newest in ours["after"]


def _small_fraction(question: Question, theirs: Answer, ours: Answer) -> bool:
    count = len(question["messages"])
    share = int((count - 2) * question["config"].get("fraction", 1))
    return share < 2 and _positions(ours["after"]) == list(range(count))


def _rounded_target(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Whether a share is so near to two messages more that one token of the target decides."""
    contents, config = [m["content"] for m in question["messages"]], question["config"]
    counter = counter_of(config["provider"])
    counted, total = sum(counter.count_many(contents)), counter.conversation(contents)
    first = min(0.9, max(0.1, 1 - _target(question) / total + 0.15))
    return "targetTokens" in config and any(
        theirs["messagesRemoved"] == _even_count(contents, share)
        and ours["messagesRemoved"] == _even_count(contents, share + 1 / counted)
        for share in (min(0.95, first + step) for step in (0, 0.25, 0.5, 0.95))
    )


def _even_count(contents: Sequence[str], share: float) -> int:
    count = int((len(contents) - 2) * share)
    return count - count % 2


def _not_smaller(question: Question, theirs: Answer, ours: Answer) -> bool:
    messages, config = question["messages"], question["config"]
    kept = set(_positions(theirs["after"]))
    hidden = [m["content"] for index, m in enumerate(messages) if index not in kept]
    marker = next((e[1] for e in theirs["after"] if isinstance(e, list) and e[0] is None), "")
    counter = counter_of(config["provider"])
    is_small = sum(counter.count_many(hidden)) <= counter.count_many([marker])[0]
    return is_small and ours["after"] == list(range(len(messages)))


def _few_messages(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Whether theirs cuts texts, or gives up, where ours hides messages."""
    count = len(question["messages"])
    is_cut = all(text.endswith("...") for text in _rewritten(theirs["after"]).values())
    is_whole = _positions(theirs["after"]) == list(range(count))
    return count <= 4 and is_cut and is_whole and len(_positions(ours["after"])) < count


def _orphans_shown(question: Question, theirs: Answer, ours: Answer) -> bool:
    return bool(ours == _visible(question["messages"]) and set(theirs) < set(ours))


def _visible(messages: Sequence[Message], without: str = "") -> list[int]:
    """Return the messages that are hidden behind nothing that exists."""
    groups = {message.get(tag) for message in messages for tag in ("condenseId", "truncationId")}
    groups -= {None, without}
    return [
        index
        for index, message in enumerate(messages)
        if groups.isdisjoint({message.get("condenseParent"), message.get("truncationParent")})
        and without not in (message.get("condenseId"), message.get("truncationId"))
    ]


def _fits_with_summary(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Whether what theirs keeps is over its share of what the target leaves for contents."""
    contents = [message["content"] for message in question["messages"]]
    config = question["config"]
    counter = counter_of(config["provider"])
    counted, total = sum(counter.count_many(contents)), counter.conversation(contents)
    after = _tokens_after(question, theirs) - counter.framing(len(theirs["after"]))
    kept, kept_by_theirs = _positions(ours["after"]), _positions(theirs["after"])
    recent = sum(counter.count_many([contents[index] for index in kept_by_theirs]))
    room = (_target(question) - 1) * counted // total
    # Of a summary alone, ``_fits_without_frames`` holds the share to keep against the same room.
    is_over = after > room or (question["area"] == "compact" and recent > room * 0.3)
    if "truncate" in theirs.get("stagesUsed", ()) and "truncate" not in ours["stagesUsed"]:
        return _summary_in(question, ours) and ours["tokensAfter"] <= question["target"]
    return _summary_in(question, ours) and is_over and set(kept) < set(kept_by_theirs)


def _summary_in(question: Question, answer: Answer) -> bool:
    summary = question.get("summary", "")
    return any(isinstance(e, list) and summary and summary in e[1] for e in answer["after"])


def _everything_fits(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Whether theirs keeps only the newest message although the share of all of them is free."""
    contents, config = [m["content"] for m in question["messages"]], question["config"]
    size = sum(counter_of(config["provider"]).count_many(contents))
    return (
        _positions(theirs["after"]) == [len(contents) - 1]
        and size <= config["targetTokens"] * config.get("keepRecentRatio", 0.3)
        and len(_positions(ours["after"])) > 1
    )


def _no_gain(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Whether what theirs hides is no larger than the summary, and ours does nothing."""
    contents = [message["content"] for message in question["messages"]]
    kept = set(_positions(theirs["after"]))
    hidden = [content for index, content in enumerate(contents) if index not in kept]
    written = [e[1] for e in theirs["after"] if isinstance(e, list) and e[0] is None]
    count = counter_of(question["config"]["provider"]).count_many
    return ours["after"] == list(range(len(contents))) and sum(count(hidden)) <= sum(count(written))


def _tiny_results_decide(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Whether theirs prunes nothing because results that are too small count against it."""
    counter = counter_of(question["config"]["provider"])
    (least,) = counter.count_many([_CLEARED])
    results = [m["content"] for m in question["messages"] if m["role"] == "tool_result"]
    has_tiny = any(size < least for size in counter.count_many(results))
    return has_tiny and "prune" in ours["stagesUsed"] and "prune" not in theirs["stagesUsed"]


def _over_target(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Whether theirs gives up over the target, and ours hides more of the same messages."""
    kept, kept_by_theirs = _positions(ours["after"]), _positions(theirs["after"])
    return _tokens_after(question, theirs) > _target(question) and set(kept) < set(kept_by_theirs)


def _target(question: Question) -> float:
    config = question["config"]
    target: float = question.get("target", config.get("targetTokens", float("inf")))
    return target


def _tokens_after(question: Question, answer: Answer) -> int:
    """Return the tokens of what remains, as NeuroLink estimates them."""
    messages = question["messages"]
    contents = [messages[e]["content"] if isinstance(e, int) else e[1] for e in answer["after"]]
    return counter_of(question["config"]["provider"]).conversation(contents)


def _originals_summarized(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Whether the stages before a summary, which reads the originals, make no other difference."""
    skipped = set(theirs["stagesUsed"]) - set(ours["stagesUsed"])
    messages = question["messages"]
    restored = [
        entry[0] if isinstance(entry, list) and entry[0] is not None else entry
        for entry in theirs["after"]
    ]
    return (
        ours["after"] in (theirs["after"], restored)
        and ours["tokensAfter"] == _tokens_after(question, ours)
        and {"summarize"} <= set(ours["stagesUsed"])
        and bool(skipped)
        and skipped <= {"prune", "deduplicate"}
        and len(messages) > len(restored)
    )


def _tiny_results_in_run(question: Question, theirs: Answer, ours: Answer) -> bool:
    counter = counter_of(question["config"]["provider"])
    (least,) = counter.count_many([_CLEARED])
    sizes = counter.count_many([message["content"] for message in question["messages"]])
    if len(theirs["after"]) != len(ours["after"]):
        return False

    def is_no_larger(old: Any, new: Any) -> bool:
        is_same_message = isinstance(old, list) and isinstance(new, int) and old[0] == new
        return is_same_message and counter.count_many([old[1]])[0] >= sizes[new]

    return ours["tokensAfter"] == _tokens_after(question, ours) and all(
        old == new
        or is_no_larger(old, new)
        or (old == [new, _CLEARED] and new == len(sizes) - 1)
        or (new == [old, _CLEARED] and sizes[old] > least and "prune" not in theirs["stagesUsed"])
        for old, new in zip(theirs["after"], ours["after"], strict=True)
    )


def _parallel_calls(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Compare the groups of calls and results; only those of several may differ."""
    messages = question["messages"]
    written = len(ours["after"]) - len(messages)
    if written != ours["orphanedCallsFixed"] + ours["orphanedResultsFixed"]:
        return False
    regular = [index for index in range(len(messages)) if _is_regular(messages, index)]
    return [_around(theirs, index) for index in regular] == [
        _around(ours, index) for index in regular
    ]


def _is_regular(messages: Sequence[Message], index: int) -> bool:
    """Return whether a message is no call or result, or one whose other half is plain to see.

    That is a call before anything but a call, or before the result of its own tool; and a result
    after anything but a result, or after the call of its own tool. A call at the end may still
    get its result.
    """
    group = _group(messages, index)
    roles = [message["role"] for message in group]
    if roles == ["tool_call", "tool_result"]:
        return group[0].get("tool") == group[1].get("tool")
    is_pending = index == len(messages) - 1 and roles == ["tool_call"]
    return len(group) <= 1 and not is_pending


def _group(messages: Sequence[Message], index: int) -> Sequence[Message]:
    """Return the calls and results in a row of which the message at ``index`` is one."""
    first, end = index, index
    while first and messages[first - 1]["role"] in _TOOL_ROLES:
        first -= 1
    while end < len(messages) and messages[end]["role"] in _TOOL_ROLES:
        end += 1
    return messages[first:end]


def _around(answer: Answer, index: int) -> list[Any] | None:
    """Return what was written right before and after a message; None if it is not as it was."""
    after = answer["after"]
    if index not in after:
        return None
    place = after.index(index)
    neighbors = (after[n] for n in (place - 1, place + 1) if 0 <= n < len(after))
    return [entry for entry in neighbors if isinstance(entry, list)]


def _no_such_group(question: Question, theirs: Answer, ours: Answer) -> bool:
    id_tag, parent = _TAGS[question["kind"]]
    groups = [(m.get(id_tag), m.get(parent)) for m in question["messages"]]
    is_whole = all(any(question["group"] in pair[n:][:1] for pair in groups) for n in range(2))
    return not is_whole and ours == "no such group"


def _untagged_orphans(question: Question, theirs: Answer, ours: Answer) -> bool:
    return bool(ours == _visible(question["messages"], question["group"]))


def _own_cut(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Hold the cut text against the limits, and both of its ends against the whole text."""
    text, options, preview = question["text"], question["options"], ours["preview"]
    head, notice, tail = preview.partition("[Output truncated from ")
    tail = tail.partition("]")[2]
    return (
        {**theirs, "preview": preview} == ours
        and ours["truncated"]
        and bool(notice)
        and byte_length(preview) <= options.get("maxBytes", 51_200)
        and line_count(preview) <= options.get("maxLines", 2_000)
        and text.startswith(head.rstrip("\n"))
        and text.endswith(tail.lstrip("\n"))
    )


def _last_line_break(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Whether a final line break, which starts no line here, is what exceeds the limit."""
    text, options = question["text"], question["options"]
    is_one_over = text.count("\n") == options.get("maxLines", 2_000) and text.endswith("\n")
    uncut = {"preview": text, "truncated": False, "originalSize": theirs["originalSize"]}
    return bool(is_one_over and ours == uncut)


def _texts(question: Question) -> tuple[str, str]:
    """Return what NeuroLink reads of an error, and all of its texts."""
    error = question["error"]
    if isinstance(error, str):
        return error, error
    inner = error.get("error")
    texts = [error.get("message"), error.get("cause")]
    texts += [inner] if isinstance(inner, str) else [(inner or {}).get("message")]
    read = [text for text in texts if isinstance(text, str)]
    return (" ".join(read) if question["isThrown"] else next(iter(read), "")), "\n".join(read)


def _inner_error(question: Question, theirs: Answer, ours: Answer) -> bool:
    seen, whole = _texts(question)
    is_known = ours["provider"] is not None or "413" in whole
    return seen != whole and not theirs["overflow"] and ours["overflow"] and is_known


def _quota(question: Question, theirs: Answer, ours: Answer) -> bool:
    words = ("quota exceeded", "rate limit exceeded", "429 too many requests")
    text = _texts(question)[1].lower()
    return any(word in text for word in words) and theirs["overflow"] and not ours["overflow"]


def _more_overflows(question: Question, theirs: Answer, ours: Answer) -> bool:
    words = ("413 request entity too large", "exceed context limit")
    text = _texts(question)[1].lower()
    return not theirs["overflow"] and ours["overflow"] and any(word in text for word in words)


def _figures(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Whether only figures differ: ours reads requested tokens, and none of other errors."""
    same = {**theirs, "figures": ours["figures"]} == ours
    if ours["figures"] is None:
        return same and (not theirs["overflow"] or "payload size" in _texts(question)[1].lower())
    numbers = {int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", _texts(question)[1])}
    actual, limit = ours["figures"]
    is_sum = any(actual - number in numbers for number in numbers)
    return same and theirs["overflow"] and limit in numbers and (actual in numbers or is_sum)


def _room_for_answer(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Whether only the tokens for the answer do not fit, which ours says is no overflow."""
    numbers = re.search(r"context limit: ([\d,]+) \+", _texts(question)[1], re.IGNORECASE)
    is_small = numbers is not None and int(numbers[1].replace(",", "")) < 160_000
    return is_small and theirs["overflow"] and not ours["overflow"]


def _other_provider(question: Question, theirs: Answer, ours: Answer) -> bool:
    """Whether two providers' words are in one error, and ours names the one of the cause."""
    cause = question["error"].get("cause", "") if question["isThrown"] else ""
    both = theirs["overflow"] and ours["overflow"]
    return bool(cause) and both and theirs["provider"] != ours["provider"]


DIFFERENCES = (
    Difference(
        name="another window",
        areas=("window",),
        reason="a model has the window of the longest name that its own begins with",
        explains=_window,
    ),
    Difference(
        name="no negative room",
        areas=("window",),
        reason="what is available is never below 0",
        explains=_no_room,
    ),
    Difference(
        name="system messages",
        areas=("budget",),
        reason="system messages at the beginning count as system prompt",
        explains=_system_in_history,
    ),
    Difference(
        name="tiny results",
        areas=("prune",),
        reason="a placeholder never replaces a result that is no larger, nor the newest message",
        explains=_tiny_results,
    ),
    Difference(
        name="tiny reads",
        areas=("dedup",),
        reason="a notice never replaces a text that is no larger",
        explains=_tiny_reads,
    ),
    Difference(
        name="surrogates",
        areas=("dedup", "compact"),
        reason="an emoji is one character, not two",
        explains=_surrogates,
    ),
    Difference(
        name="dangling notices",
        areas=("compact",),
        reason="a notice never refers to a read that a later stage hides",
        explains=_dangling_notice,
    ),
    Difference(
        name="frames",
        areas=("summarize",),
        reason="the share to keep is of what the target leaves for contents",
        explains=_fits_without_frames,
    ),
    Difference(
        name="frames in a run",
        areas=("summarize", "compact"),
        reason="what stays beside a summary fits what the target leaves for contents",
        explains=_fits_with_summary,
    ),
    Difference(
        name="pairs",
        areas=("summarize", "truncate", "compact"),
        reason="a call is never separated from its result",
        explains=_pairs_stay,
    ),
    Difference(
        name="late results",
        areas=("summarize", "truncate", "compact"),
        reason="a call and a later result of its tool stay together",
        explains=_late_result,
    ),
    Difference(
        name="system messages and summaries",
        areas=("summarize", "truncate", "compact"),
        reason="system messages stay, and no summary is truncated",
        explains=_system_stays,
    ),
    Difference(
        name="newest message",
        areas=("truncate", "compact"),
        reason="the newest message stays",
        explains=_newest_stays,
    ),
    Difference(
        name="small fraction",
        areas=("truncate",),
        reason="a fraction of less than two messages hides nothing, instead of 95%",
        explains=_small_fraction,
    ),
    Difference(
        name="rounded target",
        areas=("truncate",),
        reason="what the target leaves for contents is rounded to whole tokens",
        explains=_rounded_target,
    ),
    Difference(
        name="not smaller",
        areas=("truncate",),
        reason="messages that are no larger than the marker stay",
        explains=_not_smaller,
    ),
    Difference(
        name="few messages",
        areas=("truncate", "compact"),
        reason="in a conversation of four messages, messages are hidden, not cut",
        explains=_few_messages,
    ),
    Difference(
        name="orphans",
        areas=("effective",),
        reason="a message hidden behind nothing is shown, with a warning",
        explains=_orphans_shown,
    ),
    Difference(
        name="over the target",
        areas=("summarize", "truncate", "compact"),
        reason="stages run again until the target is reached or nothing is left to do",
        explains=_over_target,
    ),
    Difference(
        name="originals",
        areas=("compact",),
        reason="a summary is made of the originals, so that nothing is cleared before it",
        explains=_originals_summarized,
    ),
    Difference(
        name="tiny texts in a run",
        areas=("compact",),
        reason="no text is replaced by one that is no smaller",
        explains=_tiny_results_in_run,
    ),
    Difference(
        name="tiny results decide",
        areas=("compact",),
        reason="results that stay do not count against what is saved",
        explains=_tiny_results_decide,
    ),
    Difference(
        name="everything fits",
        areas=("summarize",),
        reason="if all messages fit the share to keep, not all but the newest are summarized",
        explains=_everything_fits,
    ),
    Difference(
        name="no gain",
        areas=("summarize", "compact"),
        reason="a summary that is no smaller than what it replaces is not used",
        explains=_no_gain,
    ),
    Difference(
        name="late results to repair",
        areas=("repair",),
        reason="a call and a later result of its tool belong together",
        explains=_late_result_repaired,
    ),
    Difference(
        name="parallel calls",
        areas=("repair",),
        reason="a result belongs to a call of its tool, and that of the newest call may still come",
        explains=_parallel_calls,
    ),
    Difference(
        name="no such group",
        areas=("untag",),
        reason="a group that hides nothing is an error",
        explains=_no_such_group,
    ),
    Difference(
        name="orphans of others",
        areas=("untag",),
        reason="a message hidden behind nothing is shown, with a warning",
        explains=_untagged_orphans,
    ),
    Difference(
        name="own cut",
        areas=("output",),
        reason="the notice is within the limits, and nothing is cut inside a character or word",
        explains=_own_cut,
    ),
    Difference(
        name="last line break",
        areas=("output",),
        reason="a final line break does not start another line",
        explains=_last_line_break,
    ),
    Difference(
        name="inner error",
        areas=("error",),
        reason="an error inside of another with a message is read, too",
        explains=_inner_error,
    ),
    Difference(
        name="quota",
        areas=("error",),
        reason="an exhausted quota or rate limit is not an overflow",
        explains=_quota,
    ),
    Difference(
        name="more overflows",
        areas=("error",),
        reason="more words of overflows are known",
        explains=_more_overflows,
    ),
    Difference(
        name="figures",
        areas=("error",),
        reason="requested tokens are figures; bytes and numbers of other errors are not",
        explains=_figures,
    ),
    Difference(
        name="room for the answer",
        areas=("error",),
        reason="too many tokens for the answer are not an overflow if the prompt leaves room",
        explains=_room_for_answer,
    ),
    Difference(
        name="other provider",
        areas=("error",),
        reason="of two providers' words, the most telling ones count, not the first",
        explains=_other_provider,
    ),
)
