"""The mechanism under audit: whatever is asked of it is asked here, validated and timed."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from numbers import Rational, Real
from typing import Any, Literal

import numpy as np

from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.domains import Domain
from pdpaudit.core.errors import Exhausted, InputError, Misbehaviour, located
from pdpaudit.core.network import Network
from pdpaudit.core.privacy_loss import ROUNDED
from pdpaudit.core.protocols import CodedOutputs, Law, LawUnavailable, Mechanism
from pdpaudit.core.registry import configure
from pdpaudit.core.specification import Specification
from pdpaudit.outputs import Unreadable, equal_is_same, flatten
from pdpaudit.outputs.records import JSON
from pdpaudit.sampling.guard import Guard

#: All that a mechanism may have beside ``claim`` and ``run``; the protocols say what each is.
Part = Literal[
    "sample",
    "law",
    "pairs",
    "enclose",
    "enclose_again",
    "proved_bound",
    "largest_loss",
    "beginning",
    "search_round",
    "round_loss",
    "trajectories",
    "runs_elsewhere",
]

#: A pair of inputs that a mechanism brings: its name, empty where it has none, and two sides.
OwnPair = tuple[str, object, object]

#: Seconds after which an answer is taken never to come; laws of large networks take a minute.
LIMIT_S = 600.0

#: What probabilities may add up to beyond 1, or lack besides what a law says is missing.
ROUNDING = 1e-6

#: Characters of what others gave that are shown.
MOST_SHOWN = 60

#: What ``pairs()`` may give.
EXPECTED = 'give a list of pairs, each (left, right) or ("name", left, right)'


class Subject:
    """A mechanism under audit; another claim or another observable of it is one that delegates.

    A class is made without arguments, a bare function is a mechanism's ``run``.
    """

    #: Fresh samples a side for each claim, at most, where no number is asked for and no law helps.
    default_samples = 30_000

    def __init__(self, mechanism: object) -> None:
        if inspect.isclass(mechanism):
            mechanism = configure(mechanism, mechanism.__qualname__, {})
        if is_function(mechanism):
            mechanism = _Function(mechanism)
        self.mechanism: Any = mechanism

    @staticmethod
    def of(mechanism: object) -> Subject:
        """Return the mechanism as a subject, itself where it is one."""
        return mechanism if isinstance(mechanism, Subject) else Subject(mechanism)

    @property
    def origin(self) -> Mechanism:
        """What its author wrote."""
        inner: Mechanism = self.mechanism
        return inner.origin if isinstance(inner, Subject) else inner

    @property
    def title(self) -> str:
        """What to call it in a message."""
        origin = self.origin
        if isinstance(title := getattr(origin, "title", None), str):
            return title
        return origin.__name__ if isinstance(origin, _Function) else type(origin).__name__

    @property
    def repeatable(self) -> bool:
        """Whether the same random stream gives the same output again."""
        return bool(getattr(self.mechanism, "repeatable", True))

    @property
    def seedable(self) -> bool:
        """Whether all its randomness is of the generator it is given, as far as it says."""
        return bool(getattr(self.mechanism, "seedable", True))

    @property
    def representation(self) -> bool:
        """Whether the exact form of its numbers is looked at: which bits are set, how many digits.

        Noise drawn in floating point leaks by it, however it is scaled.
        """
        return bool(getattr(self.mechanism, "representation", False))

    @property
    def wording(self) -> JSON:
        """Words for what is observed, for :class:`pdpaudit.outputs.words.Vocabulary`."""
        words: JSON = getattr(self.mechanism, "wording", {})
        return words

    @property
    def claims(self) -> tuple[PrivacyClaim, ...]:
        """Everything it promises: ``claims`` where it has several, else ``claim``."""
        if isinstance(self.mechanism, Subject):
            return self.mechanism.claims
        several = _promise(self.mechanism, "claims")
        claims = (_promise(self.mechanism, "claim"),) if several is None else several
        if not self.claims_something:
            raise InputError("it claims nothing; give it a claim = PrivacyClaim(epsilon, ...)")
        if not isinstance(claims, (tuple, list)) or not claims:
            raise InputError(
                f"{self.title}: its claims are {_short(claims)}; give it a tuple of "
                "PrivacyClaim(epsilon, ...)"
            )
        for claim in claims:
            if not isinstance(claim, PrivacyClaim):
                bare = isinstance(claim, Real) and not isinstance(claim, bool)
                write = f"PrivacyClaim({claim!r})" if bare else "PrivacyClaim(epsilon, ...)"
                raise InputError(f"{self.title}: it claims {_short(claim)}; write {write}")
        return tuple(claims)

    @property
    def claims_something(self) -> bool:
        """Whether it promises anything."""
        inner = self.mechanism
        if isinstance(inner, Subject):
            return inner.claims_something
        return any(_promise(inner, name) is not None for name in ("claims", "claim"))

    @property
    def claim(self) -> PrivacyClaim:
        """The first thing it promises."""
        return self.claims[0]

    @property
    def domain(self) -> Domain | Network | None:
        """What its inputs are, where its author says so: ``domain`` or ``domain()``."""
        inner = self.mechanism
        if isinstance(inner, Subject):
            return inner.domain
        given = getattr(inner, "domain", None)
        given = given() if inspect.isroutine(given) else given
        if given is None or isinstance(given, Domain | Network):
            return given
        raise InputError(f"its domain is {_short(given)}; give one of pdpaudit.relations")

    @property
    def relation(self) -> str:
        """Which inputs are neighbours: that of its domain, empty where it brings its own pairs."""
        inner = self.mechanism
        if isinstance(inner, Subject):
            return inner.relation
        domain = None if callable(getattr(inner, "pairs", None)) else self.domain
        return domain.relations[0] if isinstance(domain, Domain) else ""

    def specification(self, inner: Specification | None) -> Specification | None:
        """Return how to make it again, from how to make what it delegates to."""
        return inner

    def part(self, name: Part) -> Callable[..., object] | None:
        """Return an optional part of the mechanism, None where it has none."""
        inner = self.mechanism
        found = inner.part(name) if isinstance(inner, Subject) else getattr(inner, name, None)
        if name == "pairs" and isinstance(found, list | tuple):
            raise InputError("its pairs are a list; write a method, def pairs(self): return [...]")
        if name == "pairs" and found is None and isinstance(self.domain, Domain):
            return partial(unnamed_pairs, self.domain, self.relation)
        return found if callable(found) else None

    def has(self, *names: Part) -> bool:
        """Say whether it has all of these parts."""
        return all(self.part(name) is not None for name in names)

    def run(self, instance: object, rng: np.random.Generator) -> Hashable:
        """Return one output."""
        output: Hashable = self.mechanism.run(instance, rng)
        return output

    @property
    def sample(self) -> Callable[..., object] | None:
        """What draws many outputs at once, None where nothing does."""
        return self.part("sample")

    @property
    def runs_elsewhere(self) -> Callable[..., object] | None:
        """What runs it many times one by one in another process, None where nothing does."""
        return self.part("runs_elsewhere")

    def ask(
        self, name: Part, *arguments: object, limit: float = LIMIT_S, until: float = math.inf
    ) -> object:
        """Call an optional part within a time limit; what it prints is swallowed."""
        asked = self.part(name)
        if asked is None:
            raise Misbehaviour(f"it has no {name}")
        with Guard(self, None, limit, until) as guard:
            try:
                return guard.call(f"its {name}", asked, *arguments)
            except (LawUnavailable, InputError, Misbehaviour):
                raise
            except MemoryError:
                raise Exhausted(f"its {name} needs more memory than there is") from None
            except (Exception, SystemExit) as error:
                raise Misbehaviour(f"its {name} raised {located(error)}") from error

    def law(self, instance: object, limit: float = LIMIT_S, until: float = math.inf) -> Law:
        """Return its output law on an instance, once it is seen to be one."""
        return as_law(self.ask("law", instance, limit=limit, until=until))

    def enclosure(
        self,
        name: Literal["enclose", "enclose_again"],
        instance: object,
        outputs: frozenset[Hashable],
    ) -> tuple[Fraction, Fraction]:
        """Return what it encloses the probability of outputs in, once that is an interval."""
        ends = self.ask(name, instance, outputs, limit=math.inf)
        if isinstance(ends, tuple) and len(ends) == 2:
            low, high = ends
            if isinstance(low, Rational) and isinstance(high, Rational) and low <= high:
                return Fraction(low), Fraction(high)
        raise Misbehaviour(f"its {name} answered with no interval of two fractions")

    def beginning(self, until: float = math.inf) -> Subject:
        """Return the shorter mechanism that it goes on from, with its law; else raise."""
        shorter = self.ask("beginning", until=until) if self.has("beginning") else None
        if shorter is None or not Subject.of(shorter).has("law"):
            raise LawUnavailable("the mechanism goes on from no shorter one that has a law")
        return Subject.of(shorter)

    def pairs(self) -> list[OwnPair]:
        """Return the pairs of inputs it brings.

        Raises
        ------
        InputError
            If they cannot be had, are none, or could be taken for something else.
        """
        own = self.part("pairs")
        if own is None:
            raise InputError("it brings no pairs of its own")
        return pairs_of(own)


def _promise(mechanism: object, name: str) -> object:
    """Return what a mechanism says that it claims; what fails in saying it is no silence."""
    try:
        return getattr(mechanism, name)
    except Exception as error:
        missing = isinstance(error, AttributeError)
        if missing and inspect.getattr_static(mechanism, name, None) is None:
            return None
        raise InputError(f"its {name} raised {located(error)}; give it a PrivacyClaim") from None


def is_function(given: object) -> bool:
    """Say whether something is called itself, and no object with a ``run``."""
    return inspect.isroutine(given) or isinstance(given, partial)


class _Function:
    """A bare function as a mechanism that claims nothing."""

    def __init__(self, function: Any) -> None:
        self.function = self.run = function

    @property
    def __name__(self) -> str:
        return str(getattr(self.function, "__name__", "function"))


def pairs_of(pairs: Callable[..., object], whose: str = "its pairs() gives") -> list[OwnPair]:
    """Return the pairs of a mechanism, or of a caller, once they can be taken for pairs only.

    Raises
    ------
    InputError
        If they cannot be had, are none, or could be taken for something else.
    """
    try:
        found = pairs()
        text = isinstance(found, (str, bytes, np.ndarray, Mapping))
        given = list(found) if isinstance(found, Iterable) and not text else None
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"its pairs() raised {located(error)}; {EXPECTED}") from None
    if given is None:
        raise InputError(f"{whose} {_short(found)}; {EXPECTED}")
    if not given:
        raise InputError(f"{whose} none; {EXPECTED}")
    read: list[OwnPair] = []
    for pair in given:
        if not isinstance(pair, (tuple, list)) or not (len(pair) == 2 or _is_named(pair)):
            raise InputError(f"{whose} {_short(pair)}, which is no pair; {EXPECTED}")
        read.append((pair[0] if _is_named(pair) else "", *pair[-2:]))
    if type(found) is tuple and len(found) == 2 and not any(map(_is_named, given)):
        raise InputError(
            f"{whose} {_short(found)}, which may be one pair of tuples or a tuple of two pairs; "
            f"{EXPECTED}"
        )
    return read


def unnamed_pairs(domain: Domain, relation: str) -> list[OwnPair]:
    """Return the pairs of a domain; what differs is their name."""
    found = [("", domain.form(one), domain.form(other)) for one, other in domain.pairs(relation)]
    if not found:
        raise InputError(f"{domain.words}: no two of them are neighbours under {relation}")
    return found


def _is_named(pair: object) -> bool:
    return isinstance(pair, (tuple, list)) and len(pair) == 3 and isinstance(pair[0], str)


def _short(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 3] + "..."


def as_law(law: object) -> Law:
    """Return what a mechanism answered, once it is seen to be a law."""
    if not isinstance(law, Law) or not isinstance(law.probabilities, Mapping):
        given = law.probabilities if isinstance(law, Law) else law
        raise Misbehaviour(
            f"its law is no Law of a mapping from outputs to probabilities, but {_kind(given)}"
        )
    for name in ("missing", "error", "work"):
        value = getattr(law, name)
        if not isinstance(value, (int, float, np.number)) or not 0.0 <= value < math.inf:
            raise Misbehaviour(f"its law says {name} = {value!r}, not a number of at least 0")
    try:
        values = np.fromiter(law.probabilities.values(), float, len(law.probabilities))
    except (TypeError, ValueError):
        raise Misbehaviour("its law gives probabilities that are not numbers") from None
    wrong = ~((values >= 0.0) & (values <= 1.0 + ROUNDING))
    if wrong.any():
        output = list(law.probabilities)[int(np.argmax(wrong))]
        raise Misbehaviour(
            f"its law gives {output!r} the probability {float(values[np.argmax(wrong)]):.6g}"
        )
    total = float(values.sum())
    lacking = 1.0 - total
    if not 1.0 - float(law.missing) - ROUNDING <= total <= 1.0 + ROUNDING:
        raise Misbehaviour(f"its law gives probabilities that add up to {total:.6g}, not 1")
    try:
        listed = law.probabilities
        # Coded outputs are read where they are looked at.
        known = isinstance(listed, CodedOutputs) or equal_is_same(listed)
        for output in () if known else listed:
            flatten(output)
    except Unreadable as error:
        raise Misbehaviour(f"its law lists {error}") from None
    # Whatever the probabilities lack may be outputs that are left out, so it counts as missing.
    return law if lacking <= law.missing + ROUNDED else replace(law, missing=lacking)


def _kind(given: object) -> str:
    return "None" if given is None else f"a {type(given).__name__}"
