"""Names of a file stay out of the network read from it, and what is said about it."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdpaudit.core.errors import InputError
from pdpaudit.io import find_people, read_network
from pdpaudit.io.people import pseudonyms

NAMES = ["Quagga", "Okapi", "Bongo", "Fossa", "Dhole"]


def write(folder, edges, people):
    (folder / "edges.csv").write_text(edges)
    (folder / "people.csv").write_text(people)
    return folder / "edges.csv", folder / "people.csv"


def edges_of(names):
    return "".join(f"{one},{other}\n" for one, other in pairwise(names))


def people_of(names):
    labels = ["target" if i % 2 == 0 else "other" for i in range(len(names))]
    return "id,label\n" + "".join(f"{n},{x}\n" for n, x in zip(names, labels, strict=True))


def spilled(reading):
    said = [*reading.network.names, reading.summary, *reading.notes]
    return [name for name in NAMES for words in said if name in words]


@pytest.mark.parametrize(
    ("edges", "options"),
    [
        (edges_of(NAMES), {}),  # the first line names people and is said to be an edge
        ("Quagga,Okapi,unknown\n" + "Bongo,Fossa,3\nDhole,Bongo,4\nFossa,Okapi,1\n", {}),
        ("source,target\n" + edges_of(NAMES), {"seeds": ["Bongo"]}),
        # Everybody's label is a name.
        (edges_of(NAMES), {"label_column": "id", "targeted_value": "Okapi"}),
    ],
)
def test_no_name_is_said_unless_names_are_asked_for(tmp_path, edges, options):
    paths = write(tmp_path, edges, people_of(NAMES))
    reading = read_network(paths[0], nodes=paths[1], **options)
    assert spilled(reading) == []
    assert reading.network.names == tuple(f"person {i}" for i in range(5))
    assert reading.names == tuple(NAMES)
    named = read_network(paths[0], nodes=paths[1], names=True, **options)
    assert set(spilled(named)) == set(NAMES)
    assert named.network.seeds == reading.network.seeds


def test_a_pseudonym_is_as_good_as_a_name_to_start_from(tmp_path):
    paths = write(tmp_path, edges_of(NAMES), people_of(NAMES))
    seeds = [
        read_network(paths[0], nodes=paths[1], seeds=[asked]).network.seeds
        for asked in ("Bongo", "person 2")
    ]
    assert seeds == [(2,), (2,)]


def test_a_wrong_seed_is_not_answered_with_the_names_of_others(tmp_path):
    paths = write(tmp_path, edges_of(NAMES), people_of(NAMES))
    with pytest.raises(InputError, match="'Bonga' is not a vertex; check the spelling"):
        read_network(paths[0], nodes=paths[1], seeds=["Bonga"])


def test_a_label_that_is_not_there_is_not_answered_with_names(tmp_path):
    paths = write(tmp_path, edges_of(NAMES), people_of(NAMES))
    with pytest.raises(InputError) as refused:
        read_network(paths[0], nodes=paths[1], label_column="id")
    assert not any(name in str(refused.value) for name in NAMES)


@settings(max_examples=settings().max_examples // 2)
@given(st.lists(st.from_regex(r"(person|person\*|p)( [0-9])?", fullmatch=True), unique=True))
def test_no_pseudonym_is_or_holds_a_name(names):
    given_instead = pseudonyms(names)
    longer = [name for name in names if " " in name]
    assert not any(name in other for name in longer for other in given_instead)
    assert find_people([*given_instead, *names], names) == [*range(len(names))] * 2
