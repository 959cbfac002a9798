"""What a session found: lines for the terminal, Markdown for a job summary."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pdpaudit.auditing.provenance import origin_of
from pdpaudit.core.errors import InputError
from pdpaudit.outputs import JSON
from pdpaudit.report import blocks as b
from pdpaudit.report.blocks import clip, number, visible
from pdpaudit.report.findings import listed
from pdpaudit.report.rendering import render_blocks
from pdpaudit.results.files import save
from pdpaudit.results.results import SEVERITY, Result, Status
from pdpaudit.testing.session import Budget, Settings

Rows = Sequence[JSON]

#: Rows of the table in the job summary, and failures shown in full: a summary holds 1 MiB.
MOST_ROWS, MOST_SHOWN = 200, 20


def summary_lines(rows: Rows, settings: Settings, base: Path, stale: int) -> Iterator[str]:
    """Yield the lines for the end of a session."""
    audits, checks = _kinds(rows)
    if audits:
        yield f"{_number(len(audits), 'claim')} audited: {_verdicts(audits)}"
        yield _budget(audits, settings)
    if checks:
        yield f"{_number(len(checks), 'check')} of statistics: {_verdicts(checks)}"
    if audits and settings.baseline is not None:
        yield _baseline(audits, settings, relative(settings.baseline, base), stale)
    files = [str(row["file"]) for row in rows if row.get("file")]
    if settings.report is not None and files:
        folder = relative(settings.report, base)
        every = f"{shlex.quote(folder)}/*.json"
        yield f"results in {folder}; for people: pdpaudit report {every} -o report.html"


def summary_markdown(rows: Rows, settings: Settings) -> str:
    """Return a job summary, GitHub-flavoured; every word that is not ours is escaped."""
    audits, checks = _kinds(rows)
    blocks: list[b.Block] = []
    if audits:
        words = f"{_verdicts(audits)}; {_budget(audits, settings)}."
        blocks.append(b.Paragraph(words, label=f"{_number(len(audits), 'claim')}:"))
        blocks.append(_audit_table(audits))
    if checks:
        label = f"{_number(len(checks), 'check')} of statistics:"
        blocks.append(b.Paragraph(f"{_verdicts(checks)}.", label=label))
        broken = _ordered([row for row in checks if _failed(row)])
        columns = ("", "statistic", "check", "found")
        cells = [
            (b.Badge(row["status"]), row["subject"], row["check"], row["found"]) for row in broken
        ]
        blocks += [_table(columns, cells)] if broken else []
    if audits and settings.baseline is not None:
        blocks.append(b.Paragraph(f"{_baseline(audits, settings, settings.baseline.name, 0)}."))
    failed = [row for row in audits if _failed(row)]
    blocks += [_failure(row) for row in failed[:MOST_SHOWN]]
    if len(failed) > MOST_SHOWN:
        blocks.append(b.Paragraph(f"… and {len(failed) - MOST_SHOWN} more that fail."))
    return render_blocks([b.Section("Privacy audits", tuple(blocks), "audits")], 2) + "\n"


def _kinds(rows: Rows) -> tuple[Rows, Rows]:
    audits = [row for row in rows if row["kind"] == "audit"]
    return audits, [row for row in rows if row["kind"] == "check"]


def _failed(row: JSON) -> bool:
    return bool(row.get("grew")) or row["status"] in ("violated", "error")


def _number(count: int, word: str, several: str = "") -> str:
    """Return a count and what is counted; ``several`` where that is no plain plural."""
    return f"{count:,} {word if count == 1 else several or word + 's'}"


def _verdicts(rows: Rows) -> str:
    words = listed(row["status"] for row in rows)
    grew = sum(bool(row.get("grew")) for row in rows)
    return words + (f"; {grew} GREW" if grew else "")


def _budget(audits: Rows, settings: Settings) -> str:
    """Say what the session's false alarms are, and how they are shared."""
    alpha = 1 - settings.confidence
    tests = max(int(row["tests"]) for row in audits)
    sampled = [row for row in audits if not row["exact"]]
    if not sampled:
        return "no false positive is possible: exact output laws, no sampling error"
    share = "" if tests == 1 else f" over {tests} tests, {100 * alpha / tests:.3g}% each"
    exact = len(audits) - len(sampled)
    none = f"; the {_number(exact, 'exact one')} can raise none" if exact else ""
    return f"a true claim fails with probability at most {100 * alpha:.4g}%{share}{none}"


def _baseline(audits: Rows, settings: Settings, name: str, stale: int) -> str:
    if settings.update:
        kept = sum(bool(row.get("entry")) for row in audits)
        gone = f", {stale} of tests that are gone taken out" if stale else ""
        left = len(audits) - kept
        broken = f"; not recorded as they fail: {left}" if left else ""
        losses = _number(kept, "loss", "losses")
        return f"baseline {name}: {losses} recorded{gone}{broken}"
    compared = [row for row in audits if row["compared"]]
    grew = sum(bool(row["grew"]) for row in compared)
    new = sum(not row["recorded"] for row in audits)
    words = f"baseline {name}: {len(compared)} compared, {grew or 'none'} grew"
    return words + (f"; {new} not in it, record with --pdp-update-baseline" if new else "")


def _nats(value: float | str | None) -> str:
    return "" if value is None else number(float(value))


def _table(columns: tuple[str, ...], rows: Sequence[tuple[b.Cell, ...]]) -> b.Table:
    left = len(rows) - MOST_ROWS
    note = f"… and {left:,} more." if left > 0 else ""
    return b.Table("", columns, tuple(rows[:MOST_ROWS]), note)


def _ordered(rows: Rows) -> Rows:
    return sorted(rows, key=lambda row: (not _failed(row), SEVERITY.index(row["status"])))


def _audit_table(audits: Rows) -> b.Table:
    cells = [
        (
            "GREW" if row["grew"] and row["status"] != "violated" else b.Badge(row["status"]),
            row["test"],
            row["claim"],
            _nats(row["bound"]) + (" (exact)" if row["exact"] else ""),
            _nats(row["detectable"]),
            f"{_nats(row['baseline'])} → {_nats(row['now'])}" if row["compared"] else "",
        )
        for row in _ordered(audits)
    ]
    columns = ("verdict", "test", "claim", "loss at least", "would have seen", "baseline → now")
    return _table(columns, cells)


def _failure(row: JSON) -> b.Section:
    said = [
        b.Paragraph(row[key], label=f"{key}:") for key in ("claim", "pair", "event") if row[key]
    ]
    again = b.Code("", row["replay"])
    what = broken_words(row["status"])
    return b.Section(f"{clip(row['subject'], 120)} {what}", (*said, again), "failure")


def broken_words(status: Status) -> str:
    """Say of a subject why a test fails: its claim does not stand, or it leaks more than before."""
    known = {"violated": "is not private as claimed", "error": "cannot be judged"}
    return known.get(status, "leaks more than it did")


# What one test found

#: Characters of a sentence that are shown.
LONGEST = 400

#: What of a row is a property of the test in JUnit's XML.
PROPERTIES = (
    *("subject", "status", "claim", "epsilon", "delta", "bound", "detectable", "baseline", "now"),
    *("pair", "event", "replay", "seed", "alpha", "check", "found"),
)


def short(text: object, most: int = LONGEST) -> str:
    r"""Return text on one line, nothing in it invisible or endless."""
    return clip(" ".join(visible(str(text)).split()), most)


def labelled(pairs: Iterable[tuple[str, object]]) -> list[str]:
    """Return lines of a label and what it is, the labels in a column; empty ones are left out."""
    shown = [(label, short(text)) for label, text in pairs if text not in ("", None)]
    width = max((len(label) for label, _ in shown), default=0)
    return [f"  {label:<{width}}  {text}" for label, text in shown]


def record(budget: Budget, row: JSON) -> None:
    """Keep a row for the session's summary and the test's JUnit properties; values are plain."""
    shown = {key: short(value) if isinstance(value, str) else value for key, value in row.items()}
    # A key of the baseline, or a place, is not cut.
    kept = {key: row[key] for key in ("key", "file") if key in row}
    where = {"test": short(budget.nodeid), "tests": budget.tests, "unwritten": budget.unwritten}
    budget.rows.append({**shown, **kept, **where})
    budget.properties += [
        (f"pdp_{key}", value)
        for key, value in shown.items()
        if key in PROPERTIES and value not in ("", None)
    ]


def saved(budget: Budget, result: Result, *, failed: bool, about: object = None) -> str:
    """Write a result where it was asked for, a failure's in any case if there is a place.

    What cannot be written is said at the end of the session; a verdict is one all the same. The
    source of what it is ``about`` is looked up only then: that takes longer than many checks.
    """
    folder = budget.settings.report or (budget.cache if failed else None)
    if folder is None:
        return ""
    if not result.source and about is not None:
        result = replace(result, **origin_of(about))
    name, bracket, given = budget.nodeid.partition("[")
    test = name.rpartition("::")[2] + bracket + given
    slug = re.sub(r"[^A-Za-z0-9]+", "-", test).strip("-")[:40] or "test"
    mark = hashlib.sha256(budget.nodeid.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    budget.files += 1
    last = "" if budget.files == 1 else f"-{budget.files}"
    path = folder / f"{slug}-{mark}{last}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        save(path, result.to_json())
    except (InputError, OSError) as error:
        budget.unwritten = str(error) if budget.settings.report else ""
        return ""
    return relative(path, budget.base)


def relative(path: Path, base: Path) -> str:
    """Return a path as one would type it in ``base``."""
    whole, here = path.resolve(), base.resolve()
    return str(whole.relative_to(here) if whole.is_relative_to(here) else whole)
