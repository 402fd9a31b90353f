"""What a compaction leaves is what the SDKs of AWS, Google and Vercel take."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from file_commands import compact_file
from formats.content.one_stage_plans import STAGES
from formats.logs import contents, converse, ui_messages
from stage_examples import EXAMPLES

from compactctl.commands.planning.plan import PlanOptions
from compactctl.model.tags import TAG_NAMES

Record = dict[str, Any]

pytestmark = pytest.mark.long

KEPT = (0.7, 0.4, 0.1)
CONVERSE: Record = {"modelId": "m", "system": [{"text": "Be brief."}], "messages": converse.every()}
CONTENTS: Record = {"contents": contents.every()}
CHAT: Record = {"id": "chat", "messages": ui_messages.every()}
# Validates the lists of messages that it reads, and makes of each what is sent to a model.
SCRIPT = """
const { validateUIMessages, convertToModelMessages, modelMessageSchema } = require("ai");
const chats = JSON.parse(require("fs").readFileSync(0, "utf8"));
(async () => {
  for (const [name, messages] of Object.entries(chats)) {
    try {
      const sent = await convertToModelMessages(await validateUIMessages({ messages }));
      sent.forEach((message) => modelMessageSchema.parse(message));
    } catch (error) {
      console.log(name + ": " + String(error.message).slice(0, 2000));
    }
  }
})();
"""


def compacted(
    document: Record, members: str, stages: tuple[str, ...], keep: float, folder: Path
) -> Record:
    """Return a request as it is sent after a compaction: without the fields of compactctl."""
    path, out = folder / "every.json", folder / f"{'+'.join(stages)}-{keep}.json"
    path.write_text(json.dumps(document))
    plan = PlanOptions(stages=stages, keep=keep, settings=EXAMPLES)
    compact_file(path, output=out, plan=plan)
    written: Record = json.loads(out.read_text())
    messages = [
        {name: value for name, value in message.items() if name not in TAG_NAMES}
        for message in written[members]
    ]
    return {**written, members: messages}


@pytest.mark.parametrize("keep", KEPT)
@pytest.mark.parametrize("stages", STAGES, ids="+".join)
def test_messages_are_what_bedrock_takes(
    stages: tuple[str, ...], keep: float, tmp_path: Path
) -> None:
    reason = "the SDK is not installed: pip install .[dev-long]"
    sessions = pytest.importorskip("botocore.session", reason=reason)
    validators = pytest.importorskip("botocore.validate", reason=reason)
    model = sessions.get_session().get_service_model("bedrock-runtime")
    shape = model.operation_model("Converse").input_shape
    for request in (CONVERSE, compacted(CONVERSE, "messages", stages, keep, tmp_path)):
        report = validators.ParamValidator().validate(request, shape)
        assert not report.has_errors(), report.generate_report()
        texts = [
            block["text"] for m in request["messages"] for block in m["content"] if "text" in block
        ]
        assert all(text.strip() for text in texts)


@pytest.mark.parametrize("keep", KEPT)
@pytest.mark.parametrize("stages", STAGES, ids="+".join)
def test_contents_are_what_gemini_takes(
    stages: tuple[str, ...], keep: float, tmp_path: Path
) -> None:
    reason = "the SDK is not installed: pip install .[dev-long]"
    types = pytest.importorskip("google.genai.types", reason=reason)
    for request in (CONTENTS, compacted(CONTENTS, "contents", stages, keep, tmp_path)):
        for content in request["contents"]:
            # Fields that it does not know are errors.
            found = types.Content.model_validate(content)
            assert found.parts


def _run_node(chats: Mapping[str, Any]) -> str:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    known = [node, "-e", 'require.resolve("ai")']
    if subprocess.run(known, check=False, capture_output=True, env=os.environ).returncode:
        pytest.skip("the SDK is not installed: npm install ai@5, and set NODE_PATH to node_modules")
    text = json.dumps(chats)
    done = subprocess.run(
        [node, "-e", SCRIPT], check=True, input=text, capture_output=True, text=True
    )
    return done.stdout


def test_ui_messages_are_what_the_ai_sdk_takes(tmp_path: Path) -> None:
    chats = {"as it was": CHAT["messages"]}
    for stages in STAGES:
        for keep in KEPT:
            written = compacted(CHAT, "messages", stages, keep, tmp_path)
            chats[f"{'+'.join(stages)} to {keep}"] = written["messages"]
    assert _run_node(chats) == ""
