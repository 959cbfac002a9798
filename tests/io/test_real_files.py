"""Files as people have them, against counts made by independent code: sets and str.split."""

import csv
import gzip
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdpaudit.core.errors import InputError
from pdpaudit.core.network import targeted_components
from pdpaudit.io import read_network

# What is read is seen by the names, which are kept out by default (test_pseudonyms.py).
read_network = partial(read_network, names=True)


def every_seventh(adjacency, names):
    return np.arange(adjacency.shape[0]) % 7 == 0


def lines_of(path: Path) -> list[str]:
    data = path.read_bytes()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    return data.decode().replace("\r\n", "\n").rstrip("\n").split("\n")


def simple(pairs) -> set[tuple[str, str]]:
    return {(min(a, b), max(a, b)) for a, b in pairs if a != b}


def edges_of(network) -> set[tuple[str, str]]:
    rows, columns = network.adjacency.nonzero()
    names = network.names
    return simple(
        (names[i], names[j]) for i, j in zip(rows.tolist(), columns.tolist(), strict=True)
    )


@pytest.mark.parametrize(
    ("name", "skip", "cut", "vertices", "edges"),
    [
        ("messy/ca-GrQc.txt", 5, None, 5242, 14484),
        ("messy/adjnoun.mtx", 1, None, 115, 428),
        ("messy/quaker-edges.csv", 1, ",", 96, 162),
        ("caviar/edges.csv", 1, ",", 110, 205),
        pytest.param(
            *("ego_twitter/ego-twitter-undirected.jlg", 1, ",", 81306, 1342296),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_plain_lists(shared_data, name, skip, cut, vertices, edges):
    rows = [line.split(cut) for line in lines_of(shared_data / name)[skip:]]
    network = read_network(shared_data / name, plant=every_seventh).network
    assert set(network.names) == {end for row in rows for end in row[:2]}
    assert (network.n, network.edges) == (vertices, edges)
    if edges < 100_000:
        assert edges_of(network) == simple(row[:2] for row in rows)
    else:
        assert network.edges == len(simple(row[:2] for row in rows))


def test_what_is_dropped_of_ca_grqc(shared_data):
    reading = read_network(shared_data / "messy/ca-GrQc.txt", plant=every_seventh)
    assert "dropped 12 self-loops, 14,484 duplicates\n" in reading.summary
    first = "first line taken as a header because it has 1 column and the others 2"
    assert first in reading.notes


@pytest.mark.parametrize(
    ("folder", "vertices", "edges", "targets", "sizes"),
    [
        ("stlouis_crime", 870, 2261, 442, [349, 17, 8, 7, 6, 4, 3, 3, 3, 3]),
        ("caviar", 110, 205, 82, [76, 1, 1, 1, 1, 1, 1]),
    ],
)
def test_labelled_networks(shared_data, folder, vertices, edges, targets, sizes):
    base = shared_data / folder
    network = read_network(base / "edges.csv", nodes=base / "nodes.csv").network
    components = targeted_components(network.adjacency, network.targeted)
    assert (network.n, network.edges, network.targeted.sum()) == (vertices, edges, targets)
    assert [len(component) for component in components][:10] == sizes
    assert network.seeds == (components[0][0],)
    assert len(components) == {"stlouis_crime": 44, "caviar": 7}[folder]


def test_acl_with_and_without_its_authors(shared_data):
    base = shared_data / "acl_coauthors"
    network = read_network(base / "edges.csv.gz", plant=every_seventh).network
    assert (network.n, network.edges) == (59985, 257057)
    reading = read_network(
        base / "edges.csv.gz", nodes=base / "authors.csv.gz", plant=every_seventh
    )
    assert (reading.network.n, reading.network.edges) == (62620, 257057)
    assert reading.summary.startswith("62,620 vertices (2,635 without ties), 257,057 edges")
    # An independent count of the strong ties: weights are after the last comma.
    strong = sum(int(line.rsplit(",", 1)[1]) >= 3 for line in lines_of(base / "edges.csv.gz")[1:])
    thinned = read_network(base / "edges.csv.gz", plant=every_seventh, min_weight=3).network
    assert (thinned.n, thinned.edges) == (59985, strong)


def test_movie_costars(shared_data):
    network = read_network(shared_data / "movie_costars/edges.csv.gz", plant=every_seventh).network
    assert (network.n, network.edges) == (28372, 431082)
    rows = list(csv.reader(lines_of(shared_data / "movie_costars/edges.csv.gz")))[1:]
    assert set(network.names) == {end for row in rows for end in row[:2]}


def test_known_pairs_of_weight_zero_are_no_ties(shared_data):
    path = shared_data / "messy/HighSchool2013_facebook_known_pairs.csv.gz"
    rows = [line.split() for line in lines_of(path)]
    network = read_network(path, plant=every_seventh).network
    assert edges_of(network) == simple((a, b) for a, b, known in rows if known == "1")
    assert set(network.names) == {end for row in rows for end in row[:2]}
    assert (network.n, network.edges) == (156, 1437)


def test_madrid_is_refused_until_its_columns_are_named(shared_data):
    path = shared_data / "messy/madrid_relations.csv"
    with pytest.raises(InputError, match=r"`source_column` and `target_column`.*'ID', 'Tie_ID'"):
        read_network(path, plant=every_seventh)
    reading = read_network(path, source_column="ID", target_column="Tie_ID", plant=every_seventh)
    rows = [line.split(",")[2:4] for line in lines_of(path)[1:]]
    assert edges_of(reading.network) == simple(row for row in rows if any(row))
    assert "36 blank rows" in reading.summary
    assert (reading.network.n, reading.network.edges) == (54, 226)


def test_marvel(shared_data):
    reading = read_network(shared_data / "messy/marvel-unimodal-edges.csv", plant=every_seventh)
    assert (reading.network.n, reading.network.edges) == (327, 9891)
    assert "Hodge, Cameron" in reading.network.names


def test_school_day_with_the_attributes_of_its_gexf(shared_data):
    path = shared_data / "messy/sp_school_day1.gexf.gz"
    text = "\n".join(lines_of(path))
    for label, value in (("classname", "1A"), ("gender", "M")):
        network = read_network(path, label_column=label, targeted_value=value).network
        assert network.n == text.count("<node ")
        assert network.edges == text.count("<edge ")
        assert network.targeted.sum() == text.count(f'value="{value}"')
    with pytest.raises(InputError, match="`label_column`: 'classname', 'gender'"):
        read_network(path, label_column="label_of_some_sort")


def test_events_people_took_part_in_need_their_columns_named(shared_data):
    path = shared_data / "stlouis_crime/person_event_role.csv"
    with pytest.raises(InputError, match="'person', 'event', 'role'"):
        read_network(path, plant=every_seventh)
    named: dict[str, Any] = {"source_column": "person", "target_column": "event"}
    network = read_network(path, plant=every_seventh, **named).network
    assert edges_of(network) == simple(line.split(",")[:2] for line in lines_of(path)[1:])


def test_notes_beside_the_data_are_refused(shared_data):
    for path in [shared_data / "README.md", *shared_data.glob("*/SOURCE.txt")]:
        with pytest.raises(InputError):
            read_network(path, plant=every_seventh)
