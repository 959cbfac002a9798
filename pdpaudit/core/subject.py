"""The mechanism under audit: whatever is asked of it is asked here, validated and timed.

And what to call what a program hands over, and how to make it again from the command line.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from numbers import Rational
from pathlib import Path
from types import FunctionType
from typing import Any, Literal, cast

import numpy as np

from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.domains import Domain
from pdpaudit.core.errors import Exhausted, InputError, Misbehaviour, located
from pdpaudit.core.network import Network
from pdpaudit.core.privacy_loss import ROUNDED
from pdpaudit.core.protocols import CodedOutputs, Law, LawUnavailable, Mechanism
from pdpaudit.core.registry import adapted, check_run, make_mechanism, make_sop
from pdpaudit.core.statistic import name_of
from pdpaudit.outputs import Unreadable, equal_is_same, flatten
from pdpaudit.outputs.records import JSON
from pdpaudit.sampling.guard import Guard

__all__ = [
    "LIMIT_S",
    "OwnPair",
    "Part",
    "Subject",
    "Variant",
    "as_law",
    "named_sop",
    "pairs_of",
    "promising",
    "specified",
    "unnamed_pairs",
]

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

#: No attribute of that name.
MISSING = object()

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
            mechanism = _made(mechanism)
        if inspect.isroutine(mechanism):
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
        several = getattr(self.mechanism, "claims", None)
        claims = (getattr(self.mechanism, "claim", None),) if several is None else several
        if not self.claims_something:
            raise InputError("it claims nothing; give it a claim = PrivacyClaim(epsilon, ...)")
        if not isinstance(claims, (tuple, list)) or not claims:
            raise InputError(
                f"its claims are {claims!r}; give it a tuple of PrivacyClaim(epsilon, ...)"
            )
        for claim in claims:
            if not isinstance(claim, PrivacyClaim):
                raise InputError(
                    f"it claims {claim!r}; give it a claim = PrivacyClaim(epsilon, ...)"
                )
        return tuple(claims)

    @property
    def claims_something(self) -> bool:
        """Whether it promises anything."""
        inner = self.mechanism
        if isinstance(inner, Subject):
            return inner.claims_something
        return any(getattr(inner, name, None) is not None for name in ("claims", "claim"))

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

    def specification(self, inner: dict[str, object]) -> dict[str, object]:
        """Return how to make it again, from how to make what it delegates to."""
        return inner

    def part(self, name: Part) -> Callable[..., object] | None:
        """Return an optional part of the mechanism, None where it has none."""
        inner = self.mechanism
        found = inner.part(name) if isinstance(inner, Subject) else getattr(inner, name, None)
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


class Variant(Subject):
    """The same mechanism with a claim, or with pairs, that are not its own."""

    def __init__(
        self,
        mechanism: object,
        *,
        claim: PrivacyClaim | None = None,
        pairs: Sequence[object] | None = None,
    ) -> None:
        super().__init__(Subject.of(mechanism))
        self._claim, self._pairs = claim, pairs
        self.default_samples = self.mechanism.default_samples

    @property
    def claims(self) -> tuple[PrivacyClaim, ...]:
        """The claim given, else its own."""
        return self.mechanism.claims if self._claim is None else (self._claim,)

    def specification(self, inner: dict[str, object]) -> dict[str, object]:
        """Return how to make it again: pairs that were given are known to nobody else."""
        if not inner or self._pairs is not None or self._claim is None:
            return inner if self._pairs is None else {}
        return {**inner, "claimed": {**self._claim.to_json(), "source": self._claim.source}}

    @property
    def relation(self) -> str:
        """Which inputs are neighbours: no relation where pairs were given."""
        return "" if self._pairs is not None else super().relation

    def part(self, name: Part) -> Callable[..., object] | None:
        """Return the part asked for; pairs are those given."""
        if name == "pairs" and self._pairs is not None:
            return self._given
        return super().part(name)

    def _given(self) -> Sequence[object] | None:
        return self._pairs


class _Function:
    """A bare function as a mechanism that claims nothing."""

    def __init__(self, function: Callable[..., object]) -> None:
        self.function = self.run = function

    @property
    def __name__(self) -> str:
        return str(getattr(self.function, "__name__", "function"))


def _made(factory: type) -> object:
    try:
        return factory()
    except TypeError as error:
        raise InputError(
            f"{factory.__qualname__} cannot be made without arguments ({error}); hand over an "
            "object"
        ) from None


def pairs_of(pairs: Callable[..., object]) -> list[OwnPair]:
    """Return the pairs that a mechanism's ``pairs`` gives, once they can be taken for pairs only.

    Raises
    ------
    InputError
        If they cannot be had, are none, or could be taken for something else.
    """
    try:
        found = pairs()
        given = list(cast("Iterable[object]", found))
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"its pairs() raised {located(error)}; {EXPECTED}") from None
    if not given:
        raise InputError(f"its pairs() gives none; {EXPECTED}")
    if isinstance(found, (str, bytes, np.ndarray, Mapping)):
        raise InputError(f"its pairs() gives a {type(found).__name__}; {EXPECTED}")
    read: list[OwnPair] = []
    for pair in given:
        if not isinstance(pair, (tuple, list)) or not (len(pair) == 2 or _is_named(pair)):
            raise InputError(f"its pairs() gives {_short(pair)}, which is no pair; {EXPECTED}")
        read.append((pair[0] if _is_named(pair) else "", *pair[-2:]))
    if type(found) is tuple and len(found) == 2 and not any(map(_is_named, given)):
        raise InputError(
            f"its pairs() gives {_short(found)}, which may be one pair of tuples or a tuple of two "
            f"pairs; {EXPECTED}"
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


def promising(
    subject: Subject,
    name: str,
    epsilon: float | None,
    delta: float | None,
    source: str,
    claim: PrivacyClaim | str | None = None,
) -> Subject:
    """Return the mechanism with the claim that is to be tested: one given, else its own.

    Raises
    ------
    InputError
        If there is none, or it is no claim.
    """
    if claim is not None:
        if epsilon is not None or delta is not None:
            raise InputError("claim: give it, or epsilon and delta, and not both")
        given = PrivacyClaim.parse(claim, source) if isinstance(claim, str) else claim
        if not isinstance(given, PrivacyClaim):
            given = adapted(given)  # of a library of claims
            if not isinstance(given, PrivacyClaim):
                raise InputError(f"claim: a {type(claim).__name__} is no claim that is known")
        return Variant(subject, claim=given)
    if epsilon is None and not subject.claims_something:
        more = " with delta=" if delta is not None else ", or a claim = PrivacyClaim(epsilon, ...)"
        raise InputError(f"{name}: it claims nothing; give it epsilon={more}")
    if epsilon is None and delta is None:
        return subject
    try:
        promised = subject.claim.epsilon if epsilon is None else epsilon
        return Variant(subject, claim=PrivacyClaim(promised, delta or 0.0, source=source))
    except (ValueError, TypeError) as error:
        raise InputError(str(error)) from None


def specified(given: object, base: Path) -> tuple[Subject, str, dict[str, object]]:
    """Return a mechanism, what to call it, and how to make it again from a folder.

    The last is empty where it cannot be made again: made inside a function, or of arguments that
    it does not keep under their own names.
    """
    if isinstance(given, str):
        mechanism, spec = make_mechanism(given, {})
        return Subject.of(mechanism), given, spec
    if isinstance(given, Subject):
        _, name, spec = specified(given.mechanism, base)
        return given, name, given.specification(spec)
    if isinstance(known := getattr(given, "specification", None), dict):
        return Subject(given), str(getattr(given, "title", type(given).__name__)), known
    if inspect.isroutine(given):
        name = getattr(given, "__name__", "function")
        check_run(given, name, "f(instance, rng)")
        return Subject(given), name, {}
    factory = given if inspect.isclass(given) else type(given)
    where = _place(factory, base)
    name = factory.__qualname__ if where is None else where
    subject = Subject(given)
    check_run(getattr(subject.mechanism, "run", None), name)
    parameters = None if where is None else _parameters(factory, subject.mechanism)
    return subject, name, {} if parameters is None else {"name": where, "parameters": parameters}


def named_sop(given: object, base: Path) -> tuple[str, str | None]:
    """Return what to call a statistic, and its name on the command line if it has one."""
    if isinstance(given, str):
        return given, given
    name = name_of(given)
    inner = getattr(given, "function", given)
    where = None
    if inspect.isclass(inner) or inspect.isfunction(inner):
        where = _place(inner, base, means=given)
    if where is None and not inspect.isclass(given):
        where = _registered(given, name)
        if where is None and _parameters(type(given), given) == {}:
            where = _place(type(given), base)
    return name, where


def _place(named: type | FunctionType, base: Path, means: object = None) -> str | None:
    """Return ``path/to/file.py:Name`` or ``module:Name``; None where that means something else."""
    name, module = named.__qualname__, sys.modules.get(named.__module__)
    wanted = named if means is None else means
    if "." in name or module is None or getattr(module, name, None) is not wanted:
        return None
    file = getattr(module, "__file__", None)
    if file is not None:
        path = Path(file).resolve()
        if path.is_relative_to(base.resolve()):
            return f"{path.relative_to(base.resolve())}:{name}"
    return None if module.__name__ == "__main__" else f"{module.__name__}:{name}"


def _parameters(factory: type, made: object) -> JSON | None:
    """Return the arguments that make an equal object; None where they are not known."""
    try:
        names = inspect.signature(factory).parameters
        arguments = {name: getattr(made, name, MISSING) for name in names}
        plain: dict[str, object] = {}
        for name, value in arguments.items():
            if isinstance(value, str | int | float | bool) or value is None:
                plain[name] = value
                continue
            registered = None if name != "sop" else _registered(value, name_of(value))
            if registered is None:
                return None
            plain[name] = registered
        again = factory(**arguments)
        same = vars(again) == vars(made) if hasattr(made, "__dict__") else again == made
    except Exception:  # whatever the author's own code raises: it just cannot be made again
        return None
    return plain if same is True else None


def _registered(sop: object, name: str) -> str | None:
    """Return the registered name of a statistic, if that makes an equal one."""
    try:
        known = make_sop(name)
    except InputError:
        return None
    if known is sop or (type(known) is type(sop) and getattr(known, "__dict__", 0) == vars(sop)):
        return name
    return None
