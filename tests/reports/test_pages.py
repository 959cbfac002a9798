"""Each published page is what ``report`` makes of the published numbers, byte for byte.

To write the pages anew, after a change of the report: PDPAUDIT_UPDATE_SNAPSHOTS=1 python -m pytest
tests/reports/test_pages.py
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pdpaudit.cli import main
from pdpaudit.report.sources import published

REPORTS = Path(__file__).resolve().parents[2] / "reports"
FILES = (
    "paper/claims.json",
    "graph/claims.json",
    "statistics/tables.json",
    "benchmark/auditor.json",
)


def report(file: Path, output: Path) -> None:
    with pytest.raises(SystemExit) as end:
        main(["report", str(file), "-o", str(output), "--quiet"])
    assert end.value.code == 0


@pytest.mark.parametrize("page", ["README.md", "index.html"])
@pytest.mark.parametrize("name", FILES)
def test_rendering_again_changes_nothing(name: str, page: str, tmp_path: Path) -> None:
    file = REPORTS / name
    if os.environ.get("PDPAUDIT_UPDATE_SNAPSHOTS"):
        report(file, file.with_name(page))
    report(file, tmp_path / page)
    assert (tmp_path / page).read_bytes() == file.with_name(page).read_bytes()


@pytest.mark.parametrize("name", FILES)
def test_the_numbers_are_a_result_without_what_the_machine_decides(name: str) -> None:
    body = json.loads((REPORTS / name).read_text(encoding="utf-8"))
    assert body["format"] == "pdpaudit-result/1"
    assert published(body) == body
    assert body["context"]["dossier"]["made"] in (REPORTS / name).with_name("README.md").read_text(
        encoding="utf-8"
    )
