"""Who is targeted and where a search starts: nodes files, attributes, infection, seeds."""

from functools import partial

import networkx as nx
import numpy as np
import pytest

from pdpaudit.core.errors import InputError
from pdpaudit.io import read_network

# What is read is seen by the names, which are kept out by default (test_pseudonyms.py).
read_network = partial(read_network, names=True)

EDGES = "ann,bob\nbob,cy\ndan,eve\neve,fay\n"
PEOPLE = "id,label\n" + "".join(
    f"{name},{label}\n"
    for name, label in {
        "gus": "other",
        "fay": "target",
        "eve": "target",
        "dan": "other",
        "cy": "target",
        "bob": "other",
        "ann": "other",
    }.items()
)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "people.csv").write_text(PEOPLE)
    return tmp_path / "edges.csv", tmp_path / "people.csv"


def test_vertices_in_the_order_of_the_nodes_file_with_those_without_ties(files):
    reading = read_network(files[0], nodes=files[1])
    network = reading.network
    assert network.names == ("gus", "fay", "eve", "dan", "cy", "bob", "ann")
    assert network.targeted.tolist() == [False, True, True, False, True, False, False]
    assert [network.name(v) for v in network.neighbours(2).tolist()] == ["fay", "dan"]
    assert reading.summary == (
        "7 vertices (1 without ties), 4 edges; dropped nothing\n"
        "3 targeted, 4 protected; the targeted form 2 components of sizes 2, 1"
    )


def test_default_seed_is_the_first_of_the_largest_component_and_said_aloud(files):
    reading = read_network(files[0], nodes=files[1])
    assert reading.network.seeds == (1,)
    assert any(note.startswith("seed 'fay'") for note in reading.notes)


def test_seeds_by_name_once_each(files):
    reading = read_network(files[0], nodes=files[1], seeds=["cy", "eve", "cy"])
    assert reading.network.seeds == (4, 2)
    assert not any(note.startswith("seed ") for note in reading.notes)


def test_other_columns_values_and_separator(files):
    people = "note\trole\twho\n" + "".join(
        f"x, y\t{3 if name in 'ac' else 4}\t{name}\n" for name in ("a", "b", "c")
    )
    files[1].write_text(people)
    files[0].write_text("a b\nb c\n")
    reading = read_network(
        files[0], nodes=files[1], id_column="who", label_column="Role", targeted_value="3"
    )
    assert reading.network.targeted.tolist() == [True, False, True]


def test_notes_of_several_lines_beside_the_labels(files):
    files[0].write_text("a b\nb c\n")
    files[1].write_text('id,bio,label\na,"one\n2,\nthree",target\nb,,other\nc,"",other\n')
    assert read_network(files[0], nodes=files[1]).network.targeted.tolist() == [True, False, False]


def test_people_listed_twice_alike_are_one(files):
    files[1].write_text(PEOPLE + "ann,other\nann,other\n")
    reading = read_network(files[0], nodes=files[1])
    assert reading.network.n == 7
    assert any("2 repeated rows" in note for note in reading.notes)


def test_more_than_two_labels_are_said_aloud(files):
    files[1].write_text(PEOPLE.replace("gus,other", "gus,unknown"))
    reading = read_network(files[0], nodes=files[1])
    assert any("'other', 'unknown'" in note for note in reading.notes)


def test_one_label_in_several_cases_is_one_label(files):
    """As line lists have them that several people typed."""
    mixed = PEOPLE.replace("eve,target", "eve,Target").replace("cy,target", "cy, TARGET ")
    files[1].write_text(mixed)
    reading = read_network(files[0], nodes=files[1])
    network = reading.network
    targeted = np.flatnonzero(network.targeted).tolist()
    assert {network.name(v) for v in targeted} == {
        "fay",
        "eve",
        "cy",
    }
    (note,) = [note for note in reading.notes if "whatever the case" in note]
    assert all(repr(name) in note for name in ("target", "Target", "TARGET"))


def test_infection_with_a_nodes_file_uses_its_ids_alone(files):
    files[1].write_text("author\n" + "\n".join(["Gus", "fay", "eve", "dan", "cy", "bob", "ann"]))

    def plant(adjacency, names):
        assert adjacency.shape == (7, 7)
        return np.arange(7) % 2 == 0

    reading = read_network(files[0], nodes=files[1], plant=plant)
    assert reading.network.names[0] == "Gus"
    assert reading.network.targeted.tolist() == [True, False] * 3 + [True]


def test_infection_beside_a_column_of_labels_is_refused(files):
    with pytest.raises(InputError, match="leave label_column out"):
        read_network(
            files[0],
            nodes=files[1],
            plant=lambda a, names: np.arange(len(names)) < 1,
            label_column="rank",
        )


def test_single_column_of_names_with_spaces(files):
    files[0].write_text("Ann Lee,Bo Jo\n")
    files[1].write_text("author\nAnn Lee\nBo Jo\nCy Van Dam\n")
    reading = read_network(files[0], nodes=files[1], plant=lambda a, names: np.arange(3) < 1)
    assert reading.network.names == ("Ann Lee", "Bo Jo", "Cy Van Dam")


@pytest.mark.parametrize("suffix", ["gml", "graphml", "gexf"])
def test_labels_in_a_graph_file(tmp_path, suffix):
    graph = nx.path_graph(["a", "b", "c"])
    nx.set_node_attributes(graph, {"a": "x", "b": "y", "c": "x"}, "role")
    path = tmp_path / f"graph.{suffix}"
    getattr(nx, f"write_{suffix}")(graph, path)
    reading = read_network(path, label_column="role", targeted_value="x")
    assert reading.network.targeted.tolist() == [True, False, True]
    assert reading.network.names == ("a", "b", "c")


def test_graph_file_vertices_keep_their_ids_where_labels_repeat(tmp_path):
    path = tmp_path / "graph.gml"
    path.write_text(
        'graph [ node [ id 5 label "target" ] node [ id 7 label "no" ] node [ id 9 label "no" ] '
        "edge [ source 5 target 7 ] ]"
    )
    network = read_network(path).network
    assert network.names == ("5", "7", "9")
    assert network.targeted.tolist() == [True, False, False]
