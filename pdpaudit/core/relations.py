"""Which inputs of a mechanism are neighbours, chosen by whoever audits it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pdpaudit.core.domains import Domain
from pdpaudit.core.errors import ParameterError
from pdpaudit.core.network import Network
from pdpaudit.core.subject import Part, Subject, unnamed_pairs

__all__ = ["ALL", "EXPLICIT", "NETWORK_RELATIONS", "Related", "related", "relations_of"]

#: Relations of networks, of which a search is given one; the first is that of Kearns et al.
NETWORK_RELATIONS = ("protected", "protected-edge", "edge", "rewired")

#: The relation that a mechanism's own pairs are of, and what stands for all relations.
EXPLICIT, ALL = "explicit", "all"

#: Parts that say what a mechanism loses.
LOSSES = ("proved_bound", "largest_loss", "round_loss")


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

    def specification(self, inner: dict[str, object]) -> dict[str, object]:
        """Return how to make it again: a domain that was given is known to nobody else."""
        return {**inner, "relation": self._relation} if inner and self._given is None else {}


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
        raise ParameterError("relation", relation, f"its inputs know {', '.join(known)}{more}")
    return Related(subject, relation, domain)
