"""Damaged files of every format: read, or refused in one line, and never a traceback."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pdpaudit.core.errors import InputError
from pdpaudit.io import read_network

WHOLE = {
    "a.net": '*Vertices 3\n1 "a"\n2 "b"\n3 "c"\n*Edges\n1 2 1\n2 3 2\n*Partition x\n1\n0\n1\n',
    "b.net": '*Vertices 3\n1 "a"\n2 "b"\n3 "c"\n*Matrix\n0 1 0\n1 0 1\n0 1 0\n',
    "a.dl": "dl n=3 format=fullmatrix\nlabels:\na,b,c\ndata:\n0 1 0\n1 0 1\n0 1 0\n",
    "b.dl": "dl n=3 format=edgelist1\nlabels embedded\ndata:\na b 1\nb c 2\n",
    "a.tgf": "1 a\n2 b\n3 c\n#\n1 2 x\n2 3\n",
    "a.gdf": "nodedef>name VARCHAR\na\nb\nc\nedgedef>node1,node2,weight DOUBLE\na,b,1\nb,c,2\n",
    "a.lgl": "# a\nb 1\nc\n# b\nc 2\n",
    "a.adjlist": "# GMT now\na b c\nb c\n",
    "a.json": '{"nodes":[{"id":"a"},{"id":"b"}],"links":[{"source":"a","target":"b"}]}',
    "a.mtx": "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n3 2 2\n",
    "a.gml": "graph [\n node [ id 1 ]\n node [ id 2 ]\n edge [ source 1 target 2 ]\n]\n",
    "a.csv": 'source,target,weight,date\na,b,1,2020-01-01\n"x, y",a,3,2020-01-03\n',
    "b.csv": ",a,b,c\na,0,1,0\nb,1,0,1\nc,0,1,0\n",
    "c.csv": "1 2\n2 3\n# c\n3 4\n",
}
PIECES = ['"', "\n", "0", "-1", "x", ",", "\t", " ", "#", "%", "*", "{", "[", "nan", "é", "\\"]
EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from([0, 1, 2, 5, 12]), st.sampled_from(["", *PIECES])),
    min_size=1,
    max_size=4,
)

FOUND = {
    "a vertex that is no number": ("a.net", '*Vertices 2\nx "a"\n2 "b"\n*Edges\n1 2\n', "as Pajek"),
    "fewer labels than people": (
        "a.dl",
        "dl n=2 format=fullmatrix\nlabels:\na\ndata:\n0 1\n1 0\n",
        "1 different labels for 2 people",
    ),
    "a name fewer than columns": ("a.csv", " 0,1\nc,*,1", None),
    "a quote left open": ("a.csv", '1 2\n2 3\n# c\nNA3 "node>4\n', "close the quotes"),
    "quotes across rows": ("a.csv", '1 2\n2 3\n" c\n3 4"', "close the quotes"),
    "an entry and no end of its line": (
        "a.mtx",
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1nan2",
        "as Matrix Market",
    ),
}


def read(path: Path, text: str) -> str:
    """Return what a file is refused for, nothing if it is read."""
    path.write_text(text)
    try:
        read_network(path, plant=lambda adjacency, names: np.arange(len(names)) < 1)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("what", FOUND)
def test_damage_that_was_a_traceback_once(tmp_path: Path, what: str) -> None:
    name, text, words = FOUND[what]
    said = read(tmp_path / name, text)
    assert "\n" not in said
    assert words is None or words in said


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(WHOLE)), EDITS)
def test_a_damaged_file_is_read_or_refused(
    tmp_path: Path, name: str, edits: list[tuple[float, int, str]]
) -> None:
    text = WHOLE[name]
    for share, cut, piece in edits:
        at = int(share * len(text))
        text = text[:at] + piece + text[at + cut :]
    assert "\n" not in read(tmp_path / name, text)


def test_the_files_that_are_damaged_are_read_when_whole(tmp_path: Path) -> None:
    assert {name: read(tmp_path / name, text) for name, text in WHOLE.items()} == dict.fromkeys(
        WHOLE, ""
    )
