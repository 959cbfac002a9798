"""What was measured of a claim: by one event, and of the attackers that accuse by such events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TypeAlias

from pdpaudit.outputs.events import Event, Side, event_from_json
from pdpaudit.outputs.records import JSON
from pdpaudit.results.files import Fields, given
from pdpaudit.results.witnesses import THEOREM, Enclosure

#: Nobody draws this often, and counts below it are exact as floats.
MOST_RUNS = 10**15

#: Points of a curve: those along it, and the values there.
Curve: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class Family:
    """How many pairs of a family were tried on a network; other inputs have no network."""

    family: str
    network: str
    pairs: int

    @property
    def label(self) -> str:
        """What pairs of the family are counted under."""
        return f"{self.family} on {self.network}" if self.network else self.family


@dataclass(frozen=True)
class Tried:
    """How many pairs an audit looked at: by label and, where it is known, by family."""

    pairs: int
    by: Mapping[str, int]
    families: tuple[Family, ...] | None = None

    def to_json(self) -> dict[str, object]:
        """Return the JSON form."""
        rows = None if self.families is None else [*map(asdict, self.families)]
        return given(pairs=self.pairs, by=dict(self.by), families=rows)

    @classmethod
    def from_json(cls, fields: Fields) -> Tried:
        """Return the numbers of a JSON form, every field looked at."""
        by = fields.inner("by")
        families = tuple(one.make(Family) for one in fields.records("families"))
        counts = {label: by.count(label) for label in by.body}
        return fields.make(cls, by=counts, families=families if "families" in fields.body else None)


@dataclass(frozen=True)
class LawComparison:
    """On how many runs of how many pairs a law was tested, and what that would have shown.

    ``deviation`` is by how much a probability must be off to be seen; ``which`` counts the pairs
    by label, where a result has that.
    """

    pairs: int
    runs_a_side: int
    deviation: float
    which: Mapping[str, int] | None = None

    def to_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return given(**vars(self))

    @classmethod
    def from_json(cls, fields: Fields) -> LawComparison:
        """Return the comparison of a JSON form, every field looked at."""
        which = fields.inner("which")
        counts = {label: which.count(label) for label in which.body}
        return fields.make(cls, which=counts or None)


@dataclass(frozen=True)
class Counts:
    """How many fresh runs fell into an event, where it is likelier and on the other side."""

    inside: int
    inside_other: int
    runs_a_side: int

    @classmethod
    def from_json(cls, fields: Fields) -> Counts | None:
        """Return the counts of a JSON form; None where it has none."""
        keys = ("inside", "inside_other", "runs_a_side")
        if not any(key in fields.body for key in keys):
            return None
        inside, other, runs = map(fields.whole, keys)
        for key, value in zip(keys, (inside, other, runs), strict=True):
            if not 0 <= value <= runs < MOST_RUNS:
                raise fields.fail(key, "a count of runs")
        return cls(inside, other, runs)


@dataclass(frozen=True)
class KnownLoss:
    """A loss that is known of a mechanism, and how."""

    epsilon: float
    words: str


@dataclass(frozen=True)
class AtMost:
    """What no pair tried loses more than, and the probability that its laws leave out."""

    epsilon: float
    left_out: float


@dataclass(frozen=True)
class EventLaw:
    """Both exact probabilities of an event, and what else follows from the laws of its pair.

    ``left_out`` is the probability that the laws leave out, ``excess`` how far the trade-off curve
    falls below the claimed one, ``hockey_stick`` δ at each ε, ``trade_off`` the rates of false
    negatives at those of false positives.
    """

    probability: float
    probability_other: float
    left_out: float | None = None
    at_most: AtMost | None = None
    largest_found: KnownLoss | None = None
    proved_bound: KnownLoss | None = None
    excess: float | None = None
    hockey_stick: Curve | None = None
    trade_off: Curve | None = None

    def to_json(self) -> JSON:
        """Return the JSON form, without what is not known."""
        body = given(**vars(self))
        for key in body.keys() & {"at_most", "largest_found", "proved_bound"}:
            body[key] = vars(body[key])
        for key in body.keys() & CURVES.keys():
            body[key] = dict(zip(CURVES[key], getattr(self, key), strict=True))
        return body

    @classmethod
    def from_json(cls, fields: Fields) -> EventLaw | None:
        """Return the law of a JSON form; None where it has none."""
        ours, theirs = fields.share("probability"), fields.share("probability_other")
        if ours is None or theirs is None:
            return None
        return fields.make(
            cls,
            probability=ours,
            probability_other=theirs,
            at_most=fields.optional("at_most", AtMost),
            largest_found=fields.optional("largest_found", KnownLoss),
            proved_bound=fields.optional("proved_bound", KnownLoss),
            **{key: _curve(fields, key, *names) for key, names in CURVES.items()},
        )


#: What the values of a curve are called in a file.
CURVES = {"hockey_stick": ("epsilon", "delta"), "trade_off": ("false_alarm", "miss")}


def _curve(fields: Fields, key: str, along: str, value: str) -> Curve | None:
    inner = fields.inner(key)
    if not inner.body:
        return None
    xs = inner.numbers(along)
    return xs, inner.numbers(value, len(xs))


@dataclass(frozen=True)
class ClaimEvent:
    """The event that a claim is judged by, in words, and what was measured of it.

    ``proof`` encloses its loss; ``unproved`` says why nothing does, where that was asked for.
    """

    words: str = ""
    definition: Event | None = None
    counts: Counts | None = None
    law: EventLaw | None = None
    proof: Enclosure | None = None
    unproved: str = ""

    def to_json(self) -> JSON:
        """Return the JSON form; empty where nothing is known."""
        if self == ClaimEvent():
            return {}
        proof = None if self.proof is None else {**self.proof.to_json(), "words": THEOREM}
        return {
            **({} if self.definition is None else self.definition.to_json()),
            "words": self.words,
            **({} if self.counts is None else vars(self.counts)),
            **({} if self.law is None else self.law.to_json()),
            **given(proof=proof, unproved=self.unproved or None),
        }

    @classmethod
    def from_json(cls, fields: Fields) -> ClaimEvent:
        """Return the event of a JSON form, every field looked at."""
        defined = Fields({"event": fields.body}, fields.file, fields.place.removesuffix("event."))
        known, proved = "feature" in fields.body, "proof" in fields.body
        return fields.make(
            cls,
            definition=defined.read("event", "an event", event_from_json) if known else None,
            counts=Counts.from_json(fields),
            law=EventLaw.from_json(fields),
            proof=fields.read("proof", "a proof", Enclosure.from_json) if proved else None,
        )


@dataclass(frozen=True)
class Rate:
    """What attackers attain, no less than what with confidence, and what the claim allows."""

    attained: float
    allowed: float
    at_least: float | None = None

    def to_json(self) -> JSON:
        """Return the JSON form."""
        return given(attained=self.attained, at_least=self.at_least, allowed=self.allowed)

    @classmethod
    def from_json(cls, fields: Fields) -> Rate:
        """Return the rates of a JSON form."""
        attained, allowed = (
            fields.required(key, fields.share(key)) for key in ("attained", "allowed")
        )
        return cls(attained, allowed, fields.share("at_least"))


@dataclass(frozen=True)
class AttackMetrics:
    """How well an attacker tells the two networks of a pair apart by an output.

    ``side`` is where it accuses, ``advantage`` TPR - FPR, ``roc`` the rates of true positives at
    those of false ones, ``limits`` what both are with ``confidence``, where runs were counted.
    """

    side: Side
    advantage: Rate
    low_fpr: float
    tpr_at_low_fpr: Rate
    roc: Curve
    confidence: float | None = None
    limits: Curve | None = None

    def to_json(self) -> JSON:
        """Return the JSON form."""
        limits = {} if self.limits is None else dict(zip(LIMITS, self.limits, strict=True))
        return given(
            side=self.side,
            exact=self.limits is None,
            confidence=self.confidence,
            advantage=self.advantage.to_json(),
            tpr_at_low_fpr={"fpr": self.low_fpr, **self.tpr_at_low_fpr.to_json()},
            roc={"fpr": self.roc[0], "tpr": self.roc[1], **limits},
        )

    @classmethod
    def from_json(cls, fields: Fields) -> AttackMetrics | None:
        """Return the metrics of a JSON form; None where it has none."""
        if not fields.body:
            return None
        low, roc = fields.inner("tpr_at_low_fpr"), fields.inner("roc")
        side: Side = "right" if fields.text("side") == "right" else "left"
        for key in roc.body:
            if not all(0 <= rate <= 1 + 1e-9 for rate in roc.numbers(key)):
                raise roc.fail(key, "a list of rates")
        return cls(
            side,
            Rate.from_json(fields.inner("advantage")),
            low.required("fpr", low.share("fpr")),
            Rate.from_json(low),
            fields.required("roc", _curve(fields, "roc", "fpr", "tpr")),
            fields.share("confidence"),
            _curve(fields, "roc", *LIMITS) if LIMITS[0] in roc.body else None,
        )


#: What the limits of a curve of attackers are called in a file.
LIMITS = ("fpr_at_most", "tpr_at_least")
