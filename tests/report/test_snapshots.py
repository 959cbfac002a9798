"""The whole of a report, as it was when it was last looked at.

To accept a change: PDPAUDIT_UPDATE_SNAPSHOTS=1 python -m pytest tests/report/test_snapshots.py
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pdpaudit.report.rendering import render_html, render_markdown
from pdpaudit.report.sources import Source

FOLDER = Path(__file__).parent / "snapshots"


def masked(text: str) -> str:
    """Take out the style, which changes without the report saying anything else."""
    text = re.sub(r"(?s)<style>.*?</style>", "<style></style>", text)
    return re.sub(r"sha256-[\w+/=]+", "sha256-", text)


@pytest.mark.parametrize(
    ("name", "render"), [("{}.html", render_html), ("{}.md.txt", render_markdown)]
)
@pytest.mark.parametrize(("what", "fixture"), [("report", "sources"), ("measured", "measured")])
def test_a_report_is_what_it_was(
    name: str,
    render: Callable[[Sequence[Source]], str],
    what: str,
    fixture: str,
    request: pytest.FixtureRequest,
) -> None:
    text, path = masked(render(request.getfixturevalue(fixture))), FOLDER / name.format(what)
    if os.environ.get("PDPAUDIT_UPDATE_SNAPSHOTS"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
