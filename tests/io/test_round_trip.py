"""Whatever is written in any dialect is read back equal."""

import csv
import gzip
import io
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import mmwrite

from pdpaudit.core.network import adjacency_from_networkx
from pdpaudit.io import read_network
from pdpaudit.io.source import unify

# What is read is seen by the names, which are kept out by default (test_pseudonyms.py).
read_network = partial(read_network, names=True)

# Anything but line ends inside a name (refused) and the zero byte (not text).
characters = st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\n\0")
# Whole numbers are one person in whatever form, and blanks around a name are no part of it.
texts = st.text(characters, min_size=1, max_size=20).filter(
    lambda text: unify([text], "")[0] == [text] == [text.strip(" \t")]
)
names = texts | st.sampled_from(
    ["#", "%a", '"', '""', "a,b", "a;b", "a\tb", "a|b", "0", "00", "nan", "source", "id"]
)


@st.composite
def networks(draw):
    vertices = draw(st.lists(names, min_size=2, max_size=9, unique=True))
    chosen = draw(
        st.lists(
            st.tuples(st.sampled_from(vertices), st.sampled_from(vertices)),
            min_size=1,
            max_size=20,
        )
    )
    chosen.append(draw(st.permutations(vertices).map(lambda order: tuple(order[:2]))))  # no loop
    targeted = draw(st.sets(st.sampled_from(vertices), min_size=1, max_size=len(vertices) - 1))
    return vertices, draw(st.permutations(chosen)), targeted


def write(rows, separator: str, line_end: str, quoting: Literal[0, 1, 2, 3]) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=separator, lineterminator=line_end, quoting=quoting)
    writer.writerows(rows)
    return out.getvalue()


def quoted_if_needed(name: str) -> bool:
    return any(mark in name for mark in ' ,;|\t"') or name[0] in "#%"


def write_sparingly(rows, separator: str, line_end: str) -> str:
    """Quote only what must be quoted, by a rule of its own rather than the csv module's."""
    lines = []
    for row in rows:
        fields = [
            '"' + field.replace('"', '""') + '"' if quoted_if_needed(field) else field
            for field in row
        ]
        lines.append(separator.join(fields) + line_end)
    return "".join(lines)


@given(
    network=networks(),
    separator=st.sampled_from([",", ";", "\t", " "]),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    sparing=st.booleans(),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    packed=st.booleans(),
    weighted=st.booleans(),
)
@settings(max_examples=settings().max_examples * 6 // 5, deadline=None)
def test_delimited_text(network, separator, line_end, sparing, encoding, packed, weighted):
    vertices, ties, targeted = network
    rows = [["source", "target"] + ["weight"] * weighted]
    rows += [[one, other] + ["2.5"] * weighted for one, other in ties]
    people = [["id", "label"]]
    people += [[name, "target" if name in targeted else "other"] for name in vertices]
    with tempfile.TemporaryDirectory() as folder:
        paths: list[Path] = []
        for table in (rows, people):
            text = (
                write_sparingly(table, separator, line_end)
                if sparing
                else write(table, separator, line_end, csv.QUOTE_ALL)
            )
            data = text.encode(encoding)
            paths.append(Path(folder) / f"{len(paths)}.txt")
            paths[-1].write_bytes(gzip.compress(data) if packed else data)
        found = read_network(paths[0], nodes=paths[1], keep_missing=True)
    expected = nx.Graph()
    expected.add_nodes_from(vertices)
    expected.add_edges_from(ties)
    adjacency, _ = adjacency_from_networkx(expected)
    assert found.network.names == tuple(vertices)
    assert abs(found.network.adjacency - adjacency).nnz == 0
    assert found.network.targeted.tolist() == [name in targeted for name in vertices]
    assert len(found.summary.split("\n")) == 2


@given(network=networks(), separator=st.sampled_from([",", ";", "\t", " "]))
@settings(max_examples=settings().max_examples, deadline=None)
def test_without_header_every_row_is_an_edge(network, separator):
    # A letter in front: names that are all numbers, or column names, would say more than names.
    rows = [["x" + one, "x" + other] for one, other in network[1]]
    rows.append(["y", rows[0][0]])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges"
        path.write_text(write(rows, separator, "\n", csv.QUOTE_ALL), newline="")
        found = read_network(path, plant=lambda a, names: np.arange(a.shape[0]) < 1).network
    expected = nx.Graph(rows)
    expected.remove_edges_from(list(nx.selfloop_edges(expected)))
    assert set(found.names) == set(expected)
    assert found.edges == expected.number_of_edges()
    for one, other in expected.edges:
        assert found.adjacency[found.names.index(one), found.names.index(other)] == 1


def write_gml(graph: nx.Graph, path: Path) -> None:
    nx.write_gml(graph, path)


def write_graphml(graph: nx.Graph, path: Path) -> None:
    nx.write_graphml(graph, path)


def write_gexf(graph: nx.Graph, path: Path) -> None:
    nx.write_gexf(graph, path)


def write_pajek(graph: nx.Graph, path: Path) -> None:
    nx.write_pajek(graph, path)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("writer", [write_gml, write_graphml, write_gexf, write_pajek])
@pytest.mark.parametrize("packed", [False, True])
def test_graph_formats(tmp_path, writer: Callable[[nx.Graph, Path], None], packed):
    graph = nx.relabel_nodes(nx.les_miserables_graph(), {"Valjean": "Jean Valjean, dit Madeleine"})
    path = tmp_path / "graph.dat"
    writer(graph, path)
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    found = read_network(path, plant=lambda a, names: np.arange(a.shape[0]) < 5, min_weight=3)
    heavy = nx.Graph()
    heavy.add_nodes_from(graph)
    heavy.add_edges_from((a, b) for a, b, w in graph.edges(data="weight") if w >= 3)
    adjacency, nodes = adjacency_from_networkx(heavy)
    assert found.network.names == nodes
    assert abs(found.network.adjacency - adjacency).nnz == 0


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_matrix_market(tmp_path, symmetry):
    adjacency, _ = adjacency_from_networkx(nx.karate_club_graph())
    path = tmp_path / "karate.mtx"
    mmwrite(path, adjacency, symmetry=symmetry)
    found = read_network(path, plant=lambda a, names: np.arange(a.shape[0]) < 5)
    assert abs(found.network.adjacency - adjacency).nnz == 0
    assert found.network.names[0] == "1"
    assert ("78 duplicates" in found.summary) == (symmetry == "general")
