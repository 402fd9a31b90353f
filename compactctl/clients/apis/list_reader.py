"""Reads the messages of one list as a program adds to it."""

from collections.abc import Sequence

from compactctl.clients.apis.api_format import ApiFormat, ApiLogReader
from compactctl.clients.records.containers import ContainedRecord
from compactctl.clients.records.decode import decode_lines
from compactctl.history.unread import describe_unread
from compactctl.model.message import Message
from compactctl.model.transcript import Opaque, RawLine
from compactctl.records import Record


class AddedMessages(Record):
    """What was read of some lines; ``unread`` says where text was not read, "" if nowhere.

    ``opaque`` are the lines that hold no message.
    """

    messages: tuple[Message, ...]
    opaque: tuple[Opaque, ...]
    unread: str


class ListReader(ApiLogReader):
    """Reads lines of a ``dialect``, some at a time, each with one message of the same list.

    It remembers calls for their results, and the client that a system prompt shows, but not the
    messages. What only the whole list shows, such as which reasoning is still sent, is not known.
    """

    def __init__(self, dialect: ApiFormat) -> None:
        super().__init__(dialect.name, (dialect,), dialect, is_log=False)
        self._conversation = dialect.start(0)
        self.builder.dialects[0] = dialect.name

    def read_added(self, lines: Sequence[bytes]) -> AddedMessages:
        """Read the next lines; those of the result count from 0."""
        builder = self.builder
        builder.forget_unread()
        del builder.messages[:-1]
        n_messages, n_opaque = len(builder.messages), len(builder.opaque)
        for decoded in decode_lines(RawLine(index, line) for index, line in enumerate(lines)):
            builder.add_line(decoded)
            for value in decoded.values:
                self._add_record(ContainedRecord(value, (), decoded), self._conversation)
        return AddedMessages(
            messages=tuple(builder.messages[n_messages:]),
            opaque=tuple(builder.opaque[n_opaque:]),
            unread=describe_unread(builder.unread.total(0)),
        )
