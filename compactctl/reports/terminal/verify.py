"""``verify`` on a terminal."""

from collections.abc import Iterator, Mapping

from compactctl.commands.verify.finding import Severity, TranscriptState
from compactctl.commands.verify.verify import VerifiedTranscript, VerifyResult
from compactctl.reports.rendering.screen import Accent, ScreenItem, TextStyle
from compactctl.reports.rendering.text import one_line, path_name, plural, shell_path, size_text

_STYLES: Mapping[TranscriptState | Severity, TextStyle] = {
    "damaged": "bold red",
    "changed": "yellow",
    "unknown": "yellow",
    "repairable": "yellow",
}
_FINDING_WIDTH = 1_000


def verify_terminal(result: VerifyResult) -> Iterator[ScreenItem]:
    """Yield what to print: each transcript with what was found, then how many of which kind."""
    for verified in result.transcripts:
        yield Accent(_verdict(verified), _STYLES.get(verified.verdict, ""))
        for text in verified.repaired:
            yield f"  repaired: {one_line(text, _FINDING_WIDTH)}"
        for finding in verified.findings:
            line = f"  {finding.severity}: {one_line(finding.text, _FINDING_WIDTH)}"
            yield Accent(line, _STYLES.get(finding.severity, ""))
    yield ""
    counts = ", ".join(f"{count:,} {name}" for name, count in result.verdicts.items() if count)
    yield f"{plural(len(result.transcripts), 'compacted transcript')}: {counts}"
    first = next((each for each in result.transcripts if each.verdict == "repairable"), None)
    if first is not None:
        yield f"repair with: compactctl verify --repair {shell_path(first.path)}"


def _verdict(verified: VerifiedTranscript) -> str:
    what = plural(verified.operations, "operation")
    read = f", {size_text(verified.on_disk)} in archives" if verified.on_disk else ""
    return f"{verified.verdict}: {path_name(verified.path)} ({what}{read})"
