"""Make tables.json and README.md of this folder again: exact Δ and IC of every statistic.

``python reports/statistics/make.py`` writes the same bytes whatever the machine and ``--jobs``.
"""

from __future__ import annotations

import argparse
import inspect
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pdpaudit.conformance import Exhaustion, Row, exhaust, require_statistic
from pdpaudit.contracts import FastStatistic
from pdpaudit.registry import resolve
from pdpaudit.results import save, write_text

FOLDER = Path(__file__).parent
COMMAND = "python reports/statistics/make.py"
FORMAT = "pdpaudit-statistics/1"
DIGITS = 6  # significant digits of what is written

#: Every statistic, the paper's first, with the largest number of vertices.
SCOPE = {
    "CN": 7,
    "Triangle": 7,
    "Path_1": 7,
    "Path_2": 7,
    "Path_3": 7,
    "Flow_2": 7,
    "Flow_3": 5,
    "AdamicAdar": 7,
    "ResourceAllocation": 7,
    "CommonNeighboursPerMember": 7,
    "Jaccard": 7,
    "PreferentialAttachment": 7,
    "Katz3": 7,
    "InverseDistance": 7,
    "PersonalisedPageRank": 7,
}
COMPARED = 4  # vertices up to which a fast path is compared with the scalar form
DEGREES = (2, 3, 5)  # of the table that compares all statistics

Bound = Callable[[int], float]

#: The paper's bounds on Δ: identifier, words, and the bound for each statistic it covers.
CLAIMS: tuple[tuple[str, str, Mapping[str, Bound]], ...] = (
    ("C7", "Δ(Flow_k) ≤ d", {"Flow_2": lambda d: d, "Flow_3": lambda d: d}),
    (
        "C8",
        "Δ(Path_k) ≤ (k-1)·d^(k-1)",
        {"Path_1": lambda d: 0, "Path_2": lambda d: d, "Path_3": lambda d: 2 * d**2},
    ),
    ("C9", "Δ(Triangle) ≤ d", {"Triangle": lambda d: d}),
    ("C10", "Δ(CN) ≤ 1", {"CN": lambda d: 1}),
    ("C11", "Δ(Path_1) = 0", {"Path_1": lambda d: 0}),
)

#: Smaller bounds that hold for any number of vertices: the bound in words, itself, and why.
TIGHTER: Mapping[str, tuple[str, Bound, str]] = {
    "Triangle": (
        "0",
        lambda d: 0,
        "the corners of a triangle counted for a targeted vertex are all targeted, and edges "
        "between targeted vertices never change",
    ),
    "Path_2": (
        "d - 1",
        lambda d: max(d - 1, 0),
        "of a targeted t only the paths t-u-s change, and u next to t has d - 1 other neighbours",
    ),
    "Path_3": (
        "(d - 1)·max(d, 2d - 3)",
        lambda d: (d - 1) * max(d, 2 * d - 3) if d else 0,
        "only paths through u change; where u is next to t and x of u's d - 1 other neighbours "
        "are not, they are d - 1 paths t-u-s, x(d - 1) + (d - 1 - x)(d - 2) paths t-u-a-s and "
        "(d - 1 - x)(d - 2) paths t-a-u-s, most with x = 0, or x = 1 for d = 2; where u is not "
        "next to t they are d(d - 1) paths t-a-u-s",
    ),
    "Flow_2": (
        "1, and 0 for d < 2",
        lambda d: float(d >= 2),
        "the paths t-u-s share the edge t-u, which carries 1",
    ),
    "Flow_3": ("d / 2", lambda d: d / 2 if d >= 2 else 0, "a path through u uses two of its edges"),
}

#: The largest value a statistic can take, where there is one.
LARGEST = {"Jaccard": 1.0, "InverseDistance": 1.0, "PersonalisedPageRank": 1.0}


def measure(name: str, vertices: int, jobs: int) -> dict[str, Any]:
    """Look at one statistic on all networks with up to so many vertices.

    A fast path is used only where it gives the scalar form's tables on small networks.
    """
    sop, declared = require_statistic(resolve("sops", name))
    fast = isinstance(sop, FastStatistic)

    def exact(size: int, *, fast: bool, jobs: int = 1) -> Exhaustion:
        return exhaust(sop, declared, max_vertices=size, fast=fast, jobs=jobs, deadline=math.inf)

    found = exact(vertices, fast=fast, jobs=jobs)
    if fast:
        small = exact(COMPARED, fast=False).rows
        if _table(small) != _table(found.rows[:COMPARED]):
            raise SystemExit(f"{name}: the fast path and the scalar form differ")
    return {
        "name": name,
        "definition": (inspect.getdoc(type(sop)) or "").splitlines()[0],
        "vertices": vertices,
        "fast_path": fast,
        "violated": sorted(found.cases),
        "declared": {
            "sensitivity": _plain(declared.sensitivity[:vertices]),
            "impact_cardinality": _plain(declared.impact_cardinality[:vertices]),
        },
        "exact": _table(found.rows),
    }


def _table(rows: Sequence[Row]) -> dict[str, dict[str, list[float | None]]]:
    return {
        "sensitivity": {str(row.n): _plain(row.sensitivity) for row in rows},
        "impact_cardinality": {str(row.n): _plain(row.impact_cardinality or ()) for row in rows},
    }


def tables(vertices: int, jobs: int, names: Sequence[str] = tuple(SCOPE)) -> dict[str, Any]:
    """Return what tables.json holds, with no network larger than ``vertices``."""
    return {
        "format": FORMAT,
        "statistics": [measure(name, min(SCOPE[name], vertices), jobs) for name in names],
    }


def _plain(values: Sequence[float]) -> list[float | None]:
    """Round, with no bound (infinity) as null, and whole numbers as such."""
    return [None if math.isinf(value) else _rounded(value) for value in values]


def _rounded(value: float) -> float:
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() else short


def render(body: Mapping[str, Any]) -> str:
    """Write README.md; a function of tables.json alone."""
    return "\n".join(_lines(body)) + "\n"


def _lines(body: Mapping[str, Any]) -> Iterator[str]:
    entries = body["statistics"]
    yield "# Statistics of proximity: exact sensitivity and impact"
    yield ""
    yield "Made again, byte for byte, by (ten minutes at most on two cores):"
    yield ""
    yield f"    {COMMAND}"
    yield ""
    yield (
        "Δ(d) is the most by which rewiring one protected vertex u can move the value of a "
        "targeted vertex, and IC(d) the number of vertices, u included, whose value it can "
        "change, where both networks have degree at most d. All values here are exact: the "
        "largest over *every* pair of neighbouring networks on n vertices and every set S of "
        "targeted vertices. "
        "Larger networks may need more, except where a bound with its proof is given below. "
        "`none` says that no bound in the degree alone is declared."
    )
    yield ""
    yield (
        "The tables come from a statistic's fast path where it has one, and it is compared with "
        f"the scalar form on all networks with up to {COMPARED} vertices; otherwise from the "
        "scalar form itself."
    )
    yield ""
    yield "## Findings"
    yield ""
    yield from _findings(entries)
    yield ""
    yield "## All statistics"
    yield ""
    yield "Declared / exact, over all networks with up to n vertices."
    yield ""
    yield (
        "| statistic | n |"
        + "".join(f" Δ({d}) |" for d in DEGREES)
        + "".join(f" IC({d}) |" for d in DEGREES)
        + " declarations |"
    )
    yield "|---" * (2 * len(DEGREES) + 3) + "|"
    for entry in entries:
        cells = [
            _cell(entry, key, d) for key in ("sensitivity", "impact_cardinality") for d in DEGREES
        ]
        yield f"| {entry['name']} | {entry['vertices']} | {' | '.join(cells)} | {_verdict(entry)} |"
    yield ""
    yield "## The paper's bounds on Δ"
    yield ""
    yield "| | bound | statistic | networks | verdict | by how much |"
    yield "|---|---|---|---|---|---|"
    by_name = {entry["name"]: entry for entry in entries}
    for number, words, bounds in CLAIMS:
        for name, bound in bounds.items():
            if name in by_name:
                yield _claim(number, words, by_name[name], bound)
    yield ""
    yield "## What it means for noise"
    yield ""
    yield from _noise(entries)
    for entry in entries:
        yield ""
        yield from _section(entry)


def _last(entry: Mapping[str, Any], key: str) -> list[float]:
    """Return the exact values on the largest networks, index d."""
    values: list[float] = entry["exact"][key][str(entry["vertices"])]
    return values


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.{DIGITS}g}"


def _cell(entry: Mapping[str, Any], key: str, d: int) -> str:
    if d >= entry["vertices"]:
        return ""
    return f"{_number(entry['declared'][key][d])} / {_number(_last(entry, key)[d])}"


def _verdict(entry: Mapping[str, Any]) -> str:
    """Say what became of both declarations."""
    verdicts = []
    for key, of in (
        ("sensitivity", "targeted-sensitivity"),
        ("impact_cardinality", "impact-cardinality"),
    ):
        none = "none to check" if None in entry["declared"][key] else "holds"
        verdicts.append("**violated**" if of in entry["violated"] else none)
    if len(set(verdicts)) == 1:
        return verdicts[0].replace("holds", "hold")
    return f"Δ {verdicts[0]}; IC {verdicts[1]}"


def _degrees(degrees: Sequence[int]) -> str:
    """Say which degrees: ``2 to 6``, or ``1, 2 and 5``."""
    first, last = degrees[0], degrees[-1]
    if len(degrees) > 2 and last - first == len(degrees) - 1:
        return f"{first} to {last}"
    return " and ".join(filter(None, (", ".join(map(str, degrees[:-1])), str(last))))


def _compare(bounds: Sequence[float | None], exact: Sequence[float]) -> dict[str, list[int]]:
    """Sort the degrees from 1 on by whether the bound is exceeded, attained, loose or absent."""
    sorted_by: dict[str, list[int]] = {"exceeded": [], "attained": [], "loose": [], "absent": []}
    for d in range(1, len(exact)):
        bound = bounds[d]
        if bound is None:
            kind = "absent"
        elif math.isclose(bound, exact[d], rel_tol=10 ** (1 - DIGITS), abs_tol=1e-9):
            kind = "attained"
        else:
            kind = "exceeded" if exact[d] > bound else "loose"
        sorted_by[kind].append(d)
    return sorted_by


def _claim(number: str, words: str, entry: Mapping[str, Any], bound: Bound) -> str:
    n, exact = entry["vertices"], _last(entry, "sensitivity")
    kinds = _compare([bound(d) for d in range(n)], exact)
    if kinds["exceeded"]:
        verdict = f"**violated** for d = {_degrees(kinds['exceeded'])}"
    elif kinds["attained"]:
        verdict = f"holds, attained for d = {_degrees(kinds['attained'])}"
    else:
        verdict = "holds, nowhere attained"
    loose = [f"d = {d}: {bound(d):g} for {exact[d]:g}" for d in kinds["loose"]]
    row = (number, words, entry["name"], f"all up to {n} vertices", verdict, "; ".join(loose))
    return f"| {' | '.join(row)} |"


def _findings(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say what concerns more than one statistic."""
    broken = [e["name"] for e in entries if e["violated"]]
    yield (
        f"- Declarations violated: {', '.join(broken)}."
        if broken
        else "- No declaration is violated on any network tried."
    )
    used = [
        e["name"]
        for e in entries
        if _compare(e["declared"]["sensitivity"], _last(e, "sensitivity"))["attained"]
        == list(range(1, e["vertices"]))
    ]
    if used:
        yield f"- Δ is declared exactly, for every degree tried: {', '.join(used)}."
    still = [e["name"] for e in entries if max(_last(e, "sensitivity")) == 0]
    if still:
        yield (
            f"- Exact Δ is 0 for every degree tried: {', '.join(still)}. No rewiring of a "
            "protected vertex moves the value of a targeted one."
        )
    for entry in entries:
        exact = _last(entry, "sensitivity")
        kinds = _compare(entry["declared"]["sensitivity"], exact)
        if kinds["loose"] and not kinds["exceeded"]:
            d = kinds["loose"][-1]
            if kinds["attained"] and max(kinds["attained"]) > 1:
                continue
            bound = entry["declared"]["sensitivity"][d]
            if exact[d] == 0:
                wasted = "all noise is wasted"
            else:
                sure = "" if entry["name"] in TIGHTER else " (larger networks may need more)"
                wasted = f"noise is {bound / exact[d]:.3g} times too wide{sure}"
            yield (
                f"- {entry['name']}: for degree {d}, declared {bound:g}, exact {exact[d]:g}: "
                f"{wasted}."
            )
    for key, words in (("sensitivity", "Δ"), ("impact_cardinality", "IC")):
        none = [e["name"] for e in entries if None in e["declared"][key]]
        if none:
            yield f"- No bound on {words} in the degree alone: {', '.join(none)}."
    whole = [
        e["name"]
        for e in entries
        if None in e["declared"]["impact_cardinality"]
        and all(count == e["vertices"] for count in _last(e, "impact_cardinality")[2:])
    ]
    if whole:
        yield (
            "- On the largest networks tried one rewiring can change the value of every vertex, "
            f"for every degree from 2 on: {', '.join(whole)}."
        )


def _noise(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say what the exact values mean for a search that adds noise in proportion to Δ."""
    yield (
        "A search that orders vertices by noisy values adds noise in proportion to the *declared* "
        "Δ: of scale 2Δ/ε for report noisy max, which returns the vertex alone. What is declared "
        "above the truth is paid for in accuracy, and buys no privacy; what is declared below it "
        "voids the guarantee. The searches that compare a noisy count of protected vertices with "
        "a limit pay for IC as well."
    )
    yield ""
    d = DEGREES[-1]
    for entry in entries:
        name = entry["name"]
        if name in TIGHTER and d < entry["vertices"]:
            words, bound, _ = TIGHTER[name]
            declared = entry["declared"]["sensitivity"][d]
            if bound(d) == 0:
                yield f"- {name}: Δ = {words} is proved below; targets need no noise at all."
            elif declared is not None and declared > bound(d):
                yield (
                    f"- {name}: with the bound {words} proved below, noise at degree {d} is "
                    f"{declared / bound(d):.3g} times narrower than as declared."
                )
    for name, largest in LARGEST.items():
        for entry in entries:
            if entry["name"] == name:
                share = _last(entry, "sensitivity")[-1] / largest
                yield (
                    f"- {name} is at most {largest:g}, and one rewiring moves it by "
                    f"{100 * share:.0f} % of that at degree {entry['vertices'] - 1}: noise that "
                    "hides the one hides the other."
                )
    none = [e["name"] for e in entries if None in e["declared"]["sensitivity"]]
    if none:
        yield (
            f"- {', '.join(none)}: no noise calibrated to the degree alone is enough; it has to "
            "grow with the network or with S, or values have to be cut off first."
        )


def _section(entry: Mapping[str, Any]) -> Iterator[str]:
    n = entry["vertices"]
    yield f"## {entry['name']}"
    yield ""
    yield entry["definition"].replace("``", "`").replace(" [1]_", "")
    yield ""
    form = "fast path" if entry["fast_path"] else "scalar form"
    yield f"Exact over all networks with up to {n} vertices, by the {form}."
    for key, letter in (("sensitivity", "Δ"), ("impact_cardinality", "IC")):
        yield ""
        yield f"| {letter} |" + "".join(f" d = {d} |" for d in range(1, n))
        yield "|---" * n + "|"
        declared = entry["declared"][key]
        yield "| declared |" + "".join(f" {_number(declared[d])} |" for d in range(1, n))
        for size in range(2, n + 1):
            row = entry["exact"][key][str(size)]
            cells = [_number(row[d]) if d < size else "" for d in range(1, n)]
            yield f"| n = {size} |" + "".join(f" {cell} |" for cell in cells)
    yield ""
    yield from _about(entry, "sensitivity", "Δ")
    yield from _about(entry, "impact_cardinality", "IC")
    if entry["name"] in TIGHTER:
        words, bound, why = TIGHTER[entry["name"]]
        kinds = _compare([bound(d) for d in range(n)], _last(entry, "sensitivity"))
        if kinds["exceeded"]:
            raise SystemExit(f"{entry['name']}: {words} is exceeded for d = {kinds['exceeded']}")
        at = f"attained for d = {_degrees(kinds['attained'])}" if kinds["attained"] else "loose"
        yield f"- A bound on Δ that holds for any number of vertices: {words} ({at}), as {why}."


def _about(entry: Mapping[str, Any], key: str, letter: str) -> Iterator[str]:
    """Say where a declaration is attained, loose, exceeded or absent."""
    n, exact, declared = entry["vertices"], _last(entry, key), entry["declared"][key]
    kinds = _compare(declared, exact)
    if key == "impact_cardinality":
        # What these networks have not enough vertices for cannot be judged.
        out_of_reach = [d for d in kinds["loose"] if declared[d] > n]
        kinds["loose"] = [d for d in kinds["loose"] if declared[d] <= n]
        if out_of_reach:
            yield (
                f"- {letter} for d = {_degrees(out_of_reach)} is declared above {n}: these "
                "networks have too few vertices to judge it."
            )
    if kinds["exceeded"]:
        yield f"- {letter} is **exceeded** for d = {_degrees(kinds['exceeded'])}."
    if kinds["attained"]:
        yield f"- {letter} is attained for d = {_degrees(kinds['attained'])}."
    if kinds["loose"]:
        gaps = "; ".join(
            f"{_number(declared[d])} for {_number(exact[d])} at d = {d}{_growing(entry, key, d)}"
            for d in kinds["loose"]
        )
        yield f"- {letter} is declared above what is found: {gaps}."
    if kinds["absent"]:
        d = kinds["absent"][0]
        grown = [_number(entry["exact"][key][str(m)][d]) for m in range(d + 1, n + 1)]
        yield (
            f"- {letter} has no declared bound from d = {d} on; for d = {d} and n = {d + 1} to {n} "
            f"it is {', '.join(grown)}."
        )


def _growing(entry: Mapping[str, Any], key: str, d: int) -> str:
    """Say if a value still changed with the last vertex that was added."""
    n = entry["vertices"]
    if d == n - 1:
        return ""  # no smaller network has such a vertex
    return " (still growing)" if entry["exact"][key][str(n - 1)][d] < _last(entry, key)[d] else ""


def main() -> None:
    """Make both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="worker processes")
    body = tables(max(SCOPE.values()), parser.parse_args().jobs)
    save(FOLDER / "tables.json", body)
    # Rendered from the file as it is read back, as anybody else would.
    read = json.loads((FOLDER / "tables.json").read_text(encoding="utf-8"))
    write_text(FOLDER / "README.md", render(read))


if __name__ == "__main__":
    main()
