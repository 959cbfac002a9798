"""Errors name parameters, as Python has them; the command line names its options instead."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import pdpaudit
from pdpaudit.cli.options import flagged
from pdpaudit.core.errors import InputError, ParameterError

from .conftest import Run

FOLDER = Path(pdpaudit.__file__).parent
ROOMS = ("core", "io", "sampling", "auditing")

#: Names in backquotes that are no parameters: of functions, commands and of a budget.
NO_PARAMETERS = {"`check`"}


def messages() -> Iterator[tuple[str, str]]:
    """Return file and text of all string constants but docstrings."""
    for room in ROOMS:
        for path in sorted((FOLDER / room).glob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                text = getattr(node, "value", None)
                if (
                    isinstance(node, ast.Constant)
                    and isinstance(text, str)
                    and id(node) not in docstrings
                ):
                    yield f"{path.parent.name}/{path.name}:{node.lineno}", text


def test_no_deeper_room_knows_an_option() -> None:
    assert [place for place, text in messages() if re.search(r"--[a-z]|\S --$", text)] == []


def test_every_parameter_that_a_reader_or_an_audit_names_has_an_option() -> None:
    named = [
        (place, name)
        for place, text in messages()
        if place.startswith(("io/", "auditing/"))
        for name in re.findall(r"`[a-z_]+`", text)
        if name not in NO_PARAMETERS
    ]
    assert len(named) > 30
    assert [(place, name) for place, name in named if "`" in flagged(name)] == []


def test_options_are_named_as_they_are_declared() -> None:
    assert flagged("`since`, `weight_column`, `plant`") == "--from, --weight-column, --infect"
    assert flagged(ParameterError("tries", 0, "at least 1")) == "--try 0: at least 1"
    assert flagged(InputError("run `pip install x`, or `dask scheduler`")) == (
        "run `pip install x`, or `dask scheduler`"
    )


def test_the_same_fault_in_python_and_at_the_terminal(run: Run) -> None:
    with pytest.raises(InputError, match=r"no column 'w' \(`weight_column`\)") as caught:
        pdpaudit.read_network(Path("edges.csv"), nodes=Path("nodes.csv"), weight_column="w")
    assert "--" not in str(caught.value)
    ran = run("audit", "PTarget", "--edges", "edges.csv", "--weight-column", "w")
    assert ran.status == 2
    assert "no column 'w' (--weight-column)" in ran.err


def test_notes_of_a_reading_name_parameters_and_the_terminal_shows_options(run: Run) -> None:
    Path("edges.csv").write_text("source,target\nann,bob\nbob,cat\nNA,cat\ndan,eve\n")
    reading = pdpaudit.read_network(Path("edges.csv"), nodes=Path("nodes.csv"))
    assert any("`keep_missing`" in note for note in reading.notes)
    assert not any("--" in note for note in reading.notes)
    ran = run("audit", "PTarget", "--edges", "edges.csv", "--nodes", "nodes.csv", "--seed", "1")
    assert "--keep-missing takes such words for names" in " ".join(ran.out.split())
    assert "`" not in ran.out
