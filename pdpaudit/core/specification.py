"""How a mechanism that was audited is made again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pdpaudit.core.claim import PrivacyClaim
    from pdpaudit.core.registry import Group


#: Fields that are texts, and what one is called in a file.
TEXTS, KEYS = ("python", "versions", "program", "observe", "relation"), {"program": "exec"}


@dataclass(frozen=True)
class Specification:
    """The name and the arguments of a mechanism, and how it was asked to be audited.

    ``python`` is the interpreter that makes it, ``program`` a program that is the mechanism, and
    ``versions`` what that other side is; ``beginning`` says that only how its output begins was
    looked at.
    """

    name: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    python: str | None = None
    versions: str | None = None
    program: str | None = None
    observe: str | None = None
    claimed: PrivacyClaim | None = None
    relation: str | None = None
    beginning: bool = False

    def to_json(self) -> dict[str, object]:
        """Return the JSON form, without what nobody asked for."""
        body: dict[str, object] = {"name": self.name, "parameters": dict(self.parameters)}
        for name in [one.name for one in fields(self)][2:]:
            if (value := getattr(self, name)) not in (None, False):
                body[KEYS.get(name, name)] = value
        if (claim := self.claimed) is not None:
            body["claimed"] = {**claim.to_json(), "source": claim.source}
        return body

    @classmethod
    def from_json(cls, body: Mapping[str, object]) -> Specification:
        """Return what a JSON form says; a wrong one raises as it likes."""
        from pdpaudit.core.claim import PrivacyClaim

        name, parameters, claim = body["name"], body["parameters"], body.get("claimed")
        if not (isinstance(name, str) and isinstance(parameters, Mapping)):
            raise TypeError("it has no name and parameters")
        if not (claim is None or isinstance(claim, Mapping)):
            raise TypeError(f"{claim!r} is no claim")
        return cls(
            name=name,
            parameters=parameters,
            **{name: _text(body, KEYS.get(name, name)) for name in TEXTS},
            claimed=None if claim is None else PrivacyClaim.from_json(claim),
            beginning=body.get("beginning") is True,
        )

    def names(self) -> Iterator[tuple[Group, str]]:
        """Yield the names that are looked up to make it."""
        for outside in (self.python, self.program):
            if outside is not None:
                yield "adapters", outside
        yield "mechanisms", self.name
        if isinstance(sop := self.parameters.get("sop"), str):
            yield "sops", sop


def _text(body: Mapping[str, object], key: str) -> str | None:
    value = body.get(key)
    if not (value is None or isinstance(value, str)):
        raise TypeError(f"{value!r} is no text")
    return value
