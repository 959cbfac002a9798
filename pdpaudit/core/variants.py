"""The same mechanism with another claim, pairs or relation, and how one is made again."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FunctionType

from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.domains import Domain
from pdpaudit.core.errors import InputError, ParameterError
from pdpaudit.core.network import Network
from pdpaudit.core.registry import adapted, check_run, make_mechanism, make_sop
from pdpaudit.core.specification import Specification
from pdpaudit.core.statistic import name_of
from pdpaudit.core.subject import Part, Subject, is_function, pairs_of, unnamed_pairs
from pdpaudit.outputs.records import JSON

#: No attribute of that name.
MISSING = object()

#: Relations of networks, of which a search is given one; the first is that of Kearns et al.
NETWORK_RELATIONS = ("protected", "protected-edge", "edge", "rewired")

#: The relation that a mechanism's own pairs are of, and what stands for all relations.
EXPLICIT, ALL = "explicit", "all"

#: Parts that say what a mechanism loses.
LOSSES = ("proved_bound", "largest_loss", "round_loss")


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
        self._claim = claim
        self._pairs = None if pairs is None else pairs_of(lambda: pairs, "pairs:")
        self.default_samples = self.mechanism.default_samples

    @property
    def claims(self) -> tuple[PrivacyClaim, ...]:
        """The claim given, else its own."""
        return self.mechanism.claims if self._claim is None else (self._claim,)

    def specification(self, inner: Specification | None) -> Specification | None:
        """Return how to make it again: pairs that were given are known to nobody else."""
        if self._pairs is not None:
            return None
        return replace(inner, claimed=self._claim) if inner and self._claim else inner

    @property
    def relation(self) -> str:
        """Which inputs are neighbours: no relation where pairs were given."""
        return "" if self._pairs is not None else super().relation

    def part(self, name: Part) -> Callable[..., object] | None:
        """Return the part asked for; pairs are those given."""
        if name == "pairs" and self._pairs is not None:
            return lambda: self._pairs
        return super().part(name)


class Related(Subject):
    """The same mechanism between the inputs that a relation calls neighbours."""

    def __init__(self, mechanism: object, relation: str, domain: Domain | Network | None) -> None:
        super().__init__(Subject.of(mechanism))
        self._relation, self._given = relation, domain
        self.default_samples = self.mechanism.default_samples

    @property
    def domain(self) -> Domain | Network | None:
        """What its inputs are: as given, else as its author says."""
        own: Domain | Network | None = self.mechanism.domain
        return own if self._given is None else self._given

    @property
    def relation(self) -> str:
        """The relation, empty for the mechanism's own pairs."""
        return "" if self._relation == EXPLICIT else self._relation

    def part(self, name: Part) -> Callable[..., object] | None:
        """Return the part asked for; pairs are those of the relation.

        What is proved or found of its loss is so for the neighbours that its author means.
        """
        if name in LOSSES and self._relation != relations_of(self.mechanism, self._given)[0]:
            return None
        if name != "pairs" or self._relation == EXPLICIT:
            return super().part(name)
        domain = self.domain
        return (
            partial(unnamed_pairs, domain, self._relation) if isinstance(domain, Domain) else None
        )

    def specification(self, inner: Specification | None) -> Specification | None:
        """Return how to make it again: a domain that was given is known to nobody else."""
        return inner and replace(inner, relation=self._relation) if self._given is None else None


def relations_of(mechanism: object, domain: Domain | Network | None = None) -> tuple[str, ...]:
    """Return the relations that a mechanism can be audited under, the default one first."""
    subject = Subject.of(mechanism)
    known = subject.domain if domain is None else domain
    own = (EXPLICIT,) if subject.has("pairs") and (known is None or subject.relation == "") else ()
    if isinstance(known, Domain):
        return (*own, *known.relations)
    return own or NETWORK_RELATIONS


def related(
    mechanism: object, relation: str | None, domain: Domain | Network | None = None
) -> Subject:
    """Return a mechanism under a relation: that asked for, else the first of its domain.

    Raises
    ------
    InputError
        If its inputs have no such relation.
    """
    subject = Subject.of(mechanism)
    if relation is None and domain is None:
        return subject
    if domain is not None and not isinstance(domain, Domain | Network):
        raise ParameterError("domain", repr(domain), "give one of pdpaudit.relations")
    known = relations_of(subject, domain)
    if relation is None:
        relation = next(one for one in known if one != EXPLICIT)
    if relation == "vertex" and known == NETWORK_RELATIONS:
        raise ParameterError(
            "relation",
            relation,
            "both networks of a search have the same people, whom its list names; rewired takes "
            "all ties from one of them, or gives any others",
        )
    if relation not in known:
        few = known == (EXPLICIT,)
        more = "; give it a domain of pdpaudit.relations to try others" if few else ""
        raise ParameterError("relation", relation, f"its inputs have {', '.join(known)}{more}")
    return Related(subject, relation, domain)


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
                bare = f"; write PrivacyClaim({claim!r})" * isinstance(claim, int | float)
                raise InputError(f"claim: a {type(claim).__name__} is no claim that is known{bare}")
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


def refuse_without_claim(mechanism: object, name: str) -> None:
    """Refuse a mechanism that promises nothing."""
    if not Subject.of(mechanism).claims_something:
        raise InputError(
            f"{name}: it claims nothing; give it a claim = PrivacyClaim(epsilon, ...), or `claim`, "
            "such as eps=1"
        )


def specified(given: object, base: Path) -> tuple[Subject, str, Specification | None]:
    """Return a mechanism, what to call it, and how to make it again from a folder.

    The last is None where it cannot be made again: made inside a function, or of arguments that
    it does not keep under their own names.
    """
    if isinstance(given, str):
        mechanism, made = make_mechanism(given, {})
        return Subject.of(mechanism), given, made
    if isinstance(given, Subject):
        _, name, spec = specified(given.mechanism, base)
        return given, name, given.specification(spec)
    if isinstance(known := getattr(given, "specification", None), Specification):
        return Subject(given), str(getattr(given, "title", type(given).__name__)), known
    if is_function(given):
        name = getattr(given, "__name__", "function")
        check_run(given, name, "f(instance, rng)")
        return Subject(given), name, None
    factory = given if inspect.isclass(given) else type(given)
    where = _place(factory, base)
    name = factory.__qualname__ if where is None else where
    subject = Subject(given)
    run = getattr(subject.mechanism, "run", None)
    if run is None and callable(subject.mechanism):
        raise InputError(f"{name}: it has no run(instance, rng); hand over its __call__ instead")
    check_run(run, name)
    parameters = None if where is None else _parameters(factory, subject.mechanism)
    return subject, name, None if parameters is None else Specification(name, parameters)


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
