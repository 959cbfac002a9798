"""What a report says, before it is HTML or Markdown: a pure function of the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import groupby
from operator import itemgetter
from pathlib import PurePath

from pdpaudit.core.errors import InputError
from pdpaudit.core.privacy_loss import composition_table
from pdpaudit.report import blocks as b
from pdpaudit.report import findings as f
from pdpaudit.report import measured as m
from pdpaudit.report import sources as s
from pdpaudit.report.blocks import clip, count, nats, number, span, visible
from pdpaudit.report.charts import Loss, loss_chart, trade_off_chart
from pdpaudit.report.pair_drawing import draw_pair, draw_witness
from pdpaudit.results.files import STATUS_WORDS, is_number
from pdpaudit.results.pairs import InlineNetwork, NetworkPair, Pair
from pdpaudit.results.results import SEVERITY, CheckResult, ClaimResult, Result, Status, worst

#: Claims and checks that get pictures, the worst first.
MOST_PICTURES = 20

#: Kinds of pairs in the table of what was tried.
MOST_FAMILIES = 12

#: Characters of a command; nobody copies more.
LONGEST_COMMAND = 2000

#: Names that are looked for in a sentence.
MOST_NAMES = 500

#: Characters of a claim's title beside a chart.
LONGEST_TITLE = 34

#: δ of a composition where the audit names none.
DELTA = 1e-6

#: The optimal budget costs time linear in the rounds; nobody searches this often.
MOST_ROUNDS = 5_000

TITLES = {
    "audit": "Privacy audit of",
    "claims": "Claims of",
    "check": "Check of",
    "simulate": "Simulation of",
}

MEASURED = "Measured, without a verdict."

#: What has a place of its own in a report.
PLACED = ("names", s.KEY)


@dataclass(frozen=True)
class Document:
    """A whole report: what comes first, the sections, and the terms it uses."""

    title: str
    head: tuple[b.Block, ...]
    sections: tuple[b.Section, ...]
    terms: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Part:
    """One result in a report, with how each of its findings is shown."""

    anchor: str
    source: s.Source
    drawn: frozenset[int]
    alone: bool
    file: str = ""

    @property
    def result(self) -> Result:
        return self.source.result

    @cached_property
    def preface(self) -> s.Preface | None:
        return s.preface_of(self.result.context, self.source.name)

    @cached_property
    def simulation(self) -> m.Simulation | None:
        return m.simulation_in(self.result.context, self.source.name)

    @cached_property
    def mistakes(self) -> frozenset[str]:
        """Claims that nobody makes, which are there to be found violated."""
        entries = s.catalogue_of(self.result, self.source.name)
        return frozenset(one.text("id") for one in entries if one.body.get("mistake") is True)

    def made(self) -> list[ClaimResult | CheckResult]:
        """Return the findings on what somebody claims; all where nobody claims any."""
        every = list(self.result.findings)
        return [one for one in every if not self.mistaken(one)] or every

    def mistaken(self, one: ClaimResult | CheckResult) -> bool:
        """Say whether a finding is on a claim that nobody makes."""
        return isinstance(one, ClaimResult) and one.id in self.mistakes

    @property
    def title(self) -> str:
        if self.preface is not None:
            return clip(self.preface.title, 200)
        command = self.result.command
        return f"{TITLES.get(command, clip(command) + ':')} {self.subject}"

    @property
    def subject(self) -> str:
        """What it is about, and the file where another result is about the same."""
        return clip(self.result.subject) + (f" ({clip(self.file)})" if self.file else "")

    def beginning(self) -> list[b.Block]:
        """Return when and from what the result was made, and what it says of itself."""
        if self.preface is None:
            return [_made(self.source)]
        return [_made(self.source), *self.preface.text, *self.preface.sections(self.anchor)]

    def anchors(self) -> Iterator[tuple[str, ClaimResult | CheckResult]]:
        """Return each claim and check with where it is found."""
        for i, claim in enumerate(self.result.claims, start=1):
            yield f"{self.anchor}-claim-{i}", claim
        for i, check in enumerate(self.result.checks, start=1):
            yield f"{self.anchor}-check-{i}", check


def compose(sources: Sequence[s.Source]) -> Document:
    """Return what a report of at least one result says; O(size of the results)."""
    sources = [replace(one, result=s.with_largest(one.result, one.name)) for one in sources]
    found = [one for source in sources for one in source.result.findings]
    drawable = sorted((one for one in found if one.witness), key=_severity)
    drawn = frozenset(id(one) for one in drawable[:MOST_PICTURES])
    alike = Counter(source.result.subject for source in sources)
    files = [source.name if alike[source.result.subject] > 1 else "" for source in sources]
    parts = [
        _Part(f"r{i}", source, drawn, len(sources) == 1, file)
        for i, (source, file) in enumerate(zip(sources, files, strict=True), start=1)
    ]
    made = [one for part in parts for one in part.made()]
    status = worst(one.status for one in made)
    named = any(source.result.context.get("names") for source in sources)
    head = (
        b.Paragraph(f.NAMES_PEOPLE if named else "", kind="banner"),
        b.Paragraph(_totals(sources), status=status),
        b.Paragraph(_plain(parts, made), kind="lead"),
        b.Paragraph(f.measured_words(made), label="Claimed and measured:"),
        b.Paragraph(f.advice(status, made), label="What to do:"),
    )
    beginning = parts[0].beginning() if parts[0].alone else []
    sections = [_verdicts(parts, len(drawable) - len(drawn))]
    sections += [block for block in beginning if isinstance(block, b.Section)]
    shown = [block for block in beginning if not isinstance(block, b.Section)]
    return Document(
        title=parts[0].title if len(parts) == 1 else f"Privacy report on {len(parts)} results",
        head=(*(one for one in head if one.text), *shown),
        sections=tuple(section for section in (*sections, *map(_result, parts)) if section),
        terms=_terms(sources, {one.status for one in found}),
    )


def _totals(sources: Sequence[s.Source]) -> str:
    """Return the totals; a catalogue of published claims has its own, of what each came to."""
    first = sources[0]
    if len(sources) == 1 and isinstance(first.result.context.get("catalogue"), list):
        statuses: dict[bool, list[Status]] = {False: [], True: []}
        for one in s.catalogue_of(first.result, first.name):
            statuses[one.body.get("mistake") is True].append(one.status())
        tallies = zip(("claim", "common mistake"), statuses.values(), strict=True)
        return "; ".join(f.tally_words(*one) for one in tallies if one[1])
    return f.totals([one for source in sources for one in source.result.findings])


def _plain(parts: Sequence[_Part], found: Sequence[ClaimResult | CheckResult]) -> str:
    if found or not any(_has(part.source, "simulation", "exposure") for part in parts):
        return f.plain_words(worst(one.status for one in found), found)
    simulation = parts[0].simulation
    return m.lead_words(simulation) if simulation and parts[0].alone else MEASURED


def _has(source: s.Source, *keys: str) -> bool:
    return any(isinstance(source.result.context.get(key), Mapping) for key in keys)


def _terms(
    sources: Sequence[s.Source], statuses: Collection[Status]
) -> tuple[tuple[str, str], ...]:
    """Return the terms that a report uses, each with its meaning."""
    glossary = f.glossary()
    terms = {STATUS_WORDS[one]: glossary["status"][one] for one in SEVERITY if one in statuses}
    claims = [claim for source in sources for claim in source.result.claims]
    networks = any(isinstance(claim.pair, NetworkPair) for claim in claims)
    uses = {
        "networks": networks,
        "inputs": bool(claims) and not networks,
        "claims": bool(claims),
        "checks": any(source.result.checks for source in sources),
        "simulations": any(_has(source, "simulation") for source in sources),
        "exposure": any(_has(source, "exposure") for source in sources),
    }
    for kind, used in uses.items():
        terms |= glossary[kind] if used else {}
    return tuple(terms.items())


def _severity(one: ClaimResult | CheckResult) -> int:
    return SEVERITY.index(one.status)


def _judged(claim: ClaimResult) -> bool:
    """Whether a loss was measured and compared with the claim."""
    return claim.status not in ("skipped", "error")


def _claim_title(claim: ClaimResult, command: str) -> str:
    # Published claims are known by their number.
    name = [claim.id] if command == "claims" and claim.id else []
    return clip(": ".join([*name, claim.statement or claim.id or "a claim"]), 120)


def _verdicts(parts: Sequence[_Part], undrawn: int) -> b.Section | None:
    """Return a row for each claim and for each check that found something, and the losses."""
    rows: list[tuple[tuple[bool, int], tuple[b.Cell, ...]]] = []
    losses: list[tuple[int, Loss]] = []
    approximate = True
    for part in parts:
        of = "" if part.alone else part.subject
        for anchor, one in part.anchors():
            if isinstance(one, ClaimResult):
                title = _claim_title(one, part.result.command)
                values = f.claimed_words(one, plain=True), _measured(one)
                approximate &= one.promise.approximate
                if _judged(one) and one.promise.approximate:
                    # Beside the chart there is room for a name, and not for its folders.
                    whose = f" of {PurePath(of).name}" if of else ""
                    losses.append((_severity(one), _loss(one, f"{title}{whose}", part)))
            elif one.status in ("violated", "error", "inconclusive"):
                title, values = clip(one.name, 120), _cells(one)
                anchor = anchor if _more(one) else f"{part.anchor}-checks"
            else:
                continue
            cells = (b.Link(title, anchor, of), b.Badge(one.status), *values)
            rows.append(((part.mistaken(one), _severity(one)), cells))
    if not rows:
        return None
    unit = "Privacy loss ε in nats" if approximate else "Privacy loss in each claim's own unit"
    checked = any(part.result.checks for part in parts)
    caption = f"{unit}{'; of a check, what is declared and found' if checked else ''}"
    columns = ("claim", "verdict", "claimed", "measured")
    captions = {False: caption, True: s.MISTAKES}
    blocks: list[b.Block] = [
        b.Table(captions[mistake], columns, tuple(cells for _, cells in ranked), kind="verdicts")
        for mistake, ranked in groupby(sorted(rows, key=itemgetter(0)), lambda row: row[0][0])
    ]
    # The worst are chosen, but shown in the order of the files.
    places = sorted(sorted(range(len(losses)), key=lambda i: losses[i][0])[:MOST_PICTURES])
    charted = [losses[i][1] for i in places]
    if charted:
        chart = b.Picture("losses-chart", partial(loss_chart, charted))
        blocks.append(b.Pictures((chart,), "scroll"))
    if undrawn:
        drawn = f"Pictures are drawn of the {len(charted)} worst claims"
        blocks.append(b.Paragraph(f"{drawn}; {undrawn} claims and checks have none.", kind="note"))
    return b.Section("Verdicts", tuple(blocks), "verdicts")


def _measured(claim: ClaimResult) -> str:
    if claim.exact is not None:
        largest = f.least_true(claim)
        more = f"; {nats(largest)} without a witness" if largest > claim.exact else ""
        return f"{nats(claim.exact)} (exact){more}"
    return "-" if claim.lower_bound is None else f"at least {nats(claim.lower_bound)}"


def _loss(claim: ClaimResult, title: str, part: _Part) -> Loss:
    """Return a claim's row in the chart of losses."""
    exact, delta = claim.exact is not None, claim.promise.delta
    seen = None if exact else f.chances(claim, len(part.result.claims))
    line = " ".join(visible(title).split())
    return Loss(
        title=line if len(line) <= LONGEST_TITLE else f"{line[: LONGEST_TITLE - 1]}…",
        status=claim.status,
        claimed=claim.promise.value,
        low=claim.exact if exact else claim.lower_bound,
        estimate=seen.loss(delta) if seen else None,
        high=seen.highest_loss(delta) if seen else None,
        detectable=claim.detectable_epsilon,
        exact=exact,
    )


def _result(part: _Part) -> b.Section:
    """Return all that is shown of one result."""
    result, source, preface, simulation = part.result, part.source, part.preface, part.simulation
    blocks: list[b.Block | None] = []
    if not part.alone:
        if simulation:
            blocks.append(b.Paragraph(m.lead_words(simulation), simulation.names))
        blocks += part.beginning()
    if simulation:
        blocks += m.simulation_blocks(simulation, part.anchor)
    for anchor, one in part.anchors():
        if isinstance(one, ClaimResult):
            blocks.append(_claim(anchor, one, result, id(one) in part.drawn))
    most = max((one.exact for one in result.claims if one.exact is not None), default=None)
    made, replay = (preface.made, preface.replay) if preface else ("", "")
    blocks += [
        _checks(part),
        m.exposure_section(result.context, source.name, part.anchor, most),
        _tried(part),
        _composition(part),
        # The tables of a preface hold what else was recorded.
        None if preface is not None else _rest(part),
        _again(part.anchor, made or s.command_of(source), replay or s.replay_of(source)),
    ]
    heading = "In detail" if part.alone else part.title
    return b.Section(heading, tuple(block for block in blocks if block), part.anchor)


def _claim(anchor: str, claim: ClaimResult, result: Result, drawn: bool) -> b.Section:
    seen = f.chances(claim, len(result.claims))
    pair = claim.pair if claim.witness is None else claim.witness.pair
    names, pictures = _names(pair), []
    if drawn and (around := draw_pair(pair, claim.event.definition)):
        pictures.append(around.picture(anchor))
    if drawn and seen and _judged(claim):
        pictures.append(_trade_off(anchor, claim, seen))
    blocks: list[b.Block] = [b.Paragraph(found_words(claim), names, claim.status)]
    blocks += [b.Pictures(tuple(pictures))] if pictures else []
    facts = f.claim_facts(claim, seen)
    blocks.append(b.Table("Numbers", ("quantity", "value"), facts, names=names, kind="facts"))
    return b.Section(_claim_title(claim, result.command), tuple(blocks), anchor)


def _trade_off(anchor: str, claim: ClaimResult, seen: f.Chances) -> b.Picture:
    attack = f.attack_of(claim)
    curve = [(x, 1 - y) for x, y in ((0.0, 0.0), *attack.curve, (1.0, 1.0))] if attack else []
    draw = partial(trade_off_chart, claim.promise, seen, curve, kind=claim.status)
    return b.Picture(f"{anchor}-curve", draw, caption=f.trade_off_words(claim, seen))


def found_words(claim: ClaimResult) -> str:
    """Say what was found; less where the file holds less."""
    try:
        words = f.claim_words(claim)
        return words[:1].upper() + words[1:]
    except (KeyError, TypeError, ValueError, ArithmeticError):
        found = nats(claim.lower_bound)
        return f"Lower bound {found}, claimed {nats(claim.promise.value)}."


def _names(pair: Pair) -> tuple[str, ...]:
    """Return the names a sentence about a pair may hold: of those it rewires, and of the event."""
    if not isinstance(pair, NetworkPair):
        return ()
    everyone = (pair.base.names or ()) if isinstance(pair.base, InlineNetwork) else ()
    everyone = everyone if len(everyone) <= MOST_NAMES else ()
    names = [pair.vertex_name, *pair.lost[:MOST_NAMES], *pair.gained[:MOST_NAMES], *everyone]
    return tuple(dict.fromkeys(filter(None, names)))


def _checks(part: _Part) -> b.Section | None:
    """Return a row for each check, and below what does not fit a row."""
    rows, below = [], []
    for anchor, one in part.anchors():
        if isinstance(one, ClaimResult):
            continue
        words, scope, title = clip(one.detail, 1500), clip(one.scope, 500), clip(one.name, 120)
        more = _more(one)
        if more:
            blocks = b.Paragraph(words, status=one.status), *_check_blocks(anchor, one, part)
            below.append(b.Section(title, blocks, anchor))
        looked = ". ".join(filter(None, (scope, "" if more else words)))
        name = b.Link(title, anchor) if more else title
        rows.append((name, b.Badge(one.status), *_cells(one), looked))
    if not rows:
        return None
    columns = ("check", "verdict", "declared", "found", "looked at")
    table = b.Table("Checks, declared and found", columns, tuple(rows))
    return b.Section("The checks", (table, *below), f"{part.anchor}-checks")


def _cells(check: CheckResult) -> tuple[str, str]:
    """Return what is declared and what was found, as far as it fits a row."""
    if b.grid_tables(check):
        return "see table", "see table"
    return b.cell(check.declared), b.cell(check.observed)


def _more(check: CheckResult) -> bool:
    """Whether there is more to show of a check than fits a row."""
    return bool(check.witness or b.grid_tables(check))


def _check_blocks(anchor: str, check: CheckResult, part: _Part) -> list[b.Block]:
    """Return the counterexample of a check and its tables."""
    blocks: list[b.Block] = [*b.grid_tables(check)]
    if id(check) in part.drawn and check.witness:
        drawn = draw_witness(check.witness)
        listing = s.listing_of(check.witness, part.result.subject)
        code = b.Code("This shows it:", listing, "python") if listing else None
        if drawn or code:
            pictures = (drawn.picture(anchor),) if drawn else ()
            blocks.insert(0, b.Pictures(pictures, beside=code))
    return blocks


def _tried(part: _Part) -> b.Section | None:
    result = part.result
    rows, budget = f.tried_rows(result.tried), clip(result.error_budget, 500)
    compared = f.compared_words(result.law_compared).rstrip(".")
    said = (f.tried_words(result.tried) if rows else "", compared)
    remarks = tuple(f"Note: {clip(words, 1500)}." for words in result.remarks)
    if not (any(said) or budget or remarks):
        return None
    last = "Pairs and events were chosen before the verdict; what was not tried may leak more."
    words = ". ".join(filter(None, (*said, budget and f"Error budget: {budget}", last)))
    blocks: list[b.Block] = [b.Paragraph(words)]
    if len(rows) > 1:
        others = len(rows) - MOST_FAMILIES
        note = f"{others} more kinds of pairs are in the file." if others > 0 else ""
        shown = [(clip(family), count(many), count(on)) for family, many, on in rows]
        columns, shown_rows = ("family", "pairs", "networks"), tuple(shown[:MOST_FAMILIES])
        blocks.append(b.Table("Pairs tried", columns, shown_rows, note, numeric=True))
    blocks += [b.Points(remarks)] if remarks else []
    heading = "What was tried, and how sure this is"
    return b.Section(heading, tuple(blocks), f"{part.anchor}-tried")


def _composition(part: _Part) -> b.Section | None:
    """Return the budgets of a search for several components, where theorems speak of it."""
    epsilon, rounds = _rounds(part.result)
    if not (epsilon > 0 and 2 <= rounds <= MOST_ROUNDS):
        return None
    deltas = (one.promise.delta for one in part.result.claims)
    delta = next((value for value in deltas if value > 0), DELTA)
    try:
        bounds = composition_table(epsilon, rounds, delta)
    except InputError:
        return None
    rows = [
        {
            "form": bound.form,
            "budget": bound.formula,
            "ε": nats(bound.epsilon),
            "δ": number(bound.delta, 3),
            "condition": bound.condition if bound.proved else f"{bound.condition}: not met",
            "holds": "yes" if bound.valid else "no: too small for some mechanism",
            "source": bound.source,
        }
        for bound in bounds
    ]
    caption = f"{rounds} rounds of ε = {number(epsilon)} each, at δ = {number(delta, 3)}"
    note = b.Paragraph(
        "“Holds” says whether every composition of mechanisms of this ε keeps the budget: it must "
        "not lie below the optimal one.",
        kind="note",
    )
    blocks = b.records_table(rows, caption), note
    return b.Section("What the rounds cost together", blocks, f"{part.anchor}-composition")


def _rounds(result: Result) -> tuple[float, int]:
    """Return the loss of each round and how many there are; zeros where the file does not say."""
    for claim in result.claims:
        spec = claim.witness and claim.witness.mechanism
        known = spec.parameters if spec else {}
        epsilon, components = known.get("epsilon"), known.get("components")
        if is_number(epsilon) and type(components) is int:
            return float(epsilon), components - 1
    return 0.0, 0


def _rest(part: _Part) -> b.Section | None:
    """Return everything else that was recorded."""
    rest: list[b.Block] = []
    for key, value in part.result.context.items():
        own = key in ("simulation", "exposure") and isinstance(value, Mapping)
        if own or key in PLACED or value in (None, "", {}, []):
            continue
        rest.append(b.table_of(value, clip(str(key).replace("_", " "))))
    return b.Section("Also recorded", tuple(rest), f"{part.anchor}-rest") if rest else None


def _again(anchor: str, command: str, replay: str | None) -> b.Section:
    blocks = [b.Code("All numbers again:", clip(command, LONGEST_COMMAND))]
    if replay:
        label = "Only what was found, on its own pair and event:"
        blocks.append(b.Code(label, clip(replay, LONGEST_COMMAND)))
    return b.Section("Reproduce it", tuple(blocks), f"{anchor}-again")


def _made(source: s.Source) -> b.Table:
    """Say when and from what a result was made; a published file leaves out what differs."""
    result, versions = source.result, dict(source.versions)
    ours = versions.pop("pdpaudit", "")
    others = ", ".join(f"{clip(k)} {clip(v)}" for k, v in list(versions.items())[:12])
    commit = f"commit {clip(result.commit, 50)}" if result.commit else ""
    code = ", ".join(filter(None, (clip(result.source, 80), commit)))
    rows = (
        ("written", clip(source.written.replace("T", " ").replace("+00:00", " UTC"), 40)),
        ("run by", clip(source.by, 60)),
        ("audited code", code),
        ("pdpaudit", clip(ours, 40)),
        ("with", others),
        ("took", span(result.elapsed_s) if result.elapsed_s else ""),
        ("file, seed", f"{clip(source.name, 120)}, {result.seed}"),
    )
    kept = tuple(row for row in rows if row[1])
    return b.Table("About this result", ("what", "value"), kept, kind="facts")
