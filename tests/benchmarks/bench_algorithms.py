"""How fast the searches run and are sampled, beside plain loops over networkx.

Run with ``python -m pytest tests/benchmarks/bench_algorithms.py -s``.
"""

from __future__ import annotations

import time
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from pdpaudit.algorithms.samplers.partition import component_labels
from pdpaudit.algorithms.searches.noisy_max import PTargetMainText, PTargetRepaired
from pdpaudit.algorithms.searches.search_com import PTarget, SearchCom
from pdpaudit.algorithms.statistics import CN
from pdpaudit.core.network import Network, adjacency_from_edges, default_seeds, targeted_components
from pdpaudit.experiments.generated_networks import infect

pytestmark = pytest.mark.benchmark

SIZE = 65_536


def say(text: str) -> None:
    print(f"\n{text}", end="")  # noqa: T201 - a benchmark speaks


def median_of(times: int, call) -> float:
    """Return the median processor time of several calls, in seconds.

    All that is measured here runs in one thread, so on an idle machine this is the time it takes.
    """
    spent = []
    for _ in range(times):
        start = time.process_time()
        call()
        spent.append(time.process_time() - start)
    return float(np.median(spent))


def random_network(n: int, degree: float, targets: int, seed: int) -> Network:
    """A sparse random graph with ``targets`` targeted vertices, found by index."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (2, int(n * degree / 2)))
    targeted = np.zeros(n, dtype=np.bool_)
    targeted[rng.choice(n, targets, replace=False)] = True
    adjacency = adjacency_from_edges(n, ends[0], ends[1])
    return Network(adjacency, targeted, default_seeds(adjacency, targeted))


def planted(adjacency, seed: int) -> Network:
    """Plant a targeted population by infection, from the vertex with most neighbours."""
    source = int(np.argmax(np.diff(adjacency.indptr)))
    targeted = infect(adjacency, source, 0.25, 0.6, 4, np.random.default_rng(seed))
    return Network(adjacency, targeted, default_seeds(adjacency, targeted))


def plain_search_com(graph, seed, targeted, epsilon, delta_f, ic_f, limit, rng):
    """One SearchCom outcome as a plain networkx loop would have it."""
    noisy_limit = limit + rng.laplace(0, 2 * ic_f / epsilon)
    near = set(graph[seed])
    noisy = {
        v: len(near.intersection(graph[v])) + rng.laplace(0, 4 * delta_f / epsilon)
        for v in graph
        if v != seed
    }
    for count, v in enumerate(sorted(noisy, key=noisy.get, reverse=True)):
        if count > noisy_limit:
            break
        if targeted[v]:
            return (v,)
    return ()


@pytest.fixture(scope="module")
def coauthors(shared_data):
    edges = pd.read_csv(shared_data / "acl_coauthors" / "edges.csv.gz")
    code, _ = pd.factorize(pd.concat([edges["source"], edges["target"]]))
    ends = code.reshape(2, -1)
    return adjacency_from_edges(int(code.max()) + 1, ends[0], ends[1])


def test_one_run_on_the_coauthors(coauthors, figure) -> None:
    network = planted(coauthors, seed=1)
    mechanism = PTarget(sop=CN(), components=10, max_degree=1000)
    rng = np.random.default_rng(2)
    asked, found = [], []

    def run() -> None:
        instance = network.instance()
        found.append(len(mechanism.run(instance, rng)))
        asked.append(instance.oracle.count)

    spent = median_of(9, run)
    components = len(targeted_components(network.adjacency, network.targeted))
    # One round's scores by networkx, for as many rounds: less than all a plain loop has to do.
    graph = nx.from_scipy_sparse_array(coauthors)
    known = frozenset(np.flatnonzero(network.targeted)[:500].tolist())
    sop = CN()
    few = np.random.default_rng(3).choice(network.n, 2000, replace=False).tolist()
    loop = median_of(1, lambda: [sop(graph, v, known) for v in few]) * network.n / len(few) * 9
    say(
        f"PTarget, 10 components, {network.n} vertices, {network.edges} edges, "
        f"{int(network.targeted.sum())} targets in {components} components: {spent:.3f} s a run, "
        f"{np.median(found):.0f} found for {np.median(asked):.0f} queries; the scores alone by "
        f"networkx {loop:.1f} s, {loop / spent:.0f} times as long"
    )
    figure("one run of PTarget, 10 components, co-authors", spent, "s", baseline=loop, limit=0.5)
    assert spent <= 0.5


def test_search_com_against_a_plain_loop(figure) -> None:
    network = random_network(2000, 10.0, 40, seed=4)
    mechanism = SearchCom(sop=CN(), max_degree=30)
    instance, rng = network.instance(), np.random.default_rng(5)
    mechanism.sample(instance, 100, rng)
    graph = nx.Graph(instance.graph)
    targeted, seed = network.targeted.tolist(), network.seeds[0]

    def plain() -> None:
        plain_search_com(graph, seed, targeted, 1.0, 1.0, 61, 1000, rng)

    ratios = []
    for _ in range(5):
        each = median_of(5, lambda: mechanism.sample(instance, SIZE, rng)) / SIZE
        ratios.append(median_of(15, plain) / each)
    ratio = float(np.median(ratios))
    say(f"SearchCom on 2000 vertices: {each * 1e9:.0f} ns an outcome, plain loop {ratio:.0f} times")
    figure("SearchCom, 2,000 vertices: times as fast as a loop", ratio, "", least=10_000)
    assert ratio >= 10_000


@pytest.mark.parametrize(
    ("mechanism", "share"), [(SearchCom, 0.02), (PTarget, None)], ids=["SearchCom", "PTarget"]
)
def test_outcomes_do_not_cost_more_on_a_larger_network(mechanism, share, figure) -> None:
    # PTarget's outputs are lists, one for each target that may be found first, and cost what it
    # costs to look so many lists up: the same number of targets for both.
    rates: dict[Any, Any] = {}
    pair = {
        n: random_network(n, 10.0, int(share * n) if share else 20, seed=6).instance()
        for n in (1_000, 1_000_000)
    }
    search, rng = mechanism(sop=CN(), max_degree=100), np.random.default_rng(7)
    for instance in pair.values():
        search.sample(instance, 100, rng)
    for _ in range(7):
        for n, instance in pair.items():
            spent = median_of(3, lambda i=instance: search.sample(i, SIZE, rng))
            rates.setdefault(n, []).append(SIZE / spent)
    small, large = (float(np.median(rates[n])) for n in pair)
    say(
        f"{mechanism.__name__}: {small / 1e6:.2f} million outcomes a second on 10^3 vertices, "
        f"{large / 1e6:.2f} on 10^6: ratio {large / small:.2f}"
    )
    name = f"{mechanism.__name__}: rate at n = 10^6 over that at 10^3"
    figure(name, large / small, "", least=0.7)
    assert large >= 0.7 * small


def test_outcomes_against_the_random_numbers_they_need(figure) -> None:
    # One level of targets and one of protected vertices: an exponential and a uniform number for
    # the winner, a Laplace one for the limit, a binomial one for the count.
    n, m = 2000, 8
    ends = np.array([(0, m + 1), *((t, m + 1) for t in range(1, m + 1))]).T
    targeted = np.arange(n) <= m
    network = Network(adjacency_from_edges(n, ends[0], ends[1]), targeted, (0,))
    search, rng = PTarget(sop=CN(), max_degree=m + 1), np.random.default_rng(8)
    instance = network.instance()
    search.sample(instance, 100, rng)
    above = rng.random(SIZE) / 2

    def numbers() -> None:
        rng.standard_exponential(SIZE)
        rng.random(SIZE)
        rng.laplace(size=SIZE)
        rng.binomial(n, above)

    ratios = []
    for _ in range(7):
        spent = median_of(5, lambda: search.sample(instance, SIZE, rng))
        ratios.append(spent / median_of(5, numbers))
    say(
        f"PTarget, one round: {spent / SIZE * 1e9:.0f} ns an outcome, "
        f"{np.median(ratios):.2f} times the random numbers it needs"
    )
    ratio = float(np.median(ratios))
    figure("an outcome over the random numbers it needs", ratio, "", limit=3)
    assert ratio <= 3


def test_no_quadratic_step_hides(figure) -> None:
    def slope(sizes, spent) -> float:
        return float(np.polyfit(np.log(sizes), np.log(spent), 1)[0])

    rng = np.random.default_rng(9)
    sizes = [20_000, 60_000, 180_000, 540_000]
    once = PTarget(sop=CN(), components=5, max_degree=100)
    spent = []
    for n in sizes:
        network = random_network(n, 10.0, n // 5, seed=10)
        spent.append(median_of(3, lambda w=network: once.run(w.instance(), rng)))
    by_n = slope(sizes, spent)

    instance = random_network(300, 3.0, 30, seed=11).instance()
    counts = [20_000, 80_000, 320_000]
    three = PTarget(sop=CN(), components=3, max_degree=10)
    three.sample(instance, 300_000, rng)
    by_samples = slope(
        counts, [median_of(3, lambda s=s: three.sample(instance, s, rng)) for s in counts]
    )

    network = random_network(20_000, 10.0, 4_000, seed=12)
    rounds = [8, 16, 32, 64]
    many = [PTarget(sop=CN(), components=k + 1, max_degree=100) for k in rounds]
    by_rounds = slope(
        rounds, [median_of(3, lambda s=s: s.run(network.instance(), rng)) for s in many]
    )
    say(
        f"cost of a run grows as n^{by_n:.2f} and rounds^{by_rounds:.2f}, of samples as "
        f"size^{by_samples:.2f}"
    )
    figure("slope of a run against n, random graph", by_n, "", limit=1.4)
    figure("slope of a run against rounds, random graph", by_rounds, "", limit=1.2)
    figure("slope of three rounds against samples", by_samples, "", limit=1.2)
    assert by_n < 1.4
    assert by_rounds < 1.2
    assert by_samples < 1.2


# What a sampler of rounds costs is a state for each history met. Where few histories are possible
# they multiply from round to round until every outcome has its own, and the cost with them; so
# here every outcome has its own from the start, and no search ends early. The appendix's search
# keeps count of classes of protected vertices, which split as rounds go by: so it may cost more.
@pytest.mark.parametrize(
    ("search", "more", "limit"),
    [
        (PTargetMainText, {}, 1.3),
        (PTargetRepaired, {"threshold": -1e6}, 1.3),
        (PTarget, {"stop": 20_000}, 1.4),
    ],
    ids=["main text", "repaired", "appendix"],
)
def test_no_quadratic_step_hides_in_the_rounds_of_a_sampler(
    request, search, more, limit, figure
) -> None:
    network, size = random_network(20_000, 10.0, 2_000, seed=12), 16
    labels = component_labels(network.instance())
    rounds, spent = [4, 8, 16, 32, 64], []
    search(sop=CN(), components=5, max_degree=100, **more).sample(
        network.instance(), size, np.random.default_rng(14)
    )
    for k in rounds:
        mechanism = search(sop=CN(), components=k + 1, max_degree=100, **more)
        # A new instance each time: what is kept of the one before would cost nothing.
        instances = [network.instance() for _ in range(3)]
        for instance in instances:
            component_labels(instance)
        left = iter(instances)
        rng = np.random.default_rng(13)
        drawn: list[Any] = []
        spent.append(
            median_of(
                len(instances),
                lambda m=mechanism, i=left, d=drawn, r=rng: d.append(m.sample(next(i), size, r)),
            )
        )
        for outputs in drawn:
            assert len({frozenset(labels[list(found)]) for found in outputs.distinct}) == size
            assert all(len(set(labels[list(found)])) == k + 1 for found in outputs.distinct)
    slope = float(np.polyfit(np.log(rounds), np.log(spent), 1)[0])
    name = request.node.callspec.id
    say(
        f"{name}: {size} outcomes of 4 to 64 rounds in {', '.join(f'{s:.2f}' for s in spent)} s, "
        f"cost grows as rounds^{slope:.2f}"
    )
    figure(f"slope of a sampler against rounds, {name}", slope, "", limit=limit)
    assert slope < limit
