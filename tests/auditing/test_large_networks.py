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
from pdpaudit.auditing.claim_results import pair_words
from pdpaudit.auditing.config import Config
from pdpaudit.auditing.pipeline import audit
from pdpaudit.core.neighbors import NeighborPair
from pdpaudit.core.network import Network, adjacency_from_networkx
from pdpaudit.core.privacy_loss import exact_loss
from pdpaudit.core.protocols import CodedOutputs


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
    assert result.context["tried"]["pairs"] > 0
    assert any("left out" in words and "memory" in words for words in result.context["remarks"])


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
    assert "file" not in pair_words(NeighborPair(network, vertex, own, none), "right")
    filed = replace(network, stream_key="0")
    for pair, side, words in (
        (NeighborPair(filed, vertex, own, none), "right", "{c, d} (as in the file) to "),
        (NeighborPair(filed, vertex, own, none), "left", "to {c, d} (as in the file)"),
        (NeighborPair(filed, vertex, a, none), "right", "{nobody} (neither as in the file)"),
    ):
        assert words in pair_words(pair, side)  # type: ignore[arg-type]
