"""A batch as a JUnit report: a file is a test, a gate that it does not pass its failure."""

import re
from pathlib import PurePath
from xml.etree import ElementTree as ET

from compactctl.commands.batch.batch import BatchResult
from compactctl.commands.batch.row import BatchRow
from compactctl.reports.rendering.batch_rows import finding

# What XML 1.0 has no way to write.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def batch_junit(result: BatchResult) -> str:
    """Return the report; characters that XML does not have become question marks."""
    rows = result.rows
    suites = ET.Element("testsuites")
    suite = ET.SubElement(
        suites,
        "testsuite",
        name="compactctl batch",
        tests=str(len(rows)),
        failures=str(sum(bool(row.exit_code) and row.is_read for row in rows)),
        errors=str(sum(row.status == "failed" for row in rows)),
        skipped=str(sum(row.status == "skipped" for row in rows)),
        time=_seconds(sum(row.milliseconds for row in rows)),
    )
    for row in rows:
        _add(suite, row, finding(row, result.fail_on))
    ET.indent(suites)
    return f"{ET.tostring(suites, encoding='unicode', xml_declaration=True)}\n"


def _add(suite: ET.Element, row: BatchRow, why: str) -> None:
    path = PurePath(_writable(row.path))
    case = ET.SubElement(
        suite,
        "testcase",
        classname=str(path.parent),
        name=path.name,
        time=_seconds(row.milliseconds),
    )
    if row.status == "skipped":
        ET.SubElement(case, "skipped", message=_writable(row.error or ""))
    elif row.exit_code:
        kind = "error" if row.status == "failed" else "failure"
        found = ET.SubElement(
            case, kind, message=_writable(why), type=row.error_class or row.status
        )
        found.text = f"exit code {row.exit_code}"


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:.3f}"


def _writable(text: str) -> str:
    return _UNWRITABLE.sub("?", text)
