"""The line that leaks is found, for leaks of twelve kinds."""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpaudit.algorithms.zoo import SVT4
from pdpaudit.auditing import first_difference as first
from pdpaudit.auditing.candidate_pairs import CandidatePair, network_candidate, own_pairs
from pdpaudit.auditing.first_difference import first_difference
from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.errors import InputError
from pdpaudit.core.input_words import LONGEST_TEXT, shortened
from pdpaudit.core.network import NeighborPair, Network, adjacency_from_networkx
from pdpaudit.core.subject import Subject
from pdpaudit.outputs import flatten
from pdpaudit.report.findings import difference_words
from pdpaudit.results.files import Fields
from pdpaudit.results.results import ClaimResult
from pdpaudit.results.witnesses import Difference, FirstDifference

from . import planted_leaks as planted

#: Two neighbouring lists of ages: one person is of another age.
AGES = [20, 21, 40, 41, 70], [20, 21, 40, 41, 20]


def networks() -> CandidatePair:
    """Return two networks in which the protected vertex 3 has other contacts."""
    graph = nx.empty_graph(6)
    graph.add_edges_from([(0, 1), (1, 2), (4, 5), (0, 4)])
    adjacency, _ = adjacency_from_networkx(graph)
    targeted = np.array([True, True, True, False, True, True])
    network = Network(adjacency, targeted, seeds=(0,))
    pair = NeighborPair(network, 3, np.array([0, 1, 2]), np.array([5]), "test")
    return network_candidate(pair)


def records() -> CandidatePair:
    return CandidatePair("an age", lambda: AGES)


def marked(kind: type) -> int:
    lines, start = inspect.getsourcelines(kind)
    return start + next(i for i, line in enumerate(lines) if line.rstrip().endswith("# LEAK"))


def of(mechanism: Any, candidate: CandidatePair, runs: int = 30) -> FirstDifference:
    return first_difference(Subject.of(mechanism), candidate, "left", 1, runs)


@pytest.mark.parametrize("kind", [*planted.ON_NETWORKS, *planted.ON_RECORDS])
def test_the_line_that_leaks_is_the_answer(kind: type) -> None:
    found = of(kind(), records() if kind in planted.ON_RECORDS else networks())
    answer = found.places[0]
    assert (answer.file, answer.line) == ("planted_leaks.py", marked(kind))
    assert answer.code
    assert 0 < answer.runs <= found.runs == 30


def test_a_generator_is_one_and_gives_the_same() -> None:
    class Careful:
        def run(self, instance: Any, rng: Any) -> Any:
            assert isinstance(rng, np.random.Generator)
            return rng.choice([1, 2, 3], p=[0.2, 0.3, 0.5]), rng.spawn(1)[0].random() < instance

    found = of(Careful(), CandidatePair("", lambda: (0.0, 1.0)))
    # Nothing drawn differs: `choice` may draw by other methods, which are not the author's calls.
    assert [one.kind for one in found.places] == ["output"]


def test_what_is_the_same_on_both_sides_differs_nowhere() -> None:
    candidate = CandidatePair("", lambda: (AGES[0], AGES[0]))
    for kind in planted.ON_RECORDS:
        assert of(kind(), candidate, runs=3) == FirstDifference(3)


def test_code_of_libraries_is_not_the_authors() -> None:
    class Reads:
        def run(self, instance: Any, rng: Any) -> Any:
            text = json.dumps({"age": instance[-1]})
            return json.loads(text)["age"] + rng.integers(10)

    [answer] = of(Reads(), records(), runs=3).places
    assert (answer.file, answer.kind) == (Path(__file__).name, "value")
    assert answer.code == 'text = json.dumps({"age": instance[-1]})'


def test_a_library_is_the_authors_by_its_place_and_not_by_a_folders_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lib = tmp_path / "parting" / "lib"
    (lib / "parting").mkdir(parents=True)
    (lib / "parting" / "__init__.py").write_text(
        "import parting_tools\n\n\nclass Adds:\n    def run(self, ages, rng):\n"
        "        return parting_tools.total(ages)\n"
    )
    (lib / "parting_tools.py").write_text("def total(ages):\n    return sum(list(ages))\n")
    monkeypatch.syspath_prepend(lib)
    monkeypatch.setattr(first, "installed", lambda path: path.is_relative_to(lib))
    found = of(importlib.import_module("parting").Adds(), records(), runs=3)
    assert {one.file for one in found.places} == {"__init__.py"}


def test_our_own_mechanisms_are_their_authors() -> None:
    candidate = next(iter(own_pairs(Subject.of(SVT4(1.0)))))
    found = of(SVT4(1.0), candidate)
    assert found.places
    assert {one.file for one in found.places} == {"sparse_vector.py"}


def test_runs_without_end_are_compared_as_far_as_they_are_recorded() -> None:
    class Long:
        def run(self, instance: Any, rng: Any) -> Any:
            total = 0
            for i in range(10**5):
                total += i
            return total if instance[-1] > 30 else rng.random()

    [answer] = of(Long(), records(), runs=2).places
    assert (answer.kind, answer.file, answer.line) == ("output", "", 0)


class Thing:
    """What a library returns: an object that Python shows by its address alone."""

    def __init__(self, value: object) -> None:
        self.value_ = value


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(), inner) | inner.map(Thing)
    ),
    max_leaves=6,
)


@given(ANYTHING, ANYTHING)
def test_outputs_that_differ_are_said_to(one: object, other: object) -> None:
    class Fixed:
        def run(self, instance: Any, rng: Any) -> Any:
            return instance

    candidate = CandidatePair("", lambda: (Thing([one]), Thing([other])))
    differs = flatten(one) != flatten(other)
    found = of(Fixed(), candidate, runs=2)
    assert bool(found.places) == differs
    assert all(place.ours != place.theirs and place.line for place in found.places)
    assert ("nothing looked at differs" in words_of(found)) != differs


def words_of(found: FirstDifference) -> str:
    claim = PrivacyClaim(1.0)
    return difference_words(
        ClaimResult("x #1", "1-DP", "", "violated", claim, first_difference=found)
    )


def test_of_no_line_at_all_the_outputs_are_compared() -> None:
    class Compiled:
        run = staticmethod(str.format)

    assert words_of(of(Compiled(), CandidatePair("", lambda: ("2", "3")), runs=3)) == (
        "With the same random stream on both sides what is returned differs (2 against 3), in 3 "
        "of 3 runs; no line that was followed leads to it."
    )


def test_it_is_read_back_as_it_was_written() -> None:
    found = of(planted.Scale(), records(), runs=2)
    claim = ClaimResult("x #1", "1-DP", "", "violated", PrivacyClaim(1.0), first_difference=found)
    body = json.loads(json.dumps(claim.to_json()))
    assert ClaimResult.from_json(Fields(body, "f", "")).first_difference == found
    body["first_difference"]["places"][0]["kind"] = "guess"
    with pytest.raises(InputError, match=r"kind is 'guess', not one of line, draw"):
        ClaimResult.from_json(Fields(body, "f", ""))


def test_it_is_said_in_words_whatever_a_line_holds() -> None:
    place = Difference(
        "draw", "a.py", 3, "x = '\x1b[2J'", 7, "laplace(scale=0.333333333333)", "none"
    )
    found = FirstDifference(9, (place, Difference("line", "a.py", 5, "if x:", 4)))
    claim = ClaimResult("x #1", "1-DP", "", "violated", PrivacyClaim(1.0), first_difference=found)
    assert difference_words(claim) == (
        "With the same random stream on both sides: first random draw that differs: a.py:3, "
        "`x = '␛[2J'` (laplace(scale=0.333333) against none), in 7 of 9 runs; first parts at "
        "line 5, `if x:`, in 4 of 9 runs."
    )


@given(st.text("01, ", max_size=200), st.text("01, ", max_size=200), st.text("01, ", max_size=200))
def test_long_values_are_shown_where_they_differ(shared: str, ours: str, theirs: str) -> None:
    one, other = shared + ours, shared + theirs
    shown = shortened(one, other)
    assert (shown[0] == shown[1]) == (one == other)
    assert all(len(text) <= LONGEST_TEXT + 1 for text in shown)
    if max(len(one), len(other)) <= LONGEST_TEXT:
        assert shown == [one, other]


def test_a_long_list_is_shown_from_the_entry_that_differs() -> None:
    ages = "ages = [" + "0.0, " * 19
    assert shortened(f"{ages}0.0]", f"{ages}100.0]") == ["… 0.0]", "… 100.0]"]
