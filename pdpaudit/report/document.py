"""What a report says, before it is HTML or Markdown: a pure function of the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pdpaudit.report.attacking import attack_of, attack_table
from pdpaudit.report.composing import composition_of
from pdpaudit.report.exposed import KEY as EXPOSURE
from pdpaudit.report.exposed import ExposurePart, exposure_part
from pdpaudit.report.figures import count, nats, number, span
from pdpaudit.report.glossary import (
    AUDIT_TERMS,
    CHECK_TERMS,
    EXPOSURE_TERMS,
    SIMULATION_TERMS,
    STATUS_TERMS,
)
from pdpaudit.report.pictures.loss import Chances, LossChart, chances, loss_chart
from pdpaudit.report.pictures.pair import (
    PairPicture,
    draw_graph,
    draw_pair,
    draw_statistic_pair,
)
from pdpaudit.report.pictures.trade_off import TradeOff, trade_off
from pdpaudit.report.plaintext import clip
from pdpaudit.report.preface import Preface, preface_of
from pdpaudit.report.reading import Source
from pdpaudit.report.reproduce import command_of, listing_of, replay_of
from pdpaudit.report.simulated import KEY as SIMULATION
from pdpaudit.report.tables import Table, bounds_table, cell, grid_tables, table_of
from pdpaudit.report.telling_simulations import SimulationPart, simulation_part
from pdpaudit.report.words import NAMES_PEOPLE, VERDICT, claim_words, compared_words
from pdpaudit.results.results import SEVERITY, CheckResult, ClaimResult, Result, Status, worst

__all__ = ["CheckPart", "ClaimPart", "Document", "Finding", "Part", "Verdict", "compose"]

#: Claims and checks that get pictures of their own, the worst first.
MOST_PICTURES = 40

#: Claims in the picture of all.
MOST_ROWS = 60

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


@dataclass(frozen=True)
class ClaimPart:
    """One claim in a report."""

    anchor: str
    title: str
    claim: ClaimResult
    verdict: str
    words: str
    names: tuple[str, ...]
    facts: Table
    seen: Chances | None
    pair: PairPicture | None
    trade_off: TradeOff | None
    attack: Table | None = None

    @property
    def status(self) -> Status:
        """Of the claim."""
        return self.claim.status


@dataclass(frozen=True)
class CheckPart:
    """One check in a report, with its tables and its counterexample."""

    anchor: str
    title: str
    check: CheckResult
    verdict: str
    words: str
    declared: str
    observed: str
    tables: tuple[Table, ...]
    picture: PairPicture | None
    listing: str | None
    names: tuple[str, ...] = ()

    @property
    def status(self) -> Status:
        """Of the check."""
        return self.check.status

    @property
    def more(self) -> bool:
        """Whether there is more to show than fits a row of a table."""
        return bool(self.tables or self.picture or self.listing)

    @property
    def scope(self) -> str:
        """What was looked at: what is exact comes first, what was searched beyond it follows."""
        certain, semicolon, beyond = clip(self.check.scope, 500).partition(";")
        exact = ": exact" if certain and self.check.exact else ""
        return certain + exact + semicolon + beyond


@dataclass(frozen=True)
class Part:
    """One result in a report."""

    anchor: str
    title: str
    source: Source
    status: Status
    verdict: str
    lead: str
    claims: tuple[ClaimPart, ...]
    checks: tuple[CheckPart, ...]
    tried: Table | None
    tried_words: str
    budget: str
    composition: Table | None
    command: str
    replay: str | None
    made: str
    rest: tuple[Table, ...]
    preface: Preface | None = None
    simulation: SimulationPart | None = None
    exposure: ExposurePart | None = None

    @property
    def judged(self) -> bool:
        """Whether anything in it has a verdict."""
        return bool(self.claims or self.checks)


@dataclass(frozen=True)
class Finding:
    """One line of what was measured, where there is nothing to judge."""

    anchor: str
    title: str
    words: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """One line of the list of verdicts; it may stand for several checks that found nothing."""

    status: Status
    verdict: str
    subject: str
    anchor: str
    title: str
    words: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Document:
    """A whole report."""

    title: str
    status: Status
    lead: str
    counts: tuple[tuple[Status, str, int], ...]
    verdicts: tuple[Verdict, ...]
    chart: LossChart | None
    charted: tuple[tuple[Part, ClaimPart], ...]
    uncharted: int
    undrawn: int
    parts: tuple[Part, ...]
    terms: tuple[tuple[str, str], ...]
    preface: Preface | None = None
    findings: tuple[Finding, ...] = ()
    banner: str = ""


def compose(sources: Sequence[Source]) -> Document:
    """Return what a report of these results says."""
    drawn, undrawn = _worth_drawing(sources)
    parts = tuple(_part(i, source, drawn) for i, source in enumerate(sources, start=1))
    claims = [(part, one) for part in parts for one in part.claims]
    judged: list[ClaimPart | CheckPart] = []
    for part in parts:
        judged += [*part.claims, *part.checks]
    verdicts = [line for part in parts for line in _verdicts(part)]
    told = [item for item in claims if item[1].status not in ("skipped", "error")]
    # The worst are chosen, but shown in the order of the files.
    worst_first = sorted(told, key=lambda item: SEVERITY.index(item[1].status))
    chosen = {one.anchor for _, one in worst_first[:MOST_ROWS]}
    charted = tuple(item for item in told if item[1].anchor in chosen)
    tally = Counter(one.status for one in judged)
    terms = {VERDICT[s]: STATUS_TERMS[s] for s in SEVERITY if tally[s]}
    if claims:
        terms |= AUDIT_TERMS
    if any(part.checks for part in parts):
        terms |= CHECK_TERMS
    if any(part.simulation for part in parts):
        terms |= SIMULATION_TERMS
    if any(part.exposure for part in parts):
        terms |= EXPOSURE_TERMS
    return Document(
        title=parts[0].title if len(parts) == 1 else f"Privacy report on {len(parts)} results",
        status=worst(tally),
        lead=_whole_lead(parts, judged),
        counts=tuple((s, VERDICT[s], tally[s]) for s in SEVERITY if tally[s]),
        verdicts=tuple(sorted(verdicts, key=lambda line: SEVERITY.index(line.status))),
        chart=loss_chart([(one.claim, one.seen) for _, one in charted]) if charted else None,
        charted=charted,
        uncharted=len(told) - len(charted),
        undrawn=undrawn,
        parts=parts,
        terms=tuple(terms.items()),
        preface=parts[0].preface if len(parts) == 1 else None,
        findings=tuple(line for part in parts for line in _findings(part)),
        banner=NAMES_PEOPLE if any(s.result.context.get("names") for s in sources) else "",
    )


def _whole_lead(parts: Sequence[Part], judged: Sequence[ClaimPart | CheckPart]) -> str:
    if len(parts) == 1:
        return parts[0].lead
    measured = any(part.simulation or part.exposure for part in parts)
    return "Measurements, without a verdict." if measured and not judged else _lead(judged)


def _findings(part: Part) -> list[Finding]:
    """Return what was measured beside the verdicts, a line for each."""
    lines = []
    if part.simulation:
        lines += [
            Finding(f"{part.anchor}-search-{i}", one.title, one.words, part.simulation.names)
            for i, one in enumerate(part.simulation.searches, start=1)
        ]
    if part.exposure:
        told = part.exposure
        title = "How exposed each person is"
        lines.append(Finding(f"{part.anchor}-exposure", title, told.words, told.names))
    return lines


def _verdicts(part: Part) -> list[Verdict]:
    """Return a line for each claim and each check that found something, and one for the others."""
    subject = clip(part.source.result.subject)
    telling: list[ClaimPart | CheckPart] = [*part.claims]
    quiet: list[CheckPart] = []
    for check in part.checks:
        (telling if check.status in ("violated", "error", "inconclusive") else quiet).append(check)
    lines = [
        Verdict(one.status, one.verdict, subject, one.anchor, one.title, one.words, one.names)
        for one in telling
    ]
    if quiet:
        tally = Counter(one.verdict for one in quiet)
        status = worst(one.status for one in quiet)
        words = ", ".join(f"{times} {verdict}" for verdict, times in tally.items())
        others = "checks" if len(quiet) == len(part.checks) else "the other checks"
        anchor = f"{part.anchor}-checks"
        lines.append(Verdict(status, VERDICT[status], subject, anchor, others, words, ()))
    return lines


def _worth_drawing(sources: Sequence[Source]) -> tuple[set[tuple[int, str, int]], int]:
    """Return which claims and checks get pictures, and how many do not."""
    every: list[tuple[int, tuple[int, str, int]]] = []
    for i, source in enumerate(sources, start=1):
        found: dict[str, Sequence[ClaimResult | CheckResult]] = {
            "claim": source.result.claims,
            "check": source.result.checks,
        }
        for kind, ones in found.items():
            for place, one in enumerate(ones, start=1):
                if one.witness:
                    every.append((SEVERITY.index(one.status), (i, kind, place)))
    every.sort()
    return {key for _, key in every[:MOST_PICTURES]}, max(0, len(every) - MOST_PICTURES)


def _part(place: int, source: Source, drawn: set[tuple[int, str, int]]) -> Part:
    result = source.result
    anchor = f"r{place}"
    claims = tuple(
        _claim(f"{anchor}-claim-{i}", claim, result, (place, "claim", i) in drawn)
        for i, claim in enumerate(result.claims, start=1)
    )
    checks = tuple(
        _check(f"{anchor}-check-{i}", check, result.subject, (place, "check", i) in drawn)
        for i, check in enumerate(result.checks, start=1)
    )
    tried, tried_words, rest = _context(result.context)
    simulation = simulation_part(result.context, source.name)
    title = f"{TITLES.get(result.command, clip(result.command) + ':')} {clip(result.subject)}"
    command, replay = command_of(source), replay_of(source)
    preface = preface_of(result.context, source.name)
    if preface is not None:
        # Its tables tell what else was recorded.
        title, rest = clip(preface.title, 200), ()
        command, replay = preface.made or command, preface.replay or replay
    return Part(
        anchor=anchor,
        title=title,
        source=source,
        status=result.status,
        verdict=VERDICT[result.status],
        lead=simulation.lead
        if simulation and not claims and not checks
        else _lead([*claims, *checks]),
        claims=claims,
        checks=checks,
        tried=tried,
        tried_words=tried_words,
        budget=clip(str(result.context.get("error_budget", "")), 500),
        composition=composition_of(result),
        command=clip(command, LONGEST_COMMAND),
        replay=None if replay is None else clip(replay, LONGEST_COMMAND),
        made=_made(source),
        rest=rest,
        preface=preface,
        simulation=simulation,
        exposure=exposure_part(
            result.context,
            source.name,
            max((one.exact for one in result.claims if one.exact is not None), default=None),
        ),
    )


def _claim(anchor: str, claim: ClaimResult, result: Result, drawn: bool) -> ClaimPart:
    seen = chances(claim, len(result.claims))
    # Published claims are known by their number.
    name = [claim.id] if result.command == "claims" and claim.id else []
    witness = claim.witness or {}
    pair = witness.get("pair")
    pair = pair if isinstance(pair, Mapping) else claim.pair
    base = pair.get("base")
    base = base if isinstance(base, Mapping) else None
    judged = seen is not None and claim.status not in ("skipped", "error")
    return ClaimPart(
        anchor=anchor,
        title=clip(": ".join([*name, claim.statement or claim.id or "a claim"]), 120),
        claim=claim,
        verdict=VERDICT[claim.status],
        words=_words(claim),
        names=_names(pair, base),
        facts=_facts(claim, seen),
        seen=seen,
        pair=draw_pair(pair, base, claim.event) if drawn else None,
        trade_off=trade_off(
            claim.claimed["epsilon"], claim.claimed["delta"], seen, _attackers(claim)
        )
        if drawn and judged and seen
        else None,
        attack=attack_table(claim),
    )


def _attackers(claim: ClaimResult) -> tuple[tuple[float, float], ...]:
    """Return false alarms and misses of the attackers looked at, from never to always accusing."""
    attack = attack_of(claim)
    if attack is None:
        return ()
    return tuple((x, 1 - y) for x, y in ((0.0, 0.0), *attack.curve, (1.0, 1.0)))


def _words(claim: ClaimResult) -> str:
    """Say what was found; less where the file tells less."""
    try:
        words = claim_words(claim)
        return words[:1].upper() + words[1:]
    except (KeyError, TypeError, ValueError, ArithmeticError):
        found = nats(claim.lower_bound)
        return f"Lower bound {found}, claimed {nats(claim.claimed['epsilon'])}."


def _names(pair: Mapping[str, Any], base: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return the names a sentence about a pair may hold: of those it rewires, and of the event."""
    names = [pair.get("vertex_name")]
    for key in ("lost", "gained"):
        listed = pair.get(key)
        names += listed[:200] if isinstance(listed, list) else []
    listed = (base or {}).get("names")
    if isinstance(listed, list):
        names += listed if len(listed) <= 500 else []
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and name))


def _facts(claim: ClaimResult, seen: Chances | None) -> Table:
    """Return the numbers behind a verdict."""
    epsilon, delta = claim.claimed["epsilon"], claim.claimed["delta"]
    rows = [("claimed", f"ε = {nats(epsilon)}, δ = {number(delta, 3)}")]
    if claim.source:
        rows.append(("where", clip(claim.source, 300)))
    if claim.exact is not None:
        what = "exact loss" if "at_most" not in claim.event else "loss, at least"
        rows.append((what, nats(claim.exact)))
    elif claim.lower_bound is not None:
        sure = f" with confidence {number(claim.confidence)}" if claim.confidence else ""
        rows.append(("lower bound", nats(claim.lower_bound) + sure))
    runs = claim.event.get("runs_a_side")
    if seen is not None and claim.exact is None:
        open_ = nats(seen.highest_loss(delta))
        rows.append(("observed", f"{nats(seen.loss(delta))}, at most {open_} for this event"))
    if claim.event.get("words"):
        rows.append(("event", claim.event["words"]))
    if runs:
        x, y = claim.event["inside"], claim.event["inside_other"]
        told = f"{count(x)} against {count(y)}, of {count(runs)} each"
        rows.append(("runs with the event", told))
    elif seen is not None:
        rows.append(("probability", f"{number(seen.p, 6)} against {number(seen.q, 6)}"))
    if claim.exact is None and claim.detectable_epsilon is not None:
        rows.append(("would have detected", _detectable(claim.detectable_epsilon)))
    if any(claim.samples.values()):
        spent = ", ".join(f"{count(n)} for {clip(what)}" for what, n in claim.samples.items())
        rows.append(("draws", spent))
    if claim.detail:
        rows.append(("sampling", clip(claim.detail, 300)))
    if claim.method:
        rows.append(("method", clip(claim.method, 300)))
    family, network = claim.pair.get("family"), claim.pair.get("network")
    if family or network:
        place = " on ".join(clip(str(word), 200) for word in (family, network) if word)
        rows.append(("kind of pair", place))
    return Table("Numbers", ("quantity", "value"), tuple(rows))


def _detectable(epsilon: float) -> str:
    if epsilon == float("inf"):
        return "no loss, however large: too few draws"
    return f"a loss of {nats(epsilon)}, with probability 0.95"


def _check(anchor: str, check: CheckResult, subject: str, drawn: bool) -> CheckPart:
    tables: list[Table] = []
    if check.name in BOUNDS:
        table = bounds_table(check.declared, check.observed, BOUNDS[check.name])
        tables += [table] if table else []
    tables += grid_tables(check.observed, check.declared)
    witness = check.witness or {}
    picture = None
    if drawn:
        picture = draw_statistic_pair(witness) or draw_graph(witness)
    return CheckPart(
        anchor=anchor,
        title=clip(check.name, 120),
        check=check,
        verdict=VERDICT[check.status],
        words=clip(check.detail or check.scope, 1500),
        declared="see table" if tables else cell(check.declared),
        observed="see table" if tables else cell(check.observed),
        tables=tuple(tables),
        picture=picture,
        listing=listing_of(witness, subject) if drawn else None,
    )


def _context(context: Mapping[str, Any]) -> tuple[Table | None, str, tuple[Table, ...]]:
    """Return what was tried as a table and in words, and everything else that was recorded."""
    tried, words = None, ""
    told = context.get("tried")
    by = told.get("by") if isinstance(told, Mapping) else None
    if isinstance(by, Mapping):
        families: Counter[str] = Counter()
        grounds: dict[str, set[str]] = {}
        for label, times in by.items():
            family, _, ground = str(label).partition(" on ")
            families[family] += times if isinstance(times, int) else 1
            grounds.setdefault(family, set()).update({ground} if ground else ())
        rows = tuple(
            (clip(family), count(times), count(len(grounds[family]) or 1))
            for family, times in families.most_common(100)
        )
        every = set().union(*grounds.values())
        pairs = told.get("pairs") if isinstance(told, Mapping) else None
        pairs = pairs if isinstance(pairs, int) else sum(families.values())
        words = f"{count(pairs)} neighbouring pairs were tried"
        words += f" on {count(len(every))} networks." if len(every) > 1 else "."
        compared = compared_words(context)
        words += f" {compared}" if compared else ""
        tried = Table("Pairs tried", ("kind of pair", "pairs", "networks"), rows, numeric=True)
    rest = []
    for key, value in context.items():
        if key in ("tried", "error_budget", "law_compared", "names"):
            continue
        if value in (None, "", {}, []):
            continue
        if key in (SIMULATION, EXPOSURE) and isinstance(value, Mapping):
            continue  # has a section of its own
        heading = clip(str(key).replace("_", " "))
        table = table_of(value, heading) or Table(
            heading, ("what", "value"), ((heading, cell(value)),)
        )
        rest.append(table)
    return tried, words, tuple(rest)


def _made(source: Source) -> str:
    versions = ", ".join(f"{clip(k)} {clip(v)}" for k, v in list(source.versions.items())[:12])
    if not versions and not source.result.elapsed_s:
        return ""  # a published file leaves out what differs between runs
    took = span(source.result.elapsed_s)
    return f"Took {took}" + (f" with {versions}." if versions else ".")


def _lead(judged: Sequence[ClaimPart | CheckPart]) -> str:
    """Say the outcome in a sentence or two."""
    statuses = Counter(one.status for one in judged)

    def of(status: Status) -> str:
        """Return how many claims and how many checks have a status, of how many."""
        told = []
        for noun, kind in (("claim", ClaimPart), ("check", CheckPart)):
            every = [one.status for one in judged if isinstance(one, kind)]
            if status in every:
                some = f"{count(every.count(status))} of {count(len(every))} {noun}s"
                told.append(f"the {noun}" if len(every) == 1 else some)
        return " and ".join(told)

    def verb(status: Status) -> str:
        return "is" if statuses[status] == 1 else "are"

    if not judged:
        return "Nothing was judged."
    if statuses["violated"]:
        words = of("violated")
        return f"{words[0].upper()}{words[1:]} {verb('violated')} violated."
    if statuses["error"]:
        return f"No violation was found, but {of('error')} could not be judged for an error."
    if statuses["inconclusive"]:
        return (
            f"No violation was found, but {of('inconclusive')} {verb('inconclusive')} "
            "inconclusive: this run could hardly have found one there."
        )
    if statuses["not_rejected"]:
        return (
            "No violation was found. This is not a proof of privacy: see what was tried, and what "
            "would have been detected."
        )
    if statuses["certified"]:
        return "Everything looked at holds, throughout the ranges stated."
    return "Nothing was looked at."
