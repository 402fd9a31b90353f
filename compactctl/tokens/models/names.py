"""The names of models, as transcripts, clouds and gateways write them."""

import re

# Clouds write vendor and region in front ("us.anthropic.claude-…"), libraries their provider
# ("openai:gpt-…"). A vendor with a colon can be a model of Ollama, such as "mistral:7b".
_PREFIX = re.compile(
    r"(?:(?:anthropic|azure|bedrock|google|openai|openrouter|vertex):)?"
    r"(?:(?:us-gov|us|eu|apac|global|jp|au|ca|sa)\.)?"
    r"(?:(?:anthropic|amazon|google|meta|minimax|mistral|moonshotai|moonshot|openai|qwen|zai)\.)?"
)


def plain_name(name: str | None) -> str:
    """Return a name without case and spaces around it; "" for none."""
    return (name or "").strip().lower()


def bare_name(path: str) -> str:
    """Strip what stands in front of a model's own name; write versions with dashes."""
    last = path.rpartition("/")[2].removeprefix("~")
    return dashed(_PREFIX.sub("", last, count=1))


def dashed(name: str) -> str:
    """Write the versions in a name with dashes: ``gpt-4-1`` for ``gpt-4.1``."""
    return name.replace(".", "-")


def is_beginning(prefix: str, name: str) -> bool:
    """Tell whether a name begins with ``prefix`` and does not go on in its last number or word.

    So ``o1`` is not a beginning of ``o100``; ``llama`` is one of ``llama3``.
    """
    if not prefix or not name.startswith(prefix):
        return False
    before, after = prefix[-1], name[len(prefix) : len(prefix) + 1]
    return not (after.isalnum() and before.isalnum()) or (before.isalpha() and after.isdigit())
