"""The names of models, as transcripts, clouds and gateways write them."""

import re

# Clouds write vendor and region in front ("us.anthropic.claude-…"), libraries their provider
# ("openai:gpt-…"). A vendor with a colon can be a model of Ollama, such as "mistral:7b".
_PREFIX = re.compile(
    r"(?:(?:anthropic|azure|bedrock|google|openai|openrouter|vertex):)?"
    r"(?:(?:us-gov|us|eu|apac|global|jp|au|ca|sa)\.)?"
    r"(?:(?:anthropic|amazon|google|meta|minimax|mistral|moonshotai|moonshot|openai|qwen|zai)\.)?"
)
# A fine-tuned model, as OpenAI and Mistral name it, "ft:gpt-4.1-2025-04-14:acme::x", and as Azure
# does, "gpt-4o-mini-2024-07-18.ft-0a1b…": the base model is what counts.
_FINE_TUNED = re.compile(r"^ft:([^:]+).*|\.ft-[-\w]+$", re.DOTALL)
# What may stand behind the name of a model and still be that model: dates and versions of it, its
# size where the weights are open, and a tag. The loop never goes back, or a hostile name would cost
# as many ways as it can be read.
_EDITION = re.compile(
    r"(?:-(?:\d{4}-\d\d-\d\d|\d\d-\d\d(?:\d\d)?|\d{4}|\d{6}|\d{8}|v\d+|latest|preview|default|exp|beta"
    r"|(?:a|x)?\d+(?:-\d+)?[be]|instruct|it|chat|fp8|maas)(?![0-9a-z])|[@:][-\w]+)*+"
)


def normalize_name(name: str | None) -> str:
    """Return a name without case and spaces around it; "" for none."""
    return (name or "").strip().lower()


def strip_provider(path: str) -> str:
    """Strip what stands in front of a model's own name; write versions with dashes."""
    last = _FINE_TUNED.sub(r"\1", path.rpartition("/")[2].removeprefix("~"))
    return dash_versions(_PREFIX.sub("", last, count=1))


def dash_versions(name: str) -> str:
    """Write the versions in a name with dashes: ``gpt-4-1`` for ``gpt-4.1``."""
    return name.replace(".", "-")


def is_name_prefix(prefix: str, name: str) -> bool:
    """Tell whether a name begins with ``prefix`` and does not go on in its last number or word.

    So ``o1`` is not a beginning of ``o100``; ``llama`` is one of ``llama3``.
    """
    if not prefix or not name.startswith(prefix):
        return False
    before, after = prefix[-1], name[len(prefix) : len(prefix) + 1]
    return not (after.isalnum() and before.isalnum()) or (before.isalpha() and after.isdigit())


def is_edition(rest: str) -> bool:
    """Tell whether what stands behind a model's dashed name only says which edition of it."""
    return _EDITION.fullmatch(rest) is not None
