"""``verify`` as a JSON document."""

from typing import Any

from compactctl.commands.verify.verify import VerifiedTranscript, VerifyResult


def verify_document(result: VerifyResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.verify/1",
        "exitCode": result.exit_code,
        "lookedAt": result.looked_at,
        "verdicts": dict(result.verdicts),
        "transcripts": [_transcript(each) for each in result.transcripts],
    }


def _transcript(verified: VerifiedTranscript) -> dict[str, Any]:
    return {
        "path": verified.path,
        "verdict": verified.verdict,
        "operations": verified.operations,
        "archivedBytes": verified.n_bytes,
        "archiveBytes": verified.on_disk,
        "findings": [{"severity": each.severity, "text": each.text} for each in verified.findings],
        "repaired": list(verified.repaired),
    }
