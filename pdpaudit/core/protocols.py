"""The protocols a statistic, a mechanism and an attack follow; no subclassing required.

Everything else in the harness is written against these names; this module imports only the claim
and the class of many outputs.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Hashable,
    ItemsView,
    Iterator,
    Mapping,
    Sequence,
    ValuesView,
)
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.core.claim import PrivacyClaim as PrivacyClaim
from pdpaudit.outputs.draws import Outputs as Outputs

if TYPE_CHECKING:
    import networkx as nx


@runtime_checkable
class StatisticOfProximity(Protocol):
    """How close a vertex is to a set of targeted vertices (Kearns et al., section 3).

    A statistic is a pure function of its arguments, finite and real for every vertex of every
    graph, ``targets`` empty included. What it declares is a promise about all neighbouring
    networks with at most the public maximum degree. Values are compared as doubles, which is how
    searches use them, and every difference counts. A statistic that rounds may state by how much
    in ``error``, a number or a function of the maximum degree: how far a value, on either path,
    may lie from the exact one.
    """

    def __call__(self, graph: nx.Graph, vertex: int, targets: frozenset[int]) -> float:
        """Return the statistic of ``vertex`` with respect to ``targets``."""

    def sensitivity(self, max_degree: int) -> float:
        """Return the declared targeted sensitivity Δ for the public degree bound."""

    def impact_cardinality(self, max_degree: int) -> int:
        """Return the declared impact cardinality IC for the public degree bound."""


@runtime_checkable
class FastStatistic(StatisticOfProximity, Protocol):
    """A statistic that also scores all vertices at once on a sparse matrix."""

    def scores(
        self, adjacency: csr_array, targets: npt.NDArray[np.integer]
    ) -> npt.NDArray[np.float64]:
        """Return the statistic of every vertex, shape ``(n,)``."""


class Oracle(Protocol):
    """The identity oracle, which says whether a vertex is targeted.

    It answers a repeated question from memory: only a vertex asked about for the first time is
    paid for, counted and logged.
    """

    def __call__(self, vertex: int) -> bool:
        """Return whether ``vertex`` is targeted."""

    @property
    def count(self) -> int:
        """Number of vertices paid for."""

    @property
    def log(self) -> Sequence[int]:
        """The vertices paid for, in order; seeds are public and not among them."""

    def examined(self, vertex: int) -> bool:
        """Return whether the status of ``vertex`` is known already, for free."""


class Instance(Protocol):
    """What a graph-search mechanism sees: the network and an oracle, never the partition."""

    @property
    def graph(self) -> nx.Graph:
        """The network, vertices ``0..n-1``; not to be modified."""

    @property
    def adjacency(self) -> csr_array:
        """The same network as a symmetric 0/1 matrix with sorted indices, shape ``(n, n)``."""

    @property
    def oracle(self) -> Oracle:
        """The identity oracle."""

    @property
    def seeds(self) -> tuple[int, ...]:
        """The public targeted vertices the search starts from."""

    @property
    def max_degree(self) -> int | None:
        """The public bound on every degree; None where only ``n - 1`` is promised."""


class Mechanism(Protocol):
    """A randomised algorithm under audit.

    A search's ``instance`` is an :class:`Instance` and its output the tuple of targeted vertices
    found, in order. Other mechanisms may take any instance and return any hashable output.
    """

    @property
    def claim(self) -> PrivacyClaim:
        """The promise to be tested."""

    def run(self, instance: Any, rng: np.random.Generator) -> Hashable:
        """Return one output; all randomness comes from ``rng``."""


@dataclass(frozen=True)
class Law:
    """The exact output law of a mechanism on one instance.

    Attributes
    ----------
    probabilities : mapping of hashable to float
        Probability of each output; :class:`CodedOutputs` where they are long lists.
    missing : float
        Upper bound on the mass of outputs left out, and on the error of the sum.
    error : float
        Largest relative error a probability may have, beyond rounding.
    work : float
        Seconds it took to compute, about, counted in operations, so that it is the same on every
        machine; only of interest where it is more than a fraction of one.

    Examples
    --------
    >>> Law({(0, 1): 0.25, (0,): 0.75}).probabilities[(0,)]
    0.75
    """

    probabilities: Mapping[Hashable, float]
    missing: float = field(default=0.0)
    error: float = field(default=0.0)
    work: float = field(default=0.0)


class CodedOutputs(Mapping[Hashable, float]):
    """Probabilities of outputs that are kept as short codes, and written out when looked at.

    The list of people that a search found may be as long as the network, and a law has thousands.

    Parameters
    ----------
    chances : mapping of hashable to float
        Probability of each code.
    coding : hashable
        What two laws share whose equal codes are equal outputs, and whose other codes are not.
    write : callable
        Returns the output of a code.
    shared : int
        How many entries at the beginning all outputs are known to share, where they are tuples.

    Examples
    --------
    >>> coded = CodedOutputs({2: 0.25, 3: 0.75}, "counts", lambda code: tuple(range(code)))
    >>> coded[(0, 1)], list(coded.values())
    (0.25, [0.25, 0.75])
    """

    def __init__(
        self,
        chances: Mapping[Hashable, float],
        coding: Hashable,
        write: Callable[[Hashable], Hashable],
        shared: int = 0,
    ) -> None:
        self.chances, self.coding, self.write, self.shared = chances, coding, write, shared

    def __iter__(self) -> Iterator[Hashable]:
        """Write the outputs one after another, so that they are not all held."""
        return map(self.write, self.chances)

    def __len__(self) -> int:
        """Return the number of outputs."""
        return len(self.chances)

    def __getitem__(self, output: Hashable) -> float:
        """Return the probability of an output; O(length of all outputs)."""
        for code, chance in self.chances.items():
            if self.write(code) == output:
                return chance
        raise KeyError(output)

    def items(self) -> ItemsView[Hashable, float]:
        """Return outputs and probabilities, each output written when its turn comes."""
        return _CodedItems(self)

    def values(self) -> ValuesView[float]:
        """Return the probabilities; no output is written."""
        return self.chances.values()


class _CodedItems(ItemsView[Hashable, float]):
    def __init__(self, coded: CodedOutputs) -> None:
        super().__init__(coded)
        self._coded = coded

    def __iter__(self) -> Iterator[tuple[Hashable, float]]:
        return zip(self._coded, self._coded.values(), strict=True)


class LawUnavailable(ValueError):
    """No exact law is known, or none can be computed, for this mechanism on this instance."""


@runtime_checkable
class LawfulMechanism(Protocol):
    """A mechanism whose output law can be computed."""

    def law(self, instance: Any) -> Law:
        """Return the exact output law, or raise :class:`LawUnavailable`.

        An audit compares it with some runs, and uses no law that they contradict.
        """


@dataclass(frozen=True)
class ProvedBound:
    """What a mechanism keeps whatever the networks, by a proof on paper.

    Attributes
    ----------
    epsilon : float
        No pair loses more, in nats.
    words : str
        For what configuration, and why.

    Examples
    --------
    >>> ProvedBound(2.0, "the noise of one winner raised by twice the sensitivity").epsilon
    2.0
    """

    epsilon: float
    words: str


@dataclass(frozen=True)
class LargestLoss:
    """The largest loss a search over what a mechanism may meet has come upon: no bound, a witness.

    Attributes
    ----------
    epsilon : float
        What some pair loses, in nats.
    words : str
        What was searched.

    Examples
    --------
    >>> LargestLoss(2.094, "over all scores of 8 targets").epsilon
    2.094
    """

    epsilon: float
    words: str


class OptionalParts(Protocol):
    """What a mechanism may have beside ``claim``, ``run`` and ``law``; a Subject asks for each."""

    def sample(self, instance: Any, size: int, rng: np.random.Generator) -> Sequence[Hashable]:
        """Return ``size`` independent outputs."""

    def beginning(self) -> LawfulMechanism | None:
        """Return the shorter one, None if there is none.

        On any pair its output has to be one function of this one's on both sides, so that the pair
        loses no more (post-processing): then a pair that loses much there loses as much here.
        """

    def enclose(self, instance: Any, outputs: frozenset[Hashable]) -> tuple[Fraction, Fraction]:
        """Return numbers between which the probability of ``outputs`` lies, for a proof.

        Raises :class:`LawUnavailable` where it cannot.
        """

    def enclose_again(
        self, instance: Any, outputs: frozenset[Hashable]
    ) -> tuple[Fraction, Fraction]:
        """Return such numbers by other code and from the definitions, to check a proof."""

    def proved_bound(self, instance: Instance) -> ProvedBound | None:
        """Return a bound on the loss of every pair this instance is a side of; None if unknown."""

    def largest_loss(self, instance: Instance) -> LargestLoss | None:
        """Return the largest loss found in the configuration of ``instance``; None if unknown."""


#: From a protected vertex and its new neighbours to the vertices whose statistic is another then,
#: the vertex itself always among them, and what it is.
Rewirer = Callable[
    [int, npt.NDArray[np.integer]],
    tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]],
]


@runtime_checkable
class RewiringStatistic(FastStatistic, Protocol):
    """A statistic that says what changes when one vertex is rewired, without scoring everybody."""

    def rewirer(self, adjacency: csr_array, targets: npt.NDArray[np.integer]) -> Rewirer:
        """Return what tells the changes on this graph with these targets."""


@dataclass(frozen=True, eq=False)
class SearchRound:
    """The next round of a search: what it knows, and its law as a function of scores alone.

    Attributes
    ----------
    sop : StatisticOfProximity
        The statistic it ranks by.
    found : ndarray of int
        The targets found so far.
    targets : ndarray of int, shape (m,)
        Those left to find.
    explored : bool
        Whether the protected neighbours of the targets found have been examined already.
    law : callable
        From the targets' scores, shape ``(m,)``, and distinct scores of the unexamined protected
        vertices with their counts, to the logarithms of the probability that each target is the
        one found, and that none is.
    """

    sop: StatisticOfProximity
    found: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]
    explored: bool
    law: Callable[
        [npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]],
        tuple[npt.NDArray[np.float64], float],
    ]


@runtime_checkable
class RoundMechanism(Protocol):
    """A search whose next round can be looked at by itself."""

    def search_round(self, instance: Instance) -> SearchRound:
        """Return the round after what is found from the seeds."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One run of a search as a curve: what was found, and after how many oracle calls.

    Attributes
    ----------
    vertices : ndarray of int, shape (f,)
        The targets found by asking, in order; seeds are known and not among them.
    found : ndarray of int, shape (f,)
        How many calls had been made when each was found, its own included; ascending.
    discoveries : ndarray of int, shape (c,)
        The calls among ``found`` that met a new targeted component.
    calls : int
        Calls made until the search ended, or its budget was spent.
    """

    vertices: npt.NDArray[np.int64]
    found: npt.NDArray[np.int64]
    discoveries: npt.NDArray[np.int64]
    calls: int


@runtime_checkable
class TracingMechanism(Protocol):
    """A search that draws its trajectories without being run call by call, equal in law."""

    def trajectories(
        self, instance: Instance, budget: int, rngs: Sequence[np.random.Generator]
    ) -> list[Trajectory]:
        """Return a run for each generator, cut off after ``budget`` oracle calls."""


@dataclass(frozen=True)
class RoundLoss:
    """What each search round of a search loses: as claimed, and in truth.

    Attributes
    ----------
    claimed : float
        Claimed of each component found beyond the first, in nats.
    true : float
        What is true of it, in nats.
    how : str
        How that is known.
    per_target : bool
        Whether each target found costs that, and not each component.

    Examples
    --------
    >>> RoundLoss(0.05, 0.1, "to keep a winner its noise is raised by 2Δ").true
    0.1
    """

    claimed: float
    true: float
    how: str
    per_target: bool = False


@runtime_checkable
class RoundLossMechanism(Protocol):
    """A search whose loss adds up over the components it finds."""

    def round_loss(self, instance: Instance) -> RoundLoss:
        """Return what each search round loses on this network and its neighbours."""
