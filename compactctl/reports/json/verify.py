"""``verify`` as a JSON document."""

from typing import Any

from compactctl.commands.verify.finding import Finding
from compactctl.commands.verify.verify import VerifiedTranscript, VerifyResult
from compactctl.reports.rendering.json_document import encoded, record


def verify_document(result: VerifyResult) -> dict[str, Any]:
    """Return the document."""
    fields = ("exit_code", "looked_at", "verdicts", "transcripts")
    return {"schema": "compactctl.verify/1", **record(result, only=fields)}


@encoded.register
def _transcript(verified: VerifiedTranscript) -> dict[str, Any]:
    return record(verified, n_bytes="archivedBytes", on_disk="archiveBytes")


@encoded.register
def _finding(finding: Finding) -> dict[str, Any]:
    return record(finding, without=("rename",))
