"""What a report says, before it is HTML or Markdown: a pure function of the results."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from pdpaudit.report.exposure import KEY as EXPOSURE
from pdpaudit.report.exposure import ExposurePart, exposure_part
from pdpaudit.report.findings import (
    NAMES_PEOPLE,
    STATUS_WORDS,
    Chances,
    advice,
    chances,
    claim_facts,
    claim_words,
    claimed_words,
    compared_words,
    plain_words,
    tally_words,
    totals,
    tried_rows,
    tried_words,
)
from pdpaudit.report.pair_drawing import PairPicture, draw_graph, draw_pair, draw_statistic_pair
from pdpaudit.report.plaintext import clip, count, nats, span
from pdpaudit.report.published import KEY as PREFACE
from pdpaudit.report.published import Preface, preface_of
from pdpaudit.report.simulation import KEY as SIMULATION
from pdpaudit.report.simulation import SimulationPart, simulation_part
from pdpaudit.report.sources import Source, command_of, listing_of, replay_of
from pdpaudit.report.tables import (
    Table,
    bounds_table,
    cell,
    composition_of,
    grid_tables,
    table_of,
)
from pdpaudit.results.fields import Fields
from pdpaudit.results.results import SEVERITY, CheckResult, ClaimResult, Result, Status, worst

__all__ = ["CheckPart", "ClaimPart", "Document", "Part", "Verdict", "compose"]

#: Claims and checks that get pictures, the worst first.
MOST_PICTURES = 20

#: Kinds of pairs in the table of what was tried.
MOST_FAMILIES = 12

#: Characters of a command; nobody copies more.
LONGEST_COMMAND = 2000

BOUNDS = {
    "targeted-sensitivity": "Targeted sensitivity Δ by degree bound",
    "impact-cardinality": "Impact cardinality IC by degree bound",
}

TITLES = {
    "audit": "Privacy audit of",
    "claims": "Claims of",
    "check": "Check of",
    "simulate": "Simulation of",
}

#: What has a place of its own in a report.
PLACED = ("tried", "error_budget", "law_compared", "names", PREFACE)


@dataclass(frozen=True)
class ClaimPart:
    """One claim in a report; ``drawn`` says whether its pictures are worth their room."""

    anchor: str
    title: str
    claim: ClaimResult
    words: str
    names: tuple[str, ...]
    facts: Table
    seen: Chances | None
    pair: PairPicture | None
    drawn: bool

    @property
    def status(self) -> Status:
        """Of the claim."""
        return self.claim.status

    @property
    def judged(self) -> bool:
        """Whether a loss was measured and compared with the claim."""
        return self.status not in ("skipped", "error")


@dataclass(frozen=True)
class CheckPart:
    """One check in a report, with its tables and its counterexample."""

    anchor: str
    title: str
    check: CheckResult
    words: str
    scope: str
    declared: str
    observed: str
    tables: tuple[Table, ...]
    pair: PairPicture | None
    listing: str | None
    names: tuple[str, ...] = ()

    @property
    def status(self) -> Status:
        """Of the check."""
        return self.check.status

    @property
    def more(self) -> bool:
        """Whether there is more to show than fits a row of a table."""
        return bool(self.tables or self.pair or self.listing)


@dataclass(frozen=True)
class Part:
    """One result in a report."""

    anchor: str
    title: str
    source: Source
    claims: tuple[ClaimPart, ...]
    checks: tuple[CheckPart, ...]
    tried: Table | None
    tried_words: str
    budget: str
    composition: Table | None
    command: str
    replay: str | None
    made: tuple[tuple[str, str], ...]
    rest: tuple[Table, ...]
    preface: Preface | None
    simulation: SimulationPart | None
    exposure: ExposurePart | None


@dataclass(frozen=True)
class Verdict:
    """One row of the table of verdicts."""

    status: Status
    subject: str
    anchor: str
    title: str
    claimed: str
    measured: str


@dataclass(frozen=True)
class Document:
    """A whole report; ``plain`` and ``advice`` are for who does not know the field."""

    title: str
    status: Status
    totals: str
    plain: str
    advice: str
    verdicts: tuple[Verdict, ...]
    charted: tuple[ClaimPart, ...]
    undrawn: int
    parts: tuple[Part, ...]
    terms: tuple[tuple[str, str], ...]
    banner: str

    @property
    def alone(self) -> Part | None:
        """The one result; None where there are several."""
        return self.parts[0] if len(self.parts) == 1 else None


def compose(sources: Sequence[Source]) -> Document:
    """Return what a report of at least one result says; O(size of the results)."""
    found = [one for source in sources for one in source.result.findings]
    drawn, undrawn = _worth_drawing(sources)
    parts = tuple(_part(i, source, drawn) for i, source in enumerate(sources, start=1))
    status = worst(one.status for one in found)
    judged = [one for part in parts for one in part.claims if one.judged]
    # The worst are chosen, but shown in the order of the files.
    chosen = {id(one) for one in sorted(judged, key=_severity)[:MOST_PICTURES]}
    return Document(
        title=parts[0].title if len(parts) == 1 else f"Privacy report on {len(parts)} results",
        status=status,
        totals=_totals(sources),
        plain=_plain(parts, found),
        advice=advice(status, found),
        verdicts=tuple(sorted((row for part in parts for row in _verdicts(part)), key=_severity)),
        charted=tuple(one for one in judged if id(one) in chosen),
        undrawn=undrawn,
        parts=parts,
        terms=_terms(parts, {one.status for one in found}),
        banner=NAMES_PEOPLE if any(s.result.context.get("names") for s in sources) else "",
    )


def _totals(sources: Sequence[Source]) -> str:
    """Return the totals; a catalogue of published claims has its own, of what each came to."""
    if len(sources) == 1:
        fields = Fields(sources[0].result.context, sources[0].name, "context.")
        if isinstance(fields.body.get("catalogue"), list):
            return tally_words("claim", (one.status() for one in fields.records("catalogue")))
    return totals([one for source in sources for one in source.result.findings])


def _plain(parts: Sequence[Part], found: Sequence[ClaimResult | CheckResult]) -> str:
    simulation = parts[0].simulation
    if found or not any(part.simulation or part.exposure for part in parts):
        return plain_words(worst(one.status for one in found), found)
    return simulation.lead if simulation and len(parts) == 1 else "Measured, without a verdict."


def _terms(parts: Sequence[Part], statuses: Collection[Status]) -> tuple[tuple[str, str], ...]:
    """Return the terms that a report uses, each with its meaning."""
    text = files("pdpaudit.report").joinpath("templates/glossary.json").read_text(encoding="utf-8")
    glossary: dict[str, dict[str, str]] = json.loads(text)
    terms = {STATUS_WORDS[s]: glossary["status"][s] for s in SEVERITY if s in statuses}
    uses = {
        "claims": any(part.claims for part in parts),
        "checks": any(part.checks for part in parts),
        "simulations": any(part.simulation for part in parts),
        "exposure": any(part.exposure for part in parts),
    }
    for kind, used in uses.items():
        terms |= glossary[kind] if used else {}
    return tuple(terms.items())


def _severity(one: ClaimPart | CheckPart | Verdict | ClaimResult | CheckResult) -> int:
    return SEVERITY.index(one.status)


def _verdicts(part: Part) -> list[Verdict]:
    """Return a row for each claim, and for each check that found something."""
    subject = clip(part.source.result.subject)
    rows = [
        Verdict(
            one.status,
            subject,
            one.anchor,
            one.title,
            claimed_words(one.claim, plain=True),
            _measured(one.claim),
        )
        for one in part.claims
    ]
    rows += [
        Verdict(one.status, subject, one.anchor, one.title, one.declared, one.observed)
        for one in part.checks
        if one.status in ("violated", "error", "inconclusive")
    ]
    return rows


def _measured(claim: ClaimResult) -> str:
    if claim.exact is not None:
        return f"{nats(claim.exact)} (exact)"
    return "-" if claim.lower_bound is None else f"at least {nats(claim.lower_bound)}"


def _worth_drawing(sources: Sequence[Source]) -> tuple[set[int], int]:
    """Return which claims and checks get pictures, and how many do not."""
    every = [one for source in sources for one in source.result.findings if one.witness]
    every.sort(key=_severity)
    return {id(one) for one in every[:MOST_PICTURES]}, max(0, len(every) - MOST_PICTURES)


def _part(place: int, source: Source, drawn: set[int]) -> Part:
    result, anchor = source.result, f"r{place}"
    claims = tuple(
        _claim(f"{anchor}-claim-{i}", claim, result, id(claim) in drawn)
        for i, claim in enumerate(result.claims, start=1)
    )
    checks = tuple(
        _check(f"{anchor}-check-{i}", check, result.subject, id(check) in drawn)
        for i, check in enumerate(result.checks, start=1)
    )
    title = f"{TITLES.get(result.command, clip(result.command) + ':')} {clip(result.subject)}"
    command, replay = command_of(source), replay_of(source)
    preface = preface_of(result.context, source.name)
    if preface is not None:
        title = clip(preface.title, 200)
        command, replay = preface.made or command, preface.replay or replay
    rows = tried_rows(result.context)
    compared = compared_words(result.context)
    tried = [(clip(family), count(many), count(networks)) for family, many, networks in rows]
    others = len(tried) - MOST_FAMILIES
    note = f"{others} more kinds of pairs are in the file." if others > 0 else ""
    exact = [one.exact for one in result.claims if one.exact is not None]
    return Part(
        anchor=anchor,
        title=title,
        source=source,
        claims=claims,
        checks=checks,
        tried=Table(
            "Pairs tried", ("family", "pairs", "networks"), tuple(tried[:MOST_FAMILIES]), note, True
        )
        if len(rows) > 1
        else None,
        tried_words=f"{tried_words(result.context)}. {compared}".strip(". ") if rows else compared,
        budget=clip(str(result.context.get("error_budget", "")), 500),
        composition=composition_of(result),
        command=clip(command, LONGEST_COMMAND),
        replay=None if replay is None else clip(replay, LONGEST_COMMAND),
        made=_made(source),
        # The tables of a preface hold what else was recorded.
        rest=_rest(result.context) if preface is None else (),
        preface=preface,
        simulation=simulation_part(result.context, source.name),
        exposure=exposure_part(result.context, source.name, max(exact, default=None)),
    )


def _claim(anchor: str, claim: ClaimResult, result: Result, drawn: bool) -> ClaimPart:
    seen = chances(claim, len(result.claims))
    # Published claims are known by their number.
    name = [claim.id] if result.command == "claims" and claim.id else []
    pair = (claim.witness or {}).get("pair")
    pair = pair if isinstance(pair, Mapping) else claim.pair
    base = pair.get("base")
    base = base if isinstance(base, Mapping) else None
    return ClaimPart(
        anchor=anchor,
        title=clip(": ".join([*name, claim.statement or claim.id or "a claim"]), 120),
        claim=claim,
        words=_words(claim),
        names=_names(pair, base),
        facts=Table("Numbers", ("quantity", "value"), claim_facts(claim, seen)),
        seen=seen,
        pair=draw_pair(pair, base, claim.event) if drawn else None,
        drawn=drawn,
    )


def _words(claim: ClaimResult) -> str:
    """Say what was found; less where the file holds less."""
    try:
        words = claim_words(claim)
        return words[:1].upper() + words[1:]
    except (KeyError, TypeError, ValueError, ArithmeticError):
        found = nats(claim.lower_bound)
        return f"Lower bound {found}, claimed {nats(claim.promise.value)}."


def _names(pair: Mapping[str, Any], base: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return the names a sentence about a pair may hold: of those it rewires, and of the event."""
    names = [pair.get("vertex_name")]
    for key in ("lost", "gained"):
        listed = pair.get(key)
        names += listed[:200] if isinstance(listed, list) else []
    listed = (base or {}).get("names")
    names += listed if isinstance(listed, list) and len(listed) <= 500 else []
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and name))


def _check(anchor: str, check: CheckResult, subject: str, drawn: bool) -> CheckPart:
    tables: list[Table] = []
    if check.name in BOUNDS:
        table = bounds_table(check.declared, check.observed, BOUNDS[check.name])
        tables += [table] if table else []
    tables += grid_tables(check.observed, check.declared)
    witness = check.witness or {}
    return CheckPart(
        anchor=anchor,
        title=clip(check.name, 120),
        check=check,
        words=clip(check.detail, 1500),
        scope=clip(check.scope, 500),
        declared="see table" if tables else cell(check.declared),
        observed="see table" if tables else cell(check.observed),
        tables=tuple(tables),
        pair=draw_statistic_pair(witness) or draw_graph(witness) if drawn else None,
        listing=listing_of(witness, subject) if drawn else None,
    )


def _rest(context: Mapping[str, Any]) -> tuple[Table, ...]:
    """Return everything else that was recorded."""
    rest = []
    for key, value in context.items():
        own = key in (SIMULATION, EXPOSURE) and isinstance(value, Mapping)
        if own or key in PLACED or value in (None, "", {}, []):
            continue
        heading = clip(str(key).replace("_", " "))
        plain = Table(heading, ("what", "value"), ((heading, cell(value)),))
        rest.append(table_of(value, heading) or plain)
    return tuple(rest)


def _made(source: Source) -> tuple[tuple[str, str], ...]:
    """Say when and from what a result was made; a published file leaves out what differs."""
    result, versions = source.result, dict(source.versions)
    ours = versions.pop("pdpaudit", "")
    others = ", ".join(f"{clip(k)} {clip(v)}" for k, v in list(versions.items())[:12])
    commit = f"commit {clip(result.commit, 50)}" if result.commit else ""
    code = ", ".join(filter(None, (clip(result.source, 80), commit)))
    rows = (
        ("written", clip(source.written.replace("T", " ").replace("+00:00", " UTC"), 40)),
        ("audited code", code),
        ("pdpaudit", clip(ours, 40)),
        ("with", others),
        ("took", span(result.elapsed_s) if result.elapsed_s else ""),
        ("file, seed", f"{clip(source.name, 120)}, {result.seed}"),
    )
    return tuple(row for row in rows if row[1])
