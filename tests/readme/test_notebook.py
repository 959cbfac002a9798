"""The notebook in ``examples`` runs, and shows what it shows; a script writes its outputs anew."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "examples" / "python_face.ipynb"

#: What differs from run to run.
VOLATILE = re.compile(r"\d+(\.\d+)? s\b|\d{4}-\d\d-\d\dT[\d:.+Z]+|at 0x[0-9a-f]+")


def executed() -> Any:
    """Return the notebook with its present outputs."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    place = {"metadata": {"path": str(NOTEBOOK.parent)}}
    NotebookClient(notebook, timeout=300, resources=place, record_timing=False).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":  # the line of progress is empty at the end
            cell.outputs = [one for one in cell.outputs if one.get("data") != {"text/plain": ""}]
    return notebook


def shown(notebook: Any) -> list[str]:
    """Return what its cells show as text, without what differs from run to run."""
    return [
        VOLATILE.sub("", output.get("text") or output["data"]["text/plain"])
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    ]


@pytest.mark.filterwarnings("default")  # of the kernel's own libraries
def test_it_shows_what_its_cells_give() -> None:
    kept = shown(nbformat.read(NOTEBOOK, as_version=4))
    assert kept
    assert shown(executed()) == kept


if __name__ == "__main__":
    nbformat.write(executed(), NOTEBOOK)
