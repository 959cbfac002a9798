"""What ``replay`` runs again: pair, event and samples, certificate, where runs first differ."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Literal, get_args

from pdpaudit.core.specification import Specification
from pdpaudit.outputs.events import Event, event_from_json
from pdpaudit.outputs.records import JSON
from pdpaudit.results.files import Fields
from pdpaudit.results.pairs import NamedNetwork, NetworkPair, Pair, pair_from_json

#: Significant digits of an interval's ends.
DIGITS = 15

#: Characters of an interval's end, and powers of ten that it may be away from 1: a file with more
#: would be computed with for hours.
LONGEST_END, MOST_POWERS = 100, 10_000

#: What is said of a loss enclosed above its claim.
THEOREM = "this is a theorem about this pair"

#: What of two runs differs first: which statement comes next, a draw, an oracle call, a value or
#: the output.
Kind = Literal["line", "draw", "oracle", "value", "output"]

#: Runs that are compared at most.
MOST_RUNS = 10_000

#: Fields of events that differ in their threshold only.
THRESHOLDS = {"values", "threshold", "low", "high"}

Interval = tuple[Fraction, Fraction]

#: An interval's ends in decimal digits, rounded outward.
Ends = tuple[Decimal, Decimal]


@dataclass(frozen=True)
class Enclosure:
    """Both probabilities of an event, its loss, and how far that lies above the claim."""

    probability: Ends
    probability_other: Ends
    loss: Ends
    excess: Ends

    @property
    def proves(self) -> bool:
        """Whether the whole excess lies above 0: then the claim is false."""
        return self.excess[0] > 0

    def to_json(self) -> JSON:
        """Return the JSON form, ends as decimal strings."""
        return {key: [*map(str, getattr(self, key))] for key in self.__dataclass_fields__}

    @classmethod
    def from_json(cls, body: JSON) -> Enclosure:
        """Return the intervals of a JSON form."""
        return cls(*(_ends(body[key]) for key in cls.__dataclass_fields__))


@dataclass(frozen=True)
class Certificate:
    """What is proved of one pair and one event, in intervals."""

    outputs: frozenset[Hashable]
    enclosed: Enclosure

    def to_json(self) -> JSON:
        """Return the JSON form."""
        outputs = sorted((_listed(output) for output in self.outputs), key=repr)
        return {"outputs": outputs, **self.enclosed.to_json()}

    @classmethod
    def from_json(cls, body: JSON) -> Certificate:
        """Return the certificate of a JSON form."""
        outputs = frozenset(_hashable(output) for output in body["outputs"])
        return cls(outputs, Enclosure.from_json(body))


def printed(ends: Interval, digits: int = DIGITS) -> Ends:
    """Return decimals between which the interval lies, as narrow as the digits allow."""
    low, high = ends
    return (
        _rounded(low, Context(prec=digits, rounding=ROUND_FLOOR)),
        _rounded(high, Context(prec=digits, rounding=ROUND_CEILING)),
    )


def _rounded(value: Fraction, context: Context) -> Decimal:
    # Both integers are exact as Decimals, and a division is rounded once, as the context says.
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def _ends(pair: object) -> Ends:
    if not isinstance(pair, list) or not all(isinstance(end, str) for end in pair):
        raise TypeError(f"{pair!r} is no interval")
    if max(map(len, pair), default=0) > LONGEST_END:
        raise ValueError("the end of an interval has too many digits")
    low, high = map(Decimal, pair)
    sane = all(end.is_finite() and abs(end.adjusted()) <= MOST_POWERS for end in (low, high))
    if not (sane and low <= high):
        raise ValueError(f"{pair} is no interval")
    return low, high


def _listed(output: Hashable) -> object:
    return [_listed(item) for item in output] if isinstance(output, tuple) else output


def _hashable(value: object) -> Hashable:
    return tuple(_hashable(item) for item in value) if isinstance(value, list) else value


@dataclass(frozen=True)
class Bets:
    """How the bins between nested events are bet on; the first is inside the smallest event.

    ``ratios`` are the logarithms of u, ``stakes`` those on the divergence of the side where the
    events are likelier and on its mirror image, in units of ``power``, and ``split`` is what is
    moved between the sides.
    """

    order: float
    ratios: tuple[float, ...]
    stakes: tuple[float, float]
    split: float
    power: float


@dataclass(frozen=True)
class NestedBets:
    """Nested events, by their places in a list of events, and how their bins are bet on."""

    places: tuple[int, ...]
    bets: Bets

    def to_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"places": self.places, **asdict(self.bets)}

    @classmethod
    def from_json(cls, fields: Fields) -> NestedBets:
        """Return the bets of a JSON form, every field looked at."""
        one, other = fields.numbers("stakes", 2)
        bets = fields.make(Bets, ratios=fields.numbers("ratios"), stakes=(one, other))
        if not (bets.order > 1 and one >= 0 and other >= 0):
            raise fields.fail("stakes", "two that are not below 0, of an order above 1")
        return cls(fields.wholes("places"), bets)


@dataclass(frozen=True)
class AuditWitness:
    """All that the verdict on a claim follows from: mechanism, pair, event, streams and samples.

    ``ladder`` are events with another threshold, counted on the same runs; ``ends`` what all pairs
    lose at most, and the mass left out; ``known`` the counts that a sequential test's bets begin
    from.
    """

    mechanism: Specification | None
    claim: int
    pair: Pair
    event: Event
    method: str
    seed: int
    samples: int
    alpha: float | None = None
    ends: tuple[float, float] | None = None
    confidence: float | None = None
    single: bool | None = None
    detectable: float | None = None
    ladder: tuple[Event, ...] | None = None
    looks: tuple[int, ...] | None = None
    enough: bool | None = None
    known: tuple[int, ...] | None = None
    detect: float | None = None
    weighed: NestedBets | None = None
    unseeded: bool | None = None
    certificate: Certificate | None = None

    @property
    def file(self) -> JSON | None:
        """How the user's network is read, where the pair names it and does not write it out."""
        base = self.pair.base if isinstance(self.pair, NetworkPair) else None
        return base.file if isinstance(base, NamedNetwork) else None

    def to_json(self) -> JSON:
        """Return the JSON form; what is not known of this kind of verdict is left out."""
        event, ladder = self.event.to_json(), self.ladder
        forms = {
            "mechanism": {} if self.mechanism is None else self.mechanism.to_json(),
            "pair": self.pair.to_json(),
            "event": event,
            "ladder": None if ladder is None else [_change(event, one.to_json()) for one in ladder],
            "weighed": self.weighed and self.weighed.to_json(),
            "certificate": self.certificate and self.certificate.to_json(),
        }
        body = vars(self) | forms
        kept = {key: value for key, value in body.items() if value is not None or key == "alpha"}
        return {"kind": "audit", **kept}

    @classmethod
    def from_json(cls, fields: Fields) -> AuditWitness:
        """Return the witness of a JSON form, every field looked at."""
        body = fields.body
        ends = fields.numbers("ends", 2) if "ends" in body else None
        event = fields.read("event", "an event", event_from_json)
        ladder = tuple(_varied(event, one) for one in fields.records("ladder"))
        witness = fields.make(
            cls,
            mechanism=fields.read("mechanism", "how a mechanism is made", Specification.from_json)
            if fields.mapping("mechanism")
            else None,
            **{key: fields.whole(key) for key in ("claim", "seed", "samples")},
            pair=fields.read("pair", "a pair", pair_from_json),
            event=event,
            ends=None if ends is None else (ends[0], ends[1]),
            ladder=ladder if "ladder" in body else None,
            weighed=NestedBets.from_json(fields.inner("weighed")) if body.get("weighed") else None,
            certificate=fields.read("certificate", "a certificate", Certificate.from_json)
            if "certificate" in body
            else None,
        )
        if max(witness.looks or (0,)) > witness.samples:  # a replay would draw them all
            raise fields.fail("looks", f"a list of at most {witness.samples:,} runs each")
        return witness


def _change(event: JSON, other: JSON) -> dict[str, object]:
    """Return where an event differs from another."""
    return {key: value for key, value in other.items() if value != event[key]}


def _varied(event: Event, change: Fields) -> Event:
    """Return the event with another threshold."""
    if not change.body or not THRESHOLDS.issuperset(change.body):
        raise change.fail("threshold", "another threshold of the event")
    inner = Fields({"event": {**event.to_json(), **change.body}}, change.file, change.place)
    return inner.read("event", "an event", event_from_json)


@dataclass(frozen=True)
class Difference:
    """A statement where runs differ, in how many of them; ``ours`` is where the event is likelier.

    ``code`` is the statement's first line, ``ours`` and ``theirs`` are texts of what differs.
    """

    kind: Kind
    file: str
    line: int
    code: str
    runs: int
    ours: str = ""
    theirs: str = ""

    @classmethod
    def from_json(cls, fields: Fields) -> Difference:
        """Return the difference of a JSON form, every field looked at."""
        kind = fields.text("kind")
        if kind not in get_args(Kind):
            raise fields.fail("kind", f"one of {', '.join(get_args(Kind))}")
        return fields.make(cls, kind=kind)


@dataclass(frozen=True)
class FirstDifference:
    """The places where runs differ, first the one that explains most; none where nothing does."""

    runs: int
    places: tuple[Difference, ...] = ()

    @classmethod
    def from_json(cls, fields: Fields) -> FirstDifference:
        """Return the object of a JSON form, every field looked at."""
        runs = fields.count("runs")
        if not 0 < runs <= MOST_RUNS:
            raise fields.fail("runs", f"a count of at most {MOST_RUNS:,}")
        return cls(runs, tuple(map(Difference.from_json, fields.records("places"))))
