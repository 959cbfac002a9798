"""A command imports what it uses: each of these takes from 0.05 s to 0.7 s."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

#: What no audit that is asked for nothing else needs.
UNUSED = [
    "dp_accounting",
    "flint",
    "hypothesis",
    "jinja2",
    "matplotlib",
    "networkx",
    "scipy.integrate",
    "scipy.interpolate",
    "scipy.io",
    "scipy.optimize",
    "scipy.stats",
    "statsmodels",
]

PROGRAM = """
import sys
from pdpaudit.cli import main
try:
    main(sys.argv[2:])
except SystemExit as left:
    assert left.code in (0, 1), left.code
loaded = {name for name in sys.argv[1].split() if name in sys.modules}
print("loaded:", *sorted(loaded), file=sys.stderr)
"""


def loaded(unused: list[str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, " ".join(unused), *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr.splitlines()[-1]


def test_an_audit_of_records_imports_nothing_for_networks() -> None:
    unused = [*UNUSED, "pandas", "scipy.sparse.csgraph", "scipy.linalg"]
    assert loaded(unused, "audit", "zoo:Laplace", "--seed", "1") == "loaded:"


@pytest.mark.parametrize("search", ["SFS", "Target"])
def test_an_audit_on_a_table_of_ties_imports_no_graph_library(search: str, tmp_path: Path) -> None:
    ties, people = tmp_path / "ties.csv", tmp_path / "people.csv"
    ties.write_text("source,target\na,p\nb,p\np,q\nq,c\n")
    people.write_text(
        "id,label\n" + "".join(f"{one},target\n" for one in "abc") + "p,other\nq,other\n"
    )
    command = ["audit", search, "--edges", str(ties), "--nodes", str(people), "--seed", "1"]
    assert loaded(UNUSED, *command) == "loaded:"
