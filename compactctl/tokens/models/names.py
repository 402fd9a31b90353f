"""Normalize the names of models, as transcripts, clouds and gateways write them."""

import re

from compactctl.records import Record

# Clouds prefix region and vendor ("us.anthropic.claude-…"), libraries a provider ("openai:gpt-…").
# Other vendors before a colon may be models of Ollama, such as "mistral:7b".
_PREFIX = re.compile(
    r"(?:(?:anthropic|azure|bedrock|google|openai|openrouter|vertex):)?"
    r"(?:(?:us-gov|us|eu|apac|global|jp|au|ca|sa)\.)?"
    r"(?:(?:anthropic|amazon|google|meta|minimax|mistral|moonshotai|moonshot|openai|qwen|zai)\.)?"
)
# A fine-tuned model of OpenAI and Mistral, "ft:gpt-4.1-2025-04-14:acme::x", and of Azure,
# "gpt-4o-mini-2024-07-18.ft-0a1b…", counts as its base model.
_FINE_TUNED = re.compile(r"^ft:([^:]+).*|\.ft-[-\w]+$", re.DOTALL)
# Suffixes that leave a model the same: dates, versions, the size of open weights, and a tag. The
# loop is possessive, or a hostile name would take exponential time.
_EDITION = re.compile(
    r"(?:-(?:\d{4}-\d\d-\d\d|\d\d-\d\d(?:\d\d)?|\d{4}|\d{6}|\d{8}|v\d+|latest|preview|default|exp|beta"
    r"|(?:a|x)?\d+(?:-\d+)?[be]|instruct|it|chat|fp8|maas)(?![0-9a-z])|[@:][-\w]+)*+"
)

# A date: written out ("2025-04-14", "20250414", "09-2025", "05-06"), or as digits ("2312" for
# December 2023, "0613" for 13 June, "250711"). Four digits may also be a size.
_DATE = re.compile(
    r"[-@:](?:20(?P<iso>\d\d-\d\d-\d\d|\d{6})|(?P<month>\d\d)-20(?P<year>\d\d)|(?P<day>\d\d-\d\d)"
    r"|(?P<digits>\d{6}|(?:2[3-9]|3\d)(?:0[1-9]|1[0-2])|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])))"
    r"(?![0-9a-z])"
)


class ReleaseDate(Record):
    """A date in a model's name.

    Attributes:
        digits: those of year, month and day, as far as the name has them: "2312", "0613".
        is_written_out: whether it is more than bare digits, as in "2025-04-14".
    """

    digits: str
    is_written_out: bool


def normalize_name(name: str | None) -> str:
    """Return a name in lower case and without spaces around it; "" for None."""
    return (name or "").strip().lower()


def strip_provider(path: str) -> str:
    """Strip gateway, provider and region from a normalized name; write versions with dashes.

    ``openrouter/us.anthropic.claude-opus-4.6`` becomes ``claude-opus-4-6``.
    """
    name = _FINE_TUNED.sub(r"\1", path.rpartition("/")[2].removeprefix("~"))
    return dash_versions(_PREFIX.sub("", name, count=1))


def dash_versions(name: str) -> str:
    """Write the versions in a name with dashes: ``gpt-4-1`` for ``gpt-4.1``."""
    return name.replace(".", "-")


def is_name_prefix(prefix: str, name: str) -> bool:
    """Return whether ``prefix`` is one of ``name`` and does not end inside a word or number of it.

    So ``o1`` is not a prefix of ``o100``, but ``llama`` is one of ``llama3``.
    """
    if not prefix or not name.startswith(prefix):
        return False
    before, after = prefix[-1], name[len(prefix) : len(prefix) + 1]
    return not (after.isalnum() and before.isalnum()) or (before.isalpha() and after.isdigit())


def is_edition(suffix: str) -> bool:
    """Return whether what follows a model's dashed name only names an edition, such as its date."""
    return _EDITION.fullmatch(suffix) is not None


def split_date(name: str) -> tuple[str, ReleaseDate | None]:
    """Return what precedes the first date in a dashed name, and the date; None without one."""
    match = _DATE.search(name)
    if match is None:
        return name, None
    parts = match.groupdict("")
    text = "".join(parts[part] for part in ("iso", "year", "month", "day", "digits"))
    return name[: match.start()], ReleaseDate(
        digits=text.replace("-", ""), is_written_out=match["digits"] is None
    )
