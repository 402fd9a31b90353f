"""``prompt`` as text: the prompts as they would be sent, and what there is to say of them."""

from collections.abc import Iterator

from compactctl.commands.harness.prompt import PromptResult
from compactctl.reports.rendering.screen import Verbatim
from compactctl.reports.rendering.text import path_name, plural, safe_text


def prompt_terminal(result: PromptResult) -> Iterator[Verbatim]:
    """Yield what to print: the prompts; several have a line between them."""
    for number, prompt in enumerate(result.prompts, start=1):
        if len(result.prompts) > 1:
            yield Verbatim(f"══ prompt {number} of {len(result.prompts)}")
        yield Verbatim(safe_text(prompt.text))


def prompt_messages(result: PromptResult) -> Iterator[str]:
    """Yield the lines for standard error: the sizes, or why there is no prompt."""
    for prompt in result.prompts:
        about = plural(prompt.messages, "message")
        sizes = f"{prompt.tokens:,} tokens; the summary may have {prompt.summary_tokens:,}"
        yield f"prompt about {about}: {sizes}"
    if not result.prompts:
        yield f"{path_name(result.path)}: no summary would be asked for"
        yield from map(safe_text, result.reasons)
