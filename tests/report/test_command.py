"""``pdpaudit report``: files in, one file out, one clear line where that cannot be."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from pdpaudit.cli.results import report_command
from pdpaudit.core.errors import InputError
from pdpaudit.report.rendering import render_html
from pdpaudit.report.sources import read_source

Saved = Callable[[dict[str, Any]], Path]


def run(*arguments: object) -> int:
    """Run the command as the application does."""
    app = typer.Typer()
    app.command("report")(report_command)
    status: int = app([str(argument) for argument in arguments], standalone_mode=False)
    return status


def test_a_page_is_written(
    audit_body: dict[str, Any], saved: Saved, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out.html"
    assert run(saved(audit_body), "-o", output) == 0
    assert output.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert capsys.readouterr().out == f"report written to {output}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.html", "result.json"]


def test_the_ending_chooses_the_form(
    audit_body: dict[str, Any], check_body: dict[str, Any], saved: Any, tmp_path: Path
) -> None:
    files = [saved(audit_body, "a.json"), saved(check_body, "b.json")]
    assert run(*files, "-o", tmp_path / "out.md", "--quiet") == 0
    text = (tmp_path / "out.md").read_text(encoding="utf-8")
    assert text.startswith("# Privacy report on 2 results\n")
    assert run(*files, "-o", tmp_path / "out.txt", "--format", "md", "--quiet") == 0
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == text


def test_standard_output(
    audit_body: dict[str, Any], saved: Saved, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run(saved(audit_body), "-o", "-", "--format", "md") == 0
    assert capsysbinary.readouterr().out.decode().startswith("# Privacy audit of PTarget\n")


def test_what_cannot_be_done_is_said(
    audit_body: dict[str, Any], saved: Saved, tmp_path: Path
) -> None:
    file = saved(audit_body)
    for arguments, message in (
        ((tmp_path / "none.json", "-o", tmp_path / "a.html"), "No such file"),
        ((file, "-o", tmp_path / "a.pdf"), "end the name in .html, .md or .sarif"),
        (
            (file, "-o", tmp_path / "a.html", "--format", "pdf"),
            "choose one of html, md, sarif, checklist",
        ),
        ((file, "-o", tmp_path / "no" / "a.html"), "make it first"),
        ((file, "-o", file, "--format", "html"), "is one of the result files"),
    ):
        with pytest.raises(InputError, match=message):
            run(*arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


def test_a_page_without_matplotlib_has_all_but_its_charts(
    audit_body: dict[str, Any], saved: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = [read_source(saved(audit_body))]
    drawn = render_html(sources)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    plain = render_html(sources)
    assert "<svg" in drawn
    assert "<svg" not in plain
    assert "Charts are left out: matplotlib is not installed here" in plain
    assert "Charts are left out" not in drawn

    def tables(page: str) -> list[str]:
        return re.findall(r"(?s)<table.*?</table>", page)

    assert tables(plain) == tables(drawn)
