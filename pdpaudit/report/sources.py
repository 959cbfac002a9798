"""Result files as a report takes them in: how to make them again, what published ones say first.

Under ``context.dossier`` a published result carries a title, how it was made, and sections of text,
tables and points. They are data like the rest of the file: a report shows them as text.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePath

from pdpaudit.core.errors import InputError
from pdpaudit.core.registry import Group, needs_trust
from pdpaudit.outputs import JSON
from pdpaudit.report.blocks import Block, Paragraph, Points, Section, Table
from pdpaudit.report.findings import claim_words, least_true
from pdpaudit.results.files import STATUS_WORDS, Fields, load, plain
from pdpaudit.results.measurements import KnownLoss
from pdpaudit.results.results import ClaimResult, Result, Status
from pdpaudit.results.witnesses import AuditWitness

#: Options longer than this are not written into a command.
LONGEST_OPTION = 500


@dataclass(frozen=True)
class Source:
    """One result, where it came from, when it was written and who ran the command."""

    name: str
    result: Result
    versions: Mapping[str, str] = field(default_factory=dict)
    written: str = ""
    by: str = ""


def read_source(path: Path) -> Source:
    """Read a result file."""
    return source_from_json(load(path), path.name)


def source_from_json(body: Mapping[str, object], name: str) -> Source:
    """Return what the JSON form of a result says."""
    fields = Fields(body, name, "")
    versions = {str(key): str(value) for key, value in fields.mapping("versions").items()}
    written, by = fields.text("written"), fields.text("by")
    return Source(name, Result.from_json(body, name), versions, written, by)


def command_of(source: Source) -> str:
    """Return the command that gives a result again."""
    result = source.result
    asked = result.context.get("options")
    against = asked.get("against") if isinstance(asked, Mapping) else None
    # A simulation's subject names its rival too.
    subject = result.subject.removesuffix(f" against {against}") if against else result.subject
    words = ["pdpaudit", result.command, subject]
    if result.claims:
        words += _claim_options(result.claims[0], every="relations" in result.context)
    files = (claim.witness.file for claim in result.claims if claim.witness)
    file = next((one for one in files if one is not None), None)
    for place in (asked, result.context.get("network"), file):
        words += _options(place)
    words += ["--exposure"] if isinstance(result.context.get("exposure"), Mapping) else []
    return shlex.join([*words, "--seed", str(result.seed), "--json", source.name])


def replay_of(source: Source) -> str | None:
    """Return the command that re-runs the witnesses of a result; None where it has none."""
    if not any(one.witness for one in source.result.findings):
        return None
    return replay_command(source.result, source.name)


def replay_command(result: Result, file: str) -> str:
    """Return the command that re-runs the witnesses in a file, and trusts the code they name."""
    names = (name for one in result.findings for name in _names(one.witness))
    trust = ["--trust"] if needs_trust(names) else []
    return shlex.join(["pdpaudit", "replay", file, *trust])


def _names(witness: AuditWitness | JSON | None) -> Iterator[tuple[Group, str]]:
    """Yield what is looked up to replay a witness."""
    if isinstance(witness, AuditWitness):
        yield from witness.mechanism.names() if witness.mechanism else ()
    elif witness is not None and isinstance(name := witness.get("specification"), str):
        yield ("functions" if "sides" in witness else "sops"), name


#: Arguments of mechanisms that have an option of their own.
MADE_WITH = ("epsilon", "delta", "components", "stop", "threshold", "noise", "sop")


def listing_of(witness: Mapping[str, object], subject: str) -> str | None:
    """Return Python that shows a check's counterexample; None where the witness is no such thing.

    Only whole numbers of the witness go into the program, so that it runs nothing from the file.
    """
    # The checks take a second to load, and most reports show no counterexample.
    from pdpaudit.checks.graphs import as_python

    try:
        return as_python(witness, subject) if len(subject) <= LONGEST_OPTION else None
    except InputError:
        return None


def _claim_options(claim: ClaimResult, *, every: bool) -> list[str]:
    """Return the options that make a mechanism again, and how its claim was judged.

    Where every relation was asked for, only the former: each has its own.
    """
    witness = claim.witness
    made = witness and witness.mechanism
    parameters = made.parameters if made else {}
    words = _options({key: value for key, value in parameters.items() if key in MADE_WITH})
    for key, value in parameters.items():
        text = value if isinstance(value, str) else repr(value)
        if key not in MADE_WITH and value is not None and len(text) <= LONGEST_OPTION:
            words += ["--with", f"{key}={text}"]
    if made:
        claimed = claim.promise.text if made.claimed else None
        relation = None if every else made.relation
        words += _options({"observe": made.observe, "relation": relation, "claim": claimed})
    if witness is not None and claim.exact is None and not every:
        keys = ("samples", "confidence", "method", "detect")
        fixed = keys if claim.promise.approximate else keys[:2]
        words += _options({key: getattr(witness, key) for key in fixed})
    return words


def _options(values: object) -> list[str]:
    """Return ``--key value`` for each value that can stand on a command line."""
    if not isinstance(values, Mapping):
        return []
    words = []
    for key, value in values.items():
        if key == "names" and value is True:
            words.append("--names")
        if isinstance(value, bool) or not isinstance(value, str | int | float | PurePath):
            continue
        text = repr(value) if isinstance(value, float) else str(value)
        name = str(key).replace("_", "-")
        if len(text) <= LONGEST_OPTION and name.replace("-", "").isalnum():
            words += [f"--{name}", text]
    return words


# Published results


#: Where a result's context holds it.
KEY = "dossier"

#: How a loss is known that no witness shows.
ELSEWHERE = "another pair, by exact laws, without a witness"

#: Heads the claims that are there to be found violated.
MISTAKES = "Common mistakes, which no publication claims"

#: Nobody reads more; what is longer is no dossier.
MOST_SECTIONS = 100

#: Significant digits of a published number: further ones may depend on the machine.
DIGITS = 8

#: What differs from one run, one machine or one version of the program to the next.
VOLATILE = ("elapsed_s", "versions", "written", "by", "source", "commit", "digest")


@dataclass(frozen=True)
class Preface:
    """What comes first; sections have their anchors where they are shown."""

    title: str
    text: tuple[Paragraph, ...]
    made: str
    replay: str
    parts: tuple[tuple[str, tuple[Block, ...]], ...]

    def sections(self, anchor: str) -> list[Section]:
        """Return its sections below an anchor."""
        parts = enumerate(self.parts, start=1)
        return [Section(title, blocks, f"{anchor}-section-{i}") for i, (title, blocks) in parts]


def section(
    heading: str,
    *,
    text: Sequence[str] = (),
    tables: Sequence[Table] = (),
    points: Sequence[str] = (),
) -> dict[str, object]:
    """Return a section in the form it has in a file, without what is empty."""
    bodies = [{k: v for k, v in asdict(table).items() if v or k == "rows"} for table in tables]
    body = {"heading": heading, "text": text, "tables": bodies, "points": points}
    return {key: plain(value) for key, value in body.items() if value}


def preface_of(context: Mapping[str, object], file: str) -> Preface | None:
    """Return what a result's context says before all else; None where it says nothing."""
    if KEY not in context:
        return None
    fields = Fields(context, file, "context.").inner(KEY)
    parts = fields.records("sections")
    if len(parts) > MOST_SECTIONS:
        raise fields.fail("sections", f"of at most {MOST_SECTIONS} sections")
    return Preface(
        title=fields.name("title"),
        text=tuple(Paragraph(words, coded=True) for words in fields.texts("text")),
        made=fields.text("made"),
        replay=fields.text("replay"),
        parts=tuple((part.name("heading"), tuple(_blocks(part))) for part in parts),
    )


def _blocks(part: Fields) -> Iterator[Block]:
    """Return the text, the tables and the points of a section."""
    for words in part.texts("text"):
        yield Paragraph(words, coded=True)
    for one in part.records("tables"):
        columns = one.texts("columns")
        if not columns:
            raise one.fail("columns", "a list of at least one text")
        found = (Fields({"rows": row}, one.file, one.place) for row in one.listed("rows"))
        rows = tuple(row.texts("rows", len(columns)) for row in found)
        numeric = one.body.get("numeric") is True
        yield Table(one.text("caption"), columns, rows, one.text("note"), numeric)
    points = part.texts("points")
    if points:
        yield Points(points)


def published(body: Mapping[str, object]) -> JSON:
    """Return a result without what differs from one run, or one machine, to the next."""
    return {key: _rounded(value) for key, value in body.items() if key not in VOLATILE}


def _rounded(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    return value


def catalogue_of(result: Result, file: str) -> list[Fields]:
    """Return the entries of a catalogue of published claims; none where a result has no list."""
    listed = isinstance(result.context.get("catalogue"), list)
    return Fields(result.context, file, "context.").records("catalogue") if listed else []


def with_largest(result: Result, file: str = "") -> Result:
    """Return a result whose claims say of a larger loss in its catalogue, if there is any."""
    known = {one.text("id"): one.number("largest") for one in catalogue_of(result, file)}
    claims = []
    for claim in result.claims:
        largest, law = known.get(claim.id), claim.event.law
        if largest is not None and law is not None:
            law = replace(law, largest_found=KnownLoss(largest, ELSEWHERE))
            claim = replace(claim, event=replace(claim.event, law=law))
        claims.append(claim)
    return replace(result, claims=tuple(claims))


def verdict_words(result: Result, name: str) -> list[str]:
    """Say what was found about one entry of the catalogue, a sentence or more for each finding."""
    claims = with_largest(result).claims
    words = [claim_words(claim) for claim in claims if claim.id == name]
    for check in result.checks:
        if check.name.split()[0] == name:
            scope = f" Over {check.scope}." if check.status == "certified" else ""
            words.append(f"{check.name}: {STATUS_WORDS[check.status]}.{scope} {check.detail}.")
    return words


def dossier(result: Result, command: str, replay: str) -> dict[str, object]:
    """Return what a report of published claims says before the verdicts, of published numbers."""
    result = Result.from_json(published(result.to_json()), "the dossier")
    context = result.context
    claims = {claim.id: claim for claim in with_largest(result).claims}
    entries = context["catalogue"]
    rows: dict[bool, list[tuple[str, ...]]] = {False: [], True: []}
    for one in entries:
        cells = _cells(one["status"], claims.get(one["id"]))
        rows[one.get("mistake", False)].append((one["id"], one["statement"], *cells))
    columns = ("", "claim", "claimed ε", "true: at least", "at most", "verdict")
    alone = f"{command.split(' --seed')[0]} --seed {result.seed} --select {entries[0]['id']}"
    tried = tuple((entry["id"], entry["source"], entry["tried"]) for entry in entries)
    verified = (
        "Witnesses and proofs are verified by code that shares nothing with the search and the "
        f"prover: `{replay}`. One claim alone: `{alone}`."
    )
    tables = [
        Table(caption, columns, tuple(rows[mistake]))
        for caption, mistake in (("Claimed and true loss", False), (MISTAKES, True))
        if rows[mistake]
    ]
    looked = Table("For each claim", ("", "where it is made", "tried"), tried)
    return {
        "title": context["paper"]["title"],
        "text": [f"{context['paper']['text']} Losses are in nats. Every verdict is computed."],
        "made": command,
        "replay": replay,
        "sections": [
            section("The claims", text=[verified], tables=tables),
            section("What was tried", tables=[looked]),
            *context.get("sections", ()),
            *(_composition(context) if "composition" in context else ()),
        ],
    }


def _cells(status: Status, claim: ClaimResult | None) -> tuple[str, ...]:
    """Return a claim's numbers."""
    claimed = least = most = proved = ""
    if claim is not None:
        slack = f", δ = {claim.promise.delta:g}" if claim.promise.delta else ""
        claimed = f"{claim.promise.value:.4g}{slack}"
        least = "" if claim.exact is None else f"{least_true(claim):.4f}"
        bound = None if claim.event.law is None else claim.event.law.proved_bound
        most = "" if bound is None else f"{bound.epsilon:.4f}"
        proved = "" if claim.event.proof is None else ", proved"
    return claimed, least, most, f"{STATUS_WORDS[status]}{proved}"


def composition_budgets(compared: Sequence[JSON]) -> Table:
    """Return what each theorem allows for m rounds of ε, and whether the paper's form is true."""
    rows = []
    for row in compared:
        paper = next(bound for bound in row["bounds"] if bound["form"] == "paper")
        says = "follows" if paper["proved"] else "holds" if paper["valid"] else "false"
        budgets = (f"{bound['epsilon']:.3f}" for bound in row["bounds"])
        rows.append(
            (f"{row['epsilon']:g}", str(row["rounds"]), f"{row['delta']:g}", *budgets, says)
        )
    forms = (bound["form"] for bound in compared[0]["bounds"])
    columns = ("ε", "m", "δ", *forms, "the paper's form")
    return Table("Budgets of m rounds of ε", columns, tuple(rows), numeric=True)


def _composition(context: JSON) -> list[dict[str, object]]:
    compared = context["composition"]
    columns = ("ε", "δ", "follows up to m", "holds up to m")
    ends = ("proved_up_to", "holds_up_to")
    rows = tuple(
        (f"{row['epsilon']:g}", f"{row['delta']:g}", *(_end(row[end]) for end in ends))
        for row in context["paper_form"]
    )
    caption = "Rounds up to which the paper's form follows, and holds"
    relied = Table(caption, columns, rows, numeric=True)
    allowed = (
        "What each theorem allows for m rounds of ε, beside the optimal composition (Kairouz, Oh "
        "and Viswanath). A budget below the optimal one is false for some mechanism."
    )
    where = (
        "It follows from the general form up to the one number of rounds, and holds, being no less "
        "than optimal, up to the other."
    )
    points = [
        f"{bound['form']}: `{bound['formula']}`; condition: {bound['condition']}."
        for bound in compared[0]["bounds"]
    ]
    budgets = [composition_budgets(compared)]
    return [
        section("Composition of m = k - 1 rounds", text=[allowed], tables=budgets, points=points),
        section("Where the paper's form may be relied on", text=[where], tables=[relied]),
    ]


def _end(rounds: int | None) -> str:
    return "all tried" if rounds is None else str(rounds)
