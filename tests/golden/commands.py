"""The command lines of the golden master, and the files they read, as a user would have them."""

from __future__ import annotations

import random

#: Searches and statistics of a user's own. Once the package's face has the names, it is asked.
MINE = '''\
try:
    from pdpaudit import PrivacyClaim, statistic
except ImportError:
    from pdpaudit.core.protocols import PrivacyClaim
    from pdpaudit.core.statistic import statistic


@statistic(sensitivity=0, impact_cardinality=lambda d: 2 * d + 1)
def closeness(graph, vertex, targets):
    """Declare a sensitivity that is too small."""
    around = {other for target in targets for other in graph[target]}
    return len(around & set(graph[vertex]))


@statistic(sensitivity=1, impact_cardinality=lambda d: 1)
def friends(graph, vertex, targets):
    """Declare an impact cardinality that is too small."""
    return min(1, len(targets & set(graph[vertex])))


@statistic(sensitivity=0, impact_cardinality=lambda d: 0)
def nothing(graph, vertex, targets):
    """Look at no edge."""
    return 0.0


@statistic(sensitivity=1, impact_cardinality=lambda d: d)
def raising(graph, vertex, targets):
    """Fail on whoever has two contacts."""
    if len(graph[vertex]) > 1:
        raise ValueError("too many contacts")
    return 0.0


class Popular:
    """Claim to show nothing, and look at everybody's degree."""

    claim = PrivacyClaim(0.0, source="its author")

    def run(self, instance, rng):
        ranked = sorted(instance.graph, key=instance.graph.degree, reverse=True)
        return tuple(v for v in ranked if instance.oracle(v))


class Careless:
    """Raise an error in every run."""

    claim = PrivacyClaim(1.0)

    def run(self, instance, rng):
        return instance.nothing


class Unclaimed:
    """Claim nothing."""

    def run(self, instance, rng):
        return ()
'''


def edges() -> list[tuple[int, int]]:
    """Return a small network of 24 people: a cycle with 24 chords, no degree above 7."""
    rng = random.Random(5)
    drawn = {(v, (v + 1) % 24) for v in range(24)}
    degree = dict.fromkeys(range(24), 2)
    while len(drawn) < 48:
        a, b = rng.sample(range(24), 2)
        if max(degree[a], degree[b]) < 7 and not {(a, b), (b, a)} & drawn:
            drawn.add((a, b))
            degree[a] += 1
            degree[b] += 1
    return sorted(drawn)


def many_edges() -> list[tuple[int, int]]:
    """Return a network of 400 people that is too large to be written into a result."""
    rng = random.Random(6)
    ring = [(v, (v + step) % 400) for v in range(400) for step in (1, 2, 3)]
    return ring + [(v, rng.randrange(v + 4, 390)) for v in range(0, 380, 19)]


def csv(header: str, rows: list[tuple[object, ...]]) -> str:
    """Return a table as text."""
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


#: What stands in each scenario's folder, by name.
FILES = {
    "mine.py": MINE,
    "edges.csv": csv("from,to", [(f"p{a}", f"p{b}") for a, b in edges()]),
    "nodes.csv": csv(
        "name,label",
        [(f"p{v}", "target" if v in (0, 1, 2, 3, 12, 13) else "other") for v in range(24)],
    ),
    "large.csv": csv("from,to", [(f"p{a}", f"p{b}") for a, b in many_edges()]),
    "large_nodes.csv": csv(
        "name,label", [(f"p{v}", "target" if v % 100 < 6 else "other") for v in range(400)]
    ),
    "weighted.tsv": "# ties\n" + "".join(f"{a}\t{b}\t{1 + (a + b) % 3}\n" for a, b in edges()),
    "ragged.csv": "from,to\na,b\nc\n",
    "no_result.json": '{"format": "something else"}\n',
}

OWN = "--edges edges.csv --nodes nodes.csv"
LARGE = "--edges large.csv --nodes large_nodes.csv"
KEPT = "--json result.json"
REPLAY = "pdpaudit replay result.json"
SMALL = "--max-vertices 4 --labelled-vertices 3 --examples 60 --time-limit 600"

#: Command lines that follow each other in one folder, by the name of what they record.
SCENARIOS: dict[str, tuple[str, ...]] = {
    # by law
    "sfs": (
        f"pdpaudit audit SFS --seed 1 {KEPT}",
        REPLAY,
    ),
    "search-com": (f"pdpaudit audit SearchCom --seed 1 --try 20 {KEPT}",),
    "ptarget": (f"pdpaudit audit PTarget --seed 1 --try 8 {KEPT}",),
    "ptarget-delta": (f"pdpaudit audit PTarget {OWN} --delta 1e-6 --components 3 --seed 2 {KEPT}",),
    "main-text": (
        f"pdpaudit audit PTarget:main-text --seed 1 {KEPT}",
        REPLAY,
        "pdpaudit report result.json -o report.md",
        "pdpaudit report result.json -o report.html",
    ),
    "repaired": (f"pdpaudit audit PTarget:repaired {OWN} --noise gumbel --seed 1 {KEPT}",),
    "target": (f"pdpaudit audit Target --seed 1 --samples 500 {KEPT}",),
    "other-statistic": (f"pdpaudit audit PTarget {OWN} --sop Triangle --seed 3 {KEPT}",),
    # with proof, on files
    "proved": (
        f"pdpaudit audit PTarget:main-text {OWN} --prove --seed 1 {KEPT}",
        REPLAY,
    ),
    "named": (
        f"pdpaudit audit SearchCom {OWN} --max-degree 8 --epsilon 0.5 --names --seed 4 {KEPT}",
    ),
    "large": (
        f"pdpaudit audit PTarget:main-text {LARGE} --max-degree 12 --try 8 --seed 1 {KEPT}",
        REPLAY,
    ),
    "exposure": (
        f"pdpaudit audit PTarget:repaired {OWN} --max-degree 8 --exposure --seed 1 {KEPT}",
    ),
    "infect": (
        "pdpaudit audit PTarget --edges weighted.tsv --min-weight 2 --infect 0.6,0.3,4"
        f" --seed 1 {KEPT}",
    ),
    # by samples
    "laplace": (
        f"pdpaudit audit zoo:Laplace --samples 2000 --seed 1 {KEPT}",
        "pdpaudit report result.json -o report.html",
    ),
    "svt5": (
        f"pdpaudit audit zoo:SVT5 --samples 2000 --method clopper-pearson --seed 1 {KEPT}",
        REPLAY,
    ),
    "svt3": (f"pdpaudit audit zoo:SVT3 --samples 2000 --method betting --seed 1 {KEPT}",),
    "noisy-max": (
        f"pdpaudit audit zoo:ReportNoisyMax3 --samples 2000 --method betting --seed 2 {KEPT}",
    ),
    "histogram": (f"pdpaudit audit zoo:NoisyHist2 --samples 2000 --seed 1 {KEPT}",),
    "geometric": (
        "pdpaudit audit zoo:TruncatedGeometric --samples 1000 --confidence 0.99"
        f" --method clopper-pearson --seed 1 {KEPT}",
    ),
    "sampled-search": (
        f"pdpaudit audit PTarget:main-text {OWN} --samples 2000 --method betting --seed 1 {KEPT}",
        REPLAY,
    ),
    "inconclusive": (
        f"pdpaudit audit PTarget:repaired {OWN} --samples 60"
        f" --fail-on inconclusive --seed 1 {KEPT}",
    ),
    "popular": (
        f"pdpaudit audit mine.py:Popular --samples 1000 --try 20 --seed 1 {KEPT}",
        REPLAY,
        f"{REPLAY} --trust",
        "pdpaudit report result.json -o report.md",
    ),
    "workers": (f"pdpaudit audit zoo:SVT1 --samples 2000 --seed 1 --jobs 2 --store s.db {KEPT}",),
    # sequential
    "sequential": (
        f"pdpaudit audit zoo:SVT5 --sequential --samples 4000 --seed 1 {KEPT}",
        REPLAY,
        "pdpaudit report result.json -o report.md",
    ),
    "sequential-sound": (
        f"pdpaudit audit zoo:Laplace --sequential --detect 2 --samples 8000 --seed 1 {KEPT}",
    ),
    # side channels; time is left out, for it is measured and never the same twice
    "queries": (
        f"pdpaudit audit SFS {OWN} --observe queries --samples 500 --seed 1 {KEPT}",
        REPLAY,
    ),
    "examined": (
        f"pdpaudit audit SearchCom {OWN} --observe examined --samples 500 --seed 1 {KEPT}",
    ),
    "truncated": (
        f"pdpaudit audit PTarget --observe truncated --try 20 --samples 500 --seed 1 {KEPT}",
    ),
    # statistics
    "check-cn": (f"pdpaudit check CN {SMALL} --seed 1 {KEPT}",),
    "check-jaccard": (f"pdpaudit check Jaccard {SMALL} --select tightness --seed 1 {KEPT}",),
    "check-broken": (
        f"pdpaudit check mine.py:closeness {SMALL} --seed 1 {KEPT}",
        f"{REPLAY} --trust",
        "pdpaudit report result.json -o report.md",
    ),
    "check-impact": (
        f"pdpaudit check mine.py:friends {SMALL} --skip fast-path"
        f" --expect-failure 'impact-cardinality=known' --seed 1 {KEPT}",
    ),
    "check-nothing": (f"pdpaudit check mine.py:nothing {SMALL} --seed 1 {KEPT}",),
    "check-raising": (f"pdpaudit check mine.py:raising {SMALL} --seed 1 {KEPT}",),
    "check-on-network": (
        f"pdpaudit check Triangle {OWN} --max-degree 8 --select own-network --time-limit 600"
        f" --seed 1 {KEPT}",
    ),
    "own-statistic": (
        f"pdpaudit audit SFS {OWN} --sop mine.py:closeness --samples 500 --seed 1 {KEPT}",
    ),
    # published claims, experiments
    "claims": ("pdpaudit claims --select C6 --seed 1 --json result.json",),
    "simulate": (
        f"pdpaudit simulate --runs 4 --budget 600 --seed 1 --csv curves.csv {KEPT}",
        "pdpaudit report result.json -o report.md",
    ),
    "simulate-own": (
        f"pdpaudit simulate PTarget:repaired {OWN} --runs 20 --budget 20 --epsilon 0.5"
        f" --seed 1 --csv - {KEPT}",
    ),
    # several results in one report, and what is refused
    "together": (
        "pdpaudit audit zoo:SVT4 --samples 500 --seed 1 --json a.json",
        f"pdpaudit check CN {SMALL} --select finite --seed 1 --json b.json",
        "pdpaudit report a.json b.json -o report.md",
    ),
    "list": ("pdpaudit list",),
    "refused": (
        "pdpaudit audit NoSuchSearch --seed 1",
        "pdpaudit audit SFS --edges missing.csv --seed 1",
        "pdpaudit audit SFS --edges ragged.csv --nodes nodes.csv --seed 1",
        f"pdpaudit audit SFS {OWN} --max-degree 2 --seed 1",
        "pdpaudit audit zoo:Laplace --samples 0 --seed 1",
        "pdpaudit audit zoo:Laplace --method guess --seed 1",
        "pdpaudit audit zoo:Laplace --detect 1 --seed 1",
        "pdpaudit audit mine.py:Unclaimed --seed 1",
        "pdpaudit audit mine.py:Careless --samples 100 --seed 1",
        "pdpaudit check mine.py:absent --seed 1",
        "pdpaudit check CN --max-vertices 9 --seed 1",
        "pdpaudit replay no_result.json",
    ),
}
