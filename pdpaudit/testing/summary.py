"""What a session found: lines for the terminal, Markdown for a job summary."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pdpaudit.auditing.provenance import commit_of, source_digest
from pdpaudit.outputs import JSON
from pdpaudit.report.findings import STATUS_WORDS
from pdpaudit.report.markdown import code, escape, fenced
from pdpaudit.report.plaintext import clip, visible
from pdpaudit.results.results import SEVERITY, Result, save
from pdpaudit.testing.budget import Budget, Settings

__all__ = ["labelled", "record", "relative", "saved", "short", "summary_lines", "summary_markdown"]

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
        yield f"results in {folder}; for people: pdpaudit report {folder}/*.json -o report.html"


def summary_markdown(rows: Rows, settings: Settings) -> str:
    """Return a job summary, GitHub-flavoured; every word that is not ours is escaped."""
    audits, checks = _kinds(rows)
    blocks = ["## Privacy audits"]
    if audits:
        blocks.append(
            f"**{_number(len(audits), 'claim')}**: {_verdicts(audits)}; "
            f"{_budget(audits, settings)}."
        )
        blocks.append(_audit_table(audits))
    if checks:
        blocks.append(f"**{_number(len(checks), 'check')} of statistics**: {_verdicts(checks)}.")
        broken = [row for row in checks if row["status"] in ("violated", "error")]
        if broken:
            blocks.append(_check_table(broken))
    if audits and settings.baseline is not None:
        blocks.append(escape(_baseline(audits, settings, settings.baseline.name, 0)) + ".")
    failed = [row for row in audits if _failed(row)]
    blocks += [_failure(row) for row in failed[:MOST_SHOWN]]
    if len(failed) > MOST_SHOWN:
        blocks.append(f"… and {len(failed) - MOST_SHOWN} more that fail.")
    return "\n\n".join(blocks) + "\n\n"


def _kinds(rows: Rows) -> tuple[Rows, Rows]:
    return tuple([row for row in rows if row["kind"] == kind] for kind in ("audit", "check"))  # type: ignore[return-value]


def _failed(row: JSON) -> bool:
    return bool(row.get("grew")) or row["status"] in ("violated", "error")


def _number(count: int, word: str, several: str = "") -> str:
    """Return a count and what is counted; ``several`` where that is no plain plural."""
    return f"{count:,} {word if count == 1 else several or word + 's'}"


def _verdicts(rows: Rows) -> str:
    counts = Counter(row["status"] for row in rows)
    words = [f"{counts[status]} {STATUS_WORDS[status]}" for status in SEVERITY if counts[status]]
    grew = sum(bool(row.get("grew")) for row in rows)
    return ", ".join(words) + (f"; {grew} GREW" if grew else "")


def _budget(audits: Rows, settings: Settings) -> str:
    """Say what the session's false alarms are, and how they are shared."""
    alpha = 1 - settings.confidence
    tests = max(int(row["tests"]) for row in audits)
    sampled = [row for row in audits if not row["exact"]]
    if not sampled:
        return "no false alarm is possible: exact output laws, no sampling error"
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
    if value is None:
        return ""
    number = float(value)
    return "∞" if math.isinf(number) else f"{number:.4g}"


def _table(head: Sequence[str], rows: Iterator[Sequence[str]], count: int) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    if count > MOST_ROWS:
        lines.append(f"\n… and {count - MOST_ROWS} more.")
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Return text as code in a table, where even code must not hold a bar."""
    return code(text).replace("|", "\\|")


def _ordered(rows: Rows) -> Rows:
    return sorted(rows, key=lambda row: (not _failed(row), SEVERITY.index(row["status"])))


def _audit_table(audits: Rows) -> str:
    def cells() -> Iterator[Sequence[str]]:
        for row in _ordered(audits)[:MOST_ROWS]:
            bound = _nats(row["bound"]) + (" (exact)" if row["exact"] else "")
            word = (
                "GREW"
                if row["grew"] and row["status"] != "violated"
                else STATUS_WORDS[row["status"]]
            )
            mark = "❌ " if _failed(row) else "⚠️ " if row["status"] == "inconclusive" else ""
            loss = f"{_nats(row['baseline'])} → {_nats(row['now'])}" if row["compared"] else ""
            yield (
                mark + word,
                _cell(row["test"]),
                escape(row["claim"]),
                bound,
                _nats(row["detectable"]),
                loss,
            )

    head = ("verdict", "test", "claim", "loss at least", "would have seen", "baseline → now")
    return _table(head, cells(), len(audits))


def _check_table(checks: Rows) -> str:
    cells = (
        (
            f"❌ {STATUS_WORDS[row['status']]}",
            _cell(row["subject"]),
            row["check"],
            escape(row["found"]),
        )
        for row in _ordered(checks)[:MOST_ROWS]
    )
    return _table(("", "statistic", "check", "found"), cells, len(checks))


def _failure(row: JSON) -> str:
    what = "leaks more than it did" if row["status"] != "violated" else "is not private as claimed"
    if row["status"] == "error":
        what = "cannot be judged"
    words = [
        f"### {code(row['subject'])} {what}",
        f"- claim: {escape(row['claim'])}",
        f"- pair: {escape(row['pair'])}" if row["pair"] else "",
        f"- event: {escape(row['event'])}" if row["event"] else "",
    ]
    return "\n".join([words[0], "", *filter(None, words[1:]), "", fenced(row["replay"], "sh")])


# What one test found

#: Characters of a sentence that are shown.
LONGEST = 400


def short(text: object, most: int = LONGEST) -> str:
    r"""Return text on one line, nothing in it invisible or endless."""
    return clip(" ".join(visible(str(text)).split()), most)


def labelled(pairs: Iterable[tuple[str, object]]) -> list[str]:
    """Return lines of a label and what it is, the labels in a column; empty ones are left out."""
    shown = [(label, short(text)) for label, text in pairs if text not in ("", None)]
    width = max((len(label) for label, _ in shown), default=0)
    return [f"  {label:<{width}}  {text}" for label, text in shown]


def record(budget: Budget, **row: object) -> None:
    """Keep a row for the session's summary and the test's JUnit properties.

    Values are plain, since they cross processes. What is kept under a name that begins with an
    underscore is no property, and kept as it is.
    """
    recorded = {
        key.removeprefix("_"): short(value) if isinstance(value, str) and key[0] != "_" else value
        for key, value in row.items()
    }
    budget.rows.append({**recorded, "test": short(budget.nodeid), "tests": budget.tests})
    budget.properties += [
        (f"pdp_{key}", recorded[key])
        for key in row
        if key[0] != "_" and recorded[key] not in ("", None) and not isinstance(recorded[key], bool)
    ]


def saved(budget: Budget, result: Result, *, failed: bool, about: object = None) -> str:
    """Write a result where it was asked for, a failure's in any case if there is a place.

    The source of what it is ``about`` is looked up only then: that takes longer than many checks.
    """
    folder = budget.settings.report or (budget.cache if failed else None)
    if folder is None:
        return ""
    if not result.source and about is not None:
        result = replace(result, source=source_digest(about), commit=commit_of(about))
    folder.mkdir(parents=True, exist_ok=True)
    test = budget.nodeid.rpartition("::")[2]
    slug = re.sub(r"[^A-Za-z0-9]+", "-", test).strip("-")[:40] or "test"
    mark = hashlib.sha256(budget.nodeid.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    budget.files += 1
    last = "" if budget.files == 1 else f"-{budget.files}"
    path = folder / f"{slug}-{mark}{last}.json"
    save(path, result.to_json())
    return relative(path, budget.base)


def relative(path: Path, base: Path) -> str:
    """Return a path as one would type it in ``base``."""
    whole, here = path.resolve(), base.resolve()
    return str(whole.relative_to(here) if whole.is_relative_to(here) else whole)
