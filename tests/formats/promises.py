"""What every format promises of every input."""

from formats.jsonl import decoded

from compactctl.clients.format import Format
from compactctl.history.turns import split_conversations
from compactctl.history.usage.requests import find_requests
from compactctl.model.transcript import Transcript


def check(candidate: Format, lines: list[bytes]) -> Transcript:
    found = candidate.read(decoded(lines))
    again = candidate.read(decoded(lines))
    assert found == again
    assert found.n_lines == len(lines)
    assert found.n_bytes == sum(map(len, lines))
    ids = [message.id for message in found.messages]
    assert len(set(ids)) == len(ids)
    assert {message.id for message in found.effective} <= set(ids)
    conversations = [message.conversation for message in found.effective]
    assert conversations == sorted(conversations)
    reported = {m.id for m in found.messages if m.usage and m.usage.context > 0}
    assert reported <= {
        messages[index].id
        for messages in split_conversations(found.messages)
        for request in find_requests(messages, lambda _: 1)
        for index in request.message_indices
    }
    known = {message.line for message in found.messages} | {o.line for o in found.opaque}
    silent = sum(volume.count for volume in found.metadata.values())
    assert len(known) + silent >= len(lines)
    assert known <= set(range(len(lines)))
    return found
