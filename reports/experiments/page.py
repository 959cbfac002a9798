"""The page of the experiments: the text of ``page.md.in`` with tables of what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["page"]

Record = Mapping[str, Any]

TEXT = Path(__file__).parent / "page.md.in"


def page(results: Record, records: Sequence[Record]) -> str:
    """Return the page as Markdown; what has not been measured yet is left out."""
    keys = [f"{record['network']}-{record['regime']}" for record in records]
    compared = [key for key in keys if key in results["statistics"]]
    measured = [(r, results["regimes"][k]) for k, r in zip(keys, records, strict=True)
                if k in results["regimes"]]  # fmt: skip
    parts = {
        "regimes": _regimes(records),
        "searches": _searches(measured),
        "curves": "\n".join(_picture(key, "curves") for key in keys if key in results["regimes"]),
        "statistics": "\n\n".join(
            f"### On {key}\n\n{_statistics(results['statistics'][key])}\n\n"
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
    parts["totals"] = _table(columns, [row for key in compared for row in _totals(key, results)])
    text = TEXT.read_text(encoding="utf-8")
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


def _statistics(entries: Sequence[Record]) -> str:
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


def _totals(key: str, results: Record) -> Iterator[tuple[str, ...]]:
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
