"""The programs for other engines run as they are shown, and compact alike."""

import json
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pytest
from docs.generate import ROOT
from pyarrow import dataset, parquet

from compactctl import compact_batch

pytestmark = pytest.mark.long

PAGE = (ROOT / "docs" / "engines.md").read_text()
PROGRAMS = dict(re.findall(r'```python title="with_(\w+)\.py"\n(.*?)```', PAGE, re.DOTALL))
PACKAGES = {"ray": "ray.data", "spark": "pyspark"}
CONVERSATIONS = ROOT / "sample_transcripts" / "openai-chat-conversations.jsonl"


@pytest.mark.parametrize("engine", PROGRAMS)
def test_a_program_compacts_as_compact_batch_does(engine: str, tmp_path: Path) -> None:
    package = PACKAGES.get(engine, engine)
    if find_spec(package.partition(".")[0]) is None:
        pytest.skip(f"{package} is not installed")
    if engine == "spark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    lines = CONVERSATIONS.read_text().splitlines()
    batch = pa.record_batch({"messages": [json.dumps(json.loads(x)["messages"]) for x in lines]})
    (tmp_path / "dialogs").mkdir()
    for name in ("1", "2"):
        parquet.write_table(
            pa.Table.from_batches([batch]), tmp_path / "dialogs" / f"{name}.parquet"
        )
    program = tmp_path / f"with_{engine}.py"
    program.write_text(PROGRAMS[engine])
    subprocess.run([sys.executable, str(program)], cwd=tmp_path, check=True, timeout=300)
    (output,) = tmp_path.glob("compacted*")
    compacted = dataset.dataset(output, format="parquet").to_table()
    expected = pa.Table.from_batches([compact_batch(batch, keep=0.5)] * 2)
    assert compacted.schema.names == expected.schema.names
    assert sorted(map(str, compacted.to_pylist())) == sorted(map(str, expected.to_pylist()))


def test_each_engine_has_a_program() -> None:
    assert set(PROGRAMS) == {"ray", "polars", "duckdb", "spark", "dask"}
