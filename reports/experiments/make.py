"""The paper's experiments again: regimes, curves, tables and figures of this folder.

``python reports/experiments/make.py --part small`` takes a minute and needs no data;
``--part real`` reads the networks of ``--data``, ``--part large`` makes up networks of the paper's
sizes. Each makes its own files again, byte for byte, and the page of all of them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.core.errors import InputError
from pdpaudit.core.network import Network, targeted_components
from pdpaudit.core.registry import make_mechanism
from pdpaudit.experiments.generated_networks import (
    DBLP,
    IMDB,
    SEED,
    Infection,
    affiliation_network,
    embedded_network,
    plant,
    regime_of,
)
from pdpaudit.experiments.simulation import Contestant, curves_csv, simulate
from pdpaudit.io import read_network
from pdpaudit.outputs.records import JSON
from pdpaudit.report.figures import write_comparison, write_figures
from pdpaudit.results.files import write_text
from pdpaudit.sampling import stream

FOLDER = Path(__file__).parent
RECORDS = FOLDER / "regimes.json"

#: Which networks belong to which part of the experiments.
PARTS = {
    "small": ("embedded",),
    "real": ("movie_costars", "acl_coauthors"),
    "large": ("imdb_size", "dblp_size"),
}

#: Made up by the affiliation model, as many people and ties as the paper's.
MADE_UP = {"imdb_size": ("IMDB", IMDB), "dblp_size": ("DBLP", DBLP)}

RUNS = 200
EPSILON = 0.05  # Lap(20) for CN, as in the paper

#: Statistics and noises compared at the same true loss of each search round.
TRUE_EPSILON = 0.1
STATISTICS = (
    "CN",
    "Path_2",
    "Path_3",
    "Triangle",
    "AdamicAdar",
    "ResourceAllocation",
    "CommonNeighboursPerMember",
    "Katz3",
)

#: True losses of a round at which common neighbours are tried.
PRICES = (0.1, 0.3, 1.0, 3.0, 10.0)

#: True losses of a whole run, and among how many components or targets it is shared.
TOTALS, SHARES = (1.0, 5.0, 20.0), (20, 50, 200)

#: Runs of each search for these: a recommendation scores everybody for each target found.
TOTAL_RUNS = 50

#: Where statistics and noises are compared.
COMPARED = ("embedded-several", "movie_costars-several", "movie_costars-fragmented")

Record = Mapping[str, Any]
Body = dict[str, Any]


def main() -> None:
    """Make one part again, and the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=[*PARTS, "all", "page"], default="small")
    parser.add_argument("--data", type=Path, default=FOLDER.parents[2] / "shared" / "data")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where to write")
    parser.add_argument("--jobs", type=int, default=-1)
    asked = parser.parse_args()
    try:
        make(asked.part, asked.data, asked.folder, asked.jobs, print)
    except InputError as error:
        raise SystemExit(f"make.py: {error}") from None


def make(part: str, data: Path, folder: Path, jobs: int, say: Callable[[str], object]) -> None:
    """Make a part of ``PARTS`` again, all of them, or for ``page`` the page alone."""
    results = _kept(folder)
    names = [name for key in PARTS for name in PARTS[key] if part in (key, "all")]
    for record in records():
        if record["network"] in names:
            key = _key(record)
            say(key)
            network = network_of(record, data)
            results["regimes"][key] = simulated_regime(record, network, folder, jobs)
            if key in COMPARED:
                for kind, compared in COMPARISONS.items():
                    results[kind][key] = compared(record, network, folder, jobs)
    text = json.dumps(results, indent=1, sort_keys=True, ensure_ascii=False)
    write_text(folder / "results.json", text + "\n")
    write_text(folder / "README.md", page(results, records()))


def _key(record: Record) -> str:
    return f"{record['network']}-{record['regime']}"


def _kept(folder: Path) -> Body:
    """Return what other parts have made before."""
    path = folder / "results.json"
    if not path.is_file():
        return {"regimes": {}, **{kind: {} for kind in COMPARISONS}}
    kept: Body = json.loads(path.read_text(encoding="utf-8"))
    return kept


def simulated_regime(record: Record, network: Network, folder: Path, jobs: int) -> Body:
    """Simulate the paper's search on one network, and write its curves and figures."""
    name = _key(record)
    simulation = _simulated(
        record,
        network,
        [_contestant("Target", "CN"), _contestant("PTarget:main-text", "CN", epsilon=EPSILON)],
        jobs,
    )
    for place in ("figures", "curves"):
        (folder / place).mkdir(exist_ok=True)
    drawn = {**simulation, "drawing": simulation["drawing"] if "several" in name else None}
    write_figures(drawn, folder / "figures", name, ("svg",))
    write_text(folder / "curves" / f"{name}.csv", curves_csv(simulation))
    return {
        "network": simulation["network"],
        "regime": regime_of(simulation["network"]["components"]),
        "budget": record["budget"],
        "searches": [_summary(search) for search in simulation["searches"]],
    }


def _statistics(record: Record, network: Network, folder: Path, jobs: int) -> list[Body]:
    """Compare statistics in the main text's search at the same true loss of a round."""
    made = [_at_true_loss(sop, record["degree_bound"]) for sop in STATISTICS]
    blind = _contestant("PTarget:main-text", "CN", epsilon=1e-9)
    contestants = [
        _contestant("Target", "CN"),
        Contestant("blind", blind.mechanism, blind.kind),
        *(one for one, _ in made),
    ]
    words = f"statistics, true ε {TRUE_EPSILON:g} a round"
    searches = _compared(record, network, contestants, jobs, (folder, "statistics", words))
    scales = [None, None, *(scale for _, scale in made)]
    return [
        {**search, "noise": scale, "signal": _signal(one, scale, network)}
        for one, search, scale in zip(contestants, searches, scales, strict=True)
    ]


def _signal(one: Contestant, scale: float | None, network: Network) -> float | None:
    """Return the largest score of a target left to find, in units of the noise; None without."""
    if not scale:
        return None
    components = targeted_components(network.adjacency, network.targeted)
    known = next(part for part in components if network.seeds[0] in part)
    scores = one.mechanism.sop.scores(network.adjacency, known)
    left = network.targeted.copy()
    left[known] = False
    return round(float(scores[left].max()) / scale, 6)


def _at_true_loss(sop: str, degree_bound: int) -> tuple[Contestant, float]:
    """Return the main text's search that truly loses ``TRUE_EPSILON``, and its noise's scale.

    The noise follows the exact sensitivity where it is known for every degree: 0 for triangles,
    d - 1 for paths of two edges. Elsewhere it follows what is declared.
    """
    bound = {"epsilon": TRUE_EPSILON / 2, "max_degree": degree_bound}
    made = _contestant("PTarget:main-text", sop, **bound).mechanism
    declared = made.sop.sensitivity(degree_bound)
    exact = {"Triangle": 0.0, "Path_2": degree_bound - 1.0}.get(sop, declared)
    if exact == 0:
        made = _contestant("Target", sop, stop=1 << 30).mechanism
    elif exact != declared:
        # The search divides by ε what it declares too large.
        made = replace(made, epsilon=TRUE_EPSILON / 2 * declared / exact)
    return Contestant(sop, made, "PTarget:main-text"), 2 * exact / TRUE_EPSILON


def _noises(record: Record, network: Network, folder: Path, jobs: int) -> list[Body]:
    """Compare searches and noises for common neighbours at the same true loss of a round."""
    contestants = [
        _contestant("Target", "CN"),
        _contestant("PTarget:main-text", "CN", epsilon=TRUE_EPSILON / 2),
        *(
            _contestant("PTarget:repaired", "CN", epsilon=TRUE_EPSILON, noise=noise, called=noise)
            for noise in ("laplace", "gumbel", "exponential")
        ),
    ]
    words = f"searches, true ε {TRUE_EPSILON:g} a round"
    return _compared(record, network, contestants, jobs, (folder, "noises", words))


def _prices(record: Record, network: Network, folder: Path, jobs: int) -> list[Body]:
    """Ask how much must be lost in a round until common neighbours help at all."""
    contestants = [
        Contestant(
            f"{true:g}", _contestant("PTarget:main-text", "CN", epsilon=true / 2).mechanism, ""
        )
        for true in PRICES
    ]
    drawn = (folder, "prices", "common neighbours")
    return _compared(record, network, contestants, jobs, drawn, "true ε {} a round")


def _totals(record: Record, network: Network, folder: Path, jobs: int) -> list[Body]:
    """Compare recommendations with PTarget at the same true loss of all that a run finds."""
    found = []
    for total in TOTALS:
        contestants = []
        # The component of the seeds costs nothing.
        for kind, unit, free in (
            ("PTarget:repaired", "components", 1),
            ("Recommended", "targets", 0),
        ):
            for many in SHARES:
                options = {"sop": "CN", "epsilon": total / many, unit: many + free}
                made, _ = make_mechanism(kind, options)
                contestants.append(Contestant(f"{kind}, {many} {unit}", made, kind))
        simulation = _simulated(record, network, contestants, jobs, excerpt=False, runs=TOTAL_RUNS)
        found += [{**_summary(one), "total": total} for one in simulation["searches"]]
    return found


#: What is compared where ``COMPARED`` says so, by its entry in ``results.json``.
COMPARISONS = {"statistics": _statistics, "noises": _noises, "prices": _prices, "totals": _totals}


def _contestant(kind: str, sop: str, called: str = "", **options: float | str) -> Contestant:
    made, _ = make_mechanism(kind, {"sop": sop, "components": 1 << 30, **options})
    return Contestant(f"{kind}, {called}" if called else kind, made, kind)


def _simulated(
    record: Record,
    network: Network,
    contestants: Sequence[Contestant],
    jobs: int,
    *,
    excerpt: bool = True,
    runs: int = RUNS,
) -> Body:
    simulation = simulate(
        network,
        contestants,
        budget=record["budget"],
        runs=runs,
        seed=SEED,
        jobs=jobs,
        excerpted=excerpt,
    )
    simulation["network"]["min_weight"] = record["min_weight"]
    population = {key: record[key] for key in ("p", "q", "rounds", "first")}
    return simulation | {
        "population": {"process": "infect", **population},
        "regime": record["regime"],
    }


def _summary(search: Record) -> Body:
    """Return a search at a quarter, half and all of the budget."""
    calls = search["calls"]
    places = [len(calls) // 4, len(calls) // 2, len(calls) - 1]

    def at(spread: Record | None) -> list[list[float]] | None:
        if spread is None:
            return None
        return [[round(spread[key][i], 4) for key in ("mean", "sd")] for i in places]

    paid = search["multiplier"] or {"claimed": None, "true": None}
    below = None
    if paid["claimed"] is not None:
        means = zip(calls, paid["claimed"]["mean"], strict=True)
        below = max(at for at, mean in means if mean < 2.0)
    return {
        "name": search["name"],
        "runs": search["runs"],
        "calls": [calls[i] for i in places],
        "found": at(search),
        "components": at(search["components"]),
        "claimed": at(paid["claimed"]),
        "true": at(paid["true"]),
        "below_2": below,
    }


def _compared(
    record: Record,
    network: Network,
    contestants: Sequence[Contestant],
    jobs: int,
    drawn: tuple[Path, str, str],
    label: str = "{}",
) -> list[Body]:
    """Simulate searches, draw the mean curves of all and Target's if it is in it."""
    simulation = _simulated(record, network, contestants, jobs, excerpt=False)
    folder, kind, words = drawn
    name = _key(record)
    plain = [one for one in simulation["searches"] if one["name"] == "Target"]
    # A search without noise is compared as private where its statistic needs none.
    private = {"private": True, "multiplier": None}
    curves = {
        label.format(one["name"]): {**simulation, "searches": [*plain, {**one, **private}]}
        for one in simulation["searches"]
        if one not in plain
    }
    (folder / "figures").mkdir(exist_ok=True)
    stem, title = f"{name}-{kind}", f"{name}: {words}"
    write_comparison(curves, folder / "figures", stem, ("svg",), title=title)
    return list(map(_summary, simulation["searches"]))


# The networks, and how their targeted populations were planted: recorded in ``regimes.json``


def records() -> list[JSON]:
    """Return what is recorded of every network and regime."""
    read: list[JSON] = json.loads(RECORDS.read_text(encoding="utf-8"))
    return read


def network_of(record: Mapping[str, object], data: Path) -> Network:
    """Return the network of a record, with its population planted anew.

    Raises
    ------
    InputError
        If the data is not there.
    """
    if record["network"] == "embedded":
        return embedded_network(record["regime"])[0]
    infection = Infection(record["first"], record["p"], record["q"], record["rounds"])
    adjacency = _adjacency(record["network"], record["min_weight"], data)
    return plant(adjacency, infection, SEED, record["network"])


@cache
def _adjacency(name: str, min_weight: float | None, data: Path) -> csr_array:
    if name in MADE_UP:
        title, model = MADE_UP[name]
        return affiliation_network(model, stream(SEED, title))
    path = data / name / "edges.csv.gz"
    if not path.is_file():
        raise InputError(f"{path}: no such file; say where the networks are with --data FOLDER")

    def everybody(adjacency: csr_array, _: object) -> npt.NDArray[np.bool_]:
        # Labels are planted later; reading wants some.
        return np.arange(adjacency.shape[0]) == 0

    return read_network(path, min_weight=min_weight, plant=everybody).network.adjacency


# The page: the text of ``page.md.in`` with tables of what was measured


def page(results: Record, records: Sequence[Record]) -> str:
    """Return the page as Markdown; what has not been measured yet is left out."""
    keys = list(map(_key, records))
    compared = [key for key in keys if key in results["statistics"]]
    found = results["regimes"]
    measured = [(r, found[k]) for k, r in zip(keys, records, strict=True) if k in found]
    parts = {
        "regimes": _regimes(records),
        "searches": _searches(measured),
        "curves": "\n".join(_picture(key, "curves") for key in keys if key in results["regimes"]),
        "statistics": "\n\n".join(
            f"### On {key}\n\n{_statistics_table(results['statistics'][key])}\n\n"
            f"{_picture(key, 'statistics')}"
            for key in compared
        ),
    }
    at = ("a quarter of the calls", "half", "all")
    heads = {
        "prices": ("network", "true ε of a round", *at),
        "noises": ("network", "search", *at, "components", "true e^ε"),
    }
    for kind, columns in heads.items():
        rows = [row for key in compared for row in _rows(key, results[kind][key])]
        table = _table(columns, [row[: len(columns)] for row in rows])
        parts[kind] = "\n\n".join((table, *(_picture(key, kind) for key in compared)))
    columns = ("network", "true ε of a run", "search", *at, "components")
    parts["totals"] = _table(columns, [row for key in compared for row in _best(key, results)])
    text = (FOLDER / "page.md.in").read_text(encoding="utf-8")
    for name, words in parts.items():
        text = text.replace(f"{{{name}}}", words)
    return text


def _regimes(records: Sequence[Record]) -> str:
    rows = [
        (
            record["network"],
            record["regime"],
            record.get("first_name", record["first"]),
            f"{record['p']:g}, {record['q']:g}, {record['rounds']}",
            f"{record['targets']:,} in {record['components']:,}",
            ", ".join(map(str, record["largest"][:5])),
            record.get("start_name", record["start"]),
        )
        for record in records
    ]
    heads = ("network", "regime", "first", "p, q, rounds", "targets", "largest", "search from")
    return _table(heads, rows)


def _searches(measured: Sequence[tuple[Record, Record]]) -> str:
    """Return Target and PTarget at half and at all of the budget."""
    rows = []
    for record, found in measured:
        target, private = found["searches"]

        def at(key: str, digits: int, private: Record = private) -> str:
            half, end = (place[0] for place in private[key][1:])
            return f"{half:.{digits}f} / {end:.{digits}f}"

        half, end = (place[0] for place in target["found"][1:])
        rows.append(
            (
                record["network"],
                record["regime"],
                f"{record['budget']:,}",
                f"{half:,.0f} / {end:,.0f}",
                " / ".join(map(_pm, private["found"][1:])),
                f"{private['found'][2][0] / end:.0%}",
                at("components", 1),
                at("claimed", 2),
                at("true", 2),
                f"{private['below_2']:,}",
            )
        )
    heads = (
        "network | regime | calls | Target finds | PTarget finds | share | components | "
        "claimed e^ε | true e^ε | claimed < 2 up to"
    )
    return _table(heads.split(" | "), rows)


def _statistics_table(entries: Sequence[Record]) -> str:
    rows = []
    for entry in entries:
        noise = "none" if not entry["noise"] else f"{entry['noise']:,.4g}"
        noise = {"Target": "not private", "blind": "nothing else"}.get(entry["name"], noise)
        signal = "" if entry["signal"] is None else f"{entry['signal']:.2g}"
        found = (_pm(pair, entry["runs"]) for pair in entry["found"])
        rows.append((entry["name"], noise, signal, *found))
    calls = (f"{call:,} calls" for call in entries[0]["calls"])
    return _table(("statistic", "noise", "signal", *calls), rows)


def _rows(key: str, entries: Sequence[Record]) -> Iterator[tuple[str, ...]]:
    """Return what each search of a comparison found, the components, the true multiplier."""
    for entry in entries:
        found = (_pm(pair, entry["runs"]) for pair in entry["found"])
        true = "" if entry["true"] is None else f"{entry['true'][-1][0]:.3g}"
        yield (key, entry["name"], *found, f"{entry['components'][-1][0]:.1f}", true)


def _best(key: str, results: Record) -> Iterator[tuple[str, ...]]:
    """Return of each search and total the share with which it found most in the end."""
    best: dict[tuple[float, str], Record] = {}
    for entry in results["totals"][key]:
        place = entry["total"], entry["name"].partition(",")[0]
        if place not in best or entry["found"][-1][0] > best[place]["found"][-1][0]:
            best[place] = entry
    for entry, row in zip(best.values(), _rows(key, list(best.values())), strict=True):
        yield (key, f"{entry['total']:g}", *row[1:-1])


def _picture(key: str, kind: str) -> str:
    alt = key if kind == "curves" else f"{key}, {kind} compared"
    return f"![{alt}](figures/{key}-{kind}.svg)"


def _pm(pair: Sequence[float], runs: int = 2) -> str:
    return f"{pair[0]:,.0f}" if runs == 1 else f"{pair[0]:,.1f} ± {pair[1]:,.1f}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


if __name__ == "__main__":
    main()
