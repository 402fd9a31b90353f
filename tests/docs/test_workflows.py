"""Workflows take actions at fixed commits, and grant each job no more than it needs."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from docs.generate import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
PINNED = re.compile(r"[\w-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
WRITES = {"id-token", "attestations"}


def jobs(workflow: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(workflow.read_text())["jobs"]
    return found


def steps(workflow: Path) -> Iterator[dict[str, Any]]:
    return (step for job in jobs(workflow).values() for step in job["steps"])


@pytest.mark.parametrize("path", sorted(GITHUB.rglob("*.yml")), ids=lambda path: path.name)
def test_every_action_is_a_commit_with_its_version(path: Path) -> None:
    used = re.findall(r"^\s*(?:- )?uses: (.*)$", path.read_text(), re.MULTILINE)
    loose = [action for action in used if not PINNED.fullmatch(action)]
    assert loose == [], "write the commit, and the version as a comment: OWNER/NAME@DIGEST # v1.2.3"


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_job_has_the_permissions_that_it_names(workflow: Path) -> None:
    assert yaml.safe_load(workflow.read_text())["permissions"] == {}
    for name, job in jobs(workflow).items():
        writes = {scope for scope, access in job["permissions"].items() if access == "write"}
        runs = [step for step in job["steps"] if "run" in step]
        assert not writes or (writes == WRITES and not runs), f"{name}: writes and runs code"
        assert "timeout-minutes" in job, f"{name}: give it timeout-minutes"


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_checkout_keeps_no_credentials(workflow: Path) -> None:
    checkouts = [step for step in steps(workflow) if "checkout@" in step.get("uses", "")]
    assert checkouts
    assert [step["with"].get("persist-credentials") for step in checkouts] == [False] * len(
        checkouts
    )


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_no_expression_stands_in_a_command(workflow: Path) -> None:
    commands = [step["run"] for step in steps(workflow) if "run" in step]
    assert [command for command in commands if "${{" in command] == []
    for command in commands:
        for script in re.findall(r"(?<![\w/])\.ci/\w+", command):
            assert (ROOT / script).is_file(), f"{workflow.name} runs {script}, which has moved"


def test_a_release_is_attested_as_it_was_built() -> None:
    build, attest = jobs(GITHUB / "workflows" / "release.yml").values()
    *_, upload = build["steps"]
    download, provenance = attest["steps"]
    assert attest["needs"] == "build"
    assert download["with"]["name"] == upload["with"]["name"]
    assert provenance["with"]["subject-path"] == f"{download['with']['path']}/*"
