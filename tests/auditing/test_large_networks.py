"""Laws with thousands of long outputs, laws that cannot be had, and networks with nothing to find.

The laws of a search on small networks are the oracle: there outputs are written at once.
"""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from pdpaudit.algorithms.laws import networks as network_laws
from pdpaudit.algorithms.searches.noisy_max import PTargetMainText
from pdpaudit.algorithms.searches.search_com import PTarget
from pdpaudit.algorithms.statistics import CN
from pdpaudit.auditing import event_selection
from pdpaudit.auditing.config import Config
from pdpaudit.auditing.first_difference import NO_TIME, explained_result
from pdpaudit.auditing.pipeline import audit
from pdpaudit.core.network import NeighborPair, Network, adjacency_from_networkx
from pdpaudit.core.privacy_loss import exact_loss
from pdpaudit.core.protocols import CodedOutputs
from pdpaudit.core.subject import Subject
from pdpaudit.outputs import events, flatten, simplest
from pdpaudit.results.pairs import NetworkPair, rewiring_words


def people(*, found: bool = False) -> Network:
    """Return three targets in a row and two others, tied by protected people."""
    graph = nx.Graph([("a", "b"), ("b", "c"), ("c", "p"), ("p", "d"), ("d", "q"), ("q", "e")])
    adjacency, names = adjacency_from_networkx(graph)
    targeted = np.array([str(name) in ("abc" if found else "abcde") for name in names])
    return Network(adjacency, targeted, (0,), tuple(map(str, names)))


def listed(network: Network, targets: str) -> Network:
    """Return the network with these people targeted."""
    names = network.names or ()
    return replace(network, targeted=np.array([name in targets for name in names]))


SEARCHES = [PTarget(sop=CN()), PTargetMainText(sop=CN(), components=3)]


@pytest.mark.parametrize("search", SEARCHES, ids=["PTarget", "main text"])
def test_outputs_kept_as_codes_are_the_outputs(
    search: PTarget | PTargetMainText, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = people()
    vertex = (network.names or ()).index("p")
    pair = NeighborPair(network, vertex, network.neighbours(vertex), np.array([], dtype=np.int64))
    written = [search.law(side.instance()) for side in (pair.left, pair.right)]
    monkeypatch.setattr(network_laws, "MOST_WRITTEN", 0)
    coded = [search.law(side.instance()) for side in (pair.left, pair.right)]
    for one, other in zip(written, coded, strict=True):
        assert isinstance(other.probabilities, CodedOutputs)
        assert dict(other.probabilities) == dict(one.probabilities)
        assert dict(other.probabilities.items()) == dict(one.probabilities)
    assert exact_loss(coded[0], coded[1]) == exact_loss(written[0], written[1])
    # Other targets, other lists: the same path means something else.
    fewer = listed(network, "abce")
    apart = search.law(fewer.instance())
    mixed = exact_loss(coded[0], apart)
    assert mixed == exact_loss(written[0], replace(apart, probabilities=dict(apart.probabilities)))


class Short(PTarget):
    """A search whose law cannot be had where somebody is isolated."""

    def law(self, instance):
        """Need more memory than there is."""
        if (np.diff(instance.adjacency.indptr) == 0).any():
            raise MemoryError
        return super().law(instance)


def test_a_law_that_runs_out_of_memory_costs_its_pair() -> None:
    network = people()
    result = audit(Short(sop=CN()), [network], Config(1), subject="Short")
    assert [one.method for one in result.claims] == ["exact law"] * 2
    assert result.tried.pairs > 0
    assert any("left out" in words and "memory" in words for words in result.remarks)


def test_nothing_left_to_find_is_inconclusive() -> None:
    for search in SEARCHES:
        result = audit(search, [people(found=True)], Config(1), subject="x")
        assert {one.status for one in result.claims} == {"inconclusive"}
        assert "nothing left to find" in result.claims[0].method
    some = audit(PTarget(sop=CN()), [people()], Config(1), subject="x")
    assert "inconclusive" not in {one.status for one in some.claims}


def test_words_say_which_contacts_are_those_of_the_file() -> None:
    network = people()
    vertex = (network.names or ()).index("p")
    own, none = network.neighbours(vertex), np.array([], dtype=np.int64)
    a = np.array([0], dtype=np.int64)
    assert "file" not in rewiring_words(NeighborPair(network, vertex, own, none), "right")
    filed = replace(network, stream_key="0")
    for pair, side, words in (
        (NeighborPair(filed, vertex, own, none), "right", "{c, d} (as in the file) to "),
        (NeighborPair(filed, vertex, own, none), "left", "to {c, d} (as in the file)"),
        (NeighborPair(filed, vertex, a, none), "right", "{nobody} (neither as in the file)"),
    ):
        assert words in rewiring_words(pair, side)  # type: ignore[arg-type]


@pytest.mark.parametrize("search", SEARCHES, ids=["PTarget", "main text"])
def test_an_audit_finds_the_same_where_outputs_are_codes(
    search: PTarget | PTargetMainText, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> object:
        result = audit(search, [people()], Config(1), subject="x")
        return [one.to_json() for one in result.claims], result.context

    written = found()
    monkeypatch.setattr(network_laws, "MOST_WRITTEN", 0)
    assert found() == written


def test_an_event_is_described_by_what_follows_the_entries_that_all_outputs_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[int] = []

    def counted(output: object) -> object:
        looked_at.append(len(output) if isinstance(output, tuple) else 1)
        return flatten(output)

    shared = tuple(range(10_000))
    outputs = [(*shared, -i, 5) for i in range(1, 50)]
    inside = frozenset(outputs[:2])
    expected = simplest(outputs, inside, "left")
    monkeypatch.setattr(events, "flatten", counted)
    assert simplest(outputs, inside, "left", len(shared)) == expected
    assert expected.prefix == len(shared)
    assert max(looked_at) == 2


@pytest.mark.parametrize(
    "outputs",
    [[(1, 2), (1, 3), (1, 4, 5)], [(1,), (1, 2)], [(1,)], [(1, 2, 7), (1, 3, 7), (1, 2, 8)]],
)
def test_a_description_does_not_depend_on_what_is_known_to_be_shared(
    outputs: list[tuple[int, ...]],
) -> None:
    for inside in (outputs[:1], outputs[1:], outputs):
        for side in ("left", "right"):
            one = simplest(outputs, frozenset(inside), side, shared=1)
            assert one == simplest(outputs, frozenset(inside), side)


def test_after_the_time_limit_nothing_more_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is a pair built again, nor its runs followed line by line."""
    search = PTargetMainText(sop=CN())
    late = Config(1, explain=True, time_limit=60.0)
    known = audit(search, [people()], late, subject="x")
    assert known.claims[0].status == "violated"
    assert known.claims[0].first_difference is not None

    def never(*_: object) -> object:
        raise AssertionError("run after the time limit")

    monkeypatch.setattr(PTargetMainText, "run", never)
    monkeypatch.setattr(NetworkPair, "build", never)
    bare = replace(known, claims=tuple(replace(one, first_difference=None) for one in known.claims))
    after = explained_result(bare, Subject.of(search), [people()], until=0.0)
    assert after.claims == bare.claims
    assert NO_TIME in after.remarks


def test_the_choice_of_an_event_ends_with_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def choose(*_: object, **__: object) -> object:
        while True:  # as for lists of thousands of people
            sum(range(1000))

    monkeypatch.setattr(event_selection, "the_one", lambda _: (None, "another"))
    monkeypatch.setattr(event_selection, "loaded", lambda _: choose)
    config = Config(1, samples=100, time_limit=3.0)
    result = audit(PTarget(sop=CN()), [people()], config, subject="x")
    assert {one.status for one in result.claims} == {"inconclusive"}
    assert "the time limit ended the search" in result.remarks
    assert "events are chosen by another" in result.remarks
