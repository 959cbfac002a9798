"""What an audit or a check found: frozen dataclasses with a versioned JSON form."""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import tempfile
from collections.abc import Iterable, Mapping, Set
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from pdpaudit.core.errors import InputError
from pdpaudit.io.files import open_file

__all__ = [
    "FORMAT",
    "CheckResult",
    "ClaimResult",
    "Result",
    "Status",
    "exit_status",
    "load",
    "save",
    "sealed",
    "unchanged",
    "versions",
    "worst",
    "write_bytes",
    "write_text",
]

FORMAT = "pdpaudit-result/1"

#: What a result's digest is not about: what differs from one run to the next, and itself.
UNSEALED = ("elapsed_s", "written", "digest")

Status = Literal["violated", "error", "inconclusive", "not_rejected", "certified", "skipped"]

#: From the worst down.
SEVERITY: tuple[Status, ...] = (
    "violated",
    "error",
    "inconclusive",
    "not_rejected",
    "certified",
    "skipped",
)


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one named check of a statistic.

    Attributes
    ----------
    name : str
        The check.
    status : Status
        ``violated``, ``certified``, ``not_rejected``, ``skipped`` or ``error``.
    declared, observed : float or mapping, optional
        What the author declared, and what was found.
    exact : bool
        Whether ``observed`` is exact over ``scope``.
    scope : str
        What was looked at.
    witness : mapping, optional
        A counterexample that ``replay`` re-runs.
    detail : str
        One sentence for a person.
    """

    name: str
    status: Status
    declared: Any = None
    observed: Any = None
    exact: bool = False
    scope: str = ""
    witness: Mapping[str, Any] | None = None
    detail: str = ""


@dataclass(frozen=True)
class ClaimResult:
    """The verdict on one privacy claim.

    Attributes
    ----------
    id, statement, source : str
        The claim, in words, and where it is made.
    status : Status
        The verdict.
    claimed : mapping
        ``epsilon`` (nats) and ``delta``.
    lower_bound : float, optional
        Lower confidence bound on ε at ``confidence``, or the exact loss where ``exact`` is given.
    exact : float, optional
        Exact ε of the pair, where the law is known.
    confidence : float, optional
        Of the whole command.
    method : str
        How the bound was found.
    event, pair : mapping
        What distinguishes the two networks, and the two networks; each with ``words``.
    samples : mapping
        Draws spent on discovery and on confirmation, both sides together.
    detectable_epsilon : float, optional
        The smallest ε this run would have detected with probability 0.95.
    witness : mapping, optional
        What ``replay`` needs.
    inference : mapping
        What the pair allows an attacker who tells the two networks apart by the output; see
        :mod:`pdpaudit.auditing.attack_metrics`. Empty where it is not known.
    detail : str
        One more sentence for a person: why sampling stopped.
    """

    id: str
    statement: str
    source: str
    status: Status
    claimed: Mapping[str, float]
    lower_bound: float | None = None
    exact: float | None = None
    confidence: float | None = None
    method: str = ""
    event: Mapping[str, Any] = field(default_factory=dict)
    pair: Mapping[str, Any] = field(default_factory=dict)
    samples: Mapping[str, int] = field(default_factory=dict)
    detectable_epsilon: float | None = None
    witness: Mapping[str, Any] | None = None
    inference: Mapping[str, Any] = field(default_factory=dict)
    detail: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form; what is not finite becomes a string."""
        plain: dict[str, Any] = _plain(_without_blanks(self))
        return plain


@dataclass(frozen=True)
class Result:
    """What one command found.

    Attributes
    ----------
    command, subject : str
        The command and what it looked at.
    seed : int
        The seed all randomness came from.
    elapsed_s : float
        Wall time in seconds.
    checks : tuple of CheckResult
        For ``check``.
    claims : tuple of ClaimResult
        For ``audit`` and ``claims``.
    context : mapping
        What else a report needs: the network read, what was tried, the error budget.
    source : str
        Digest of the source of what was looked at, and of the program; empty where not known.
    commit : str
        The git commit of the folder it came from; empty where there is none.
    """

    command: str
    subject: str
    seed: int
    elapsed_s: float
    checks: tuple[CheckResult, ...] = ()
    claims: tuple[ClaimResult, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    commit: str = ""

    @property
    def findings(self) -> tuple[ClaimResult | CheckResult, ...]:
        """The claims, and the checks."""
        return (*self.claims, *self.checks)

    @property
    def status(self) -> Status:
        """The worst of what is inside."""
        return worst(one.status for one in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Return the versioned JSON form; what is not finite becomes a string."""
        body: dict[str, Any] = {
            "format": FORMAT,
            "command": self.command,
            "subject": self.subject,
            "seed": self.seed,
            "versions": versions(),
            **({"source": self.source} if self.source else {}),
            **({"commit": self.commit} if self.commit else {}),
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "elapsed_s": round(self.elapsed_s, 3),
            "status": self.status,
        }
        if self.checks:
            body["checks"] = [asdict(check) for check in self.checks]
        if self.claims:
            body["claims"] = [_without_blanks(claim) for claim in self.claims]
        if self.context:
            body["context"] = dict(self.context)
        plain: dict[str, Any] = _plain(body)
        return sealed(plain)


def sealed(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON form of a result with the digest of all that does not change from run to run.

    It shows damage and careless edits. It is no signature: whoever forges a result can seal it
    again, so ``replay`` takes nothing on its word that can be computed.
    """
    return {**body, "digest": _digest(body)}


def unchanged(body: Mapping[str, Any]) -> bool | None:
    """Say whether a result is as it was when it was sealed; None where it never was."""
    return None if "digest" not in body else body["digest"] == _digest(body)


def _digest(body: Mapping[str, Any]) -> str:
    kept = {key: value for key, value in body.items() if key not in UNSEALED}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _without_blanks(claim: ClaimResult) -> dict[str, Any]:
    """Return the fields of a claim; what not every result has only where it says something."""
    body = asdict(claim)
    return {k: v for k, v in body.items() if v or k not in ("inference", "detail")}


def worst(statuses: Iterable[Status]) -> Status:
    """Return the worst status; ``skipped`` where there is none."""
    return min(statuses, key=SEVERITY.index, default="skipped")


def exit_status(status: Status, fail_on: str | None = None) -> int:
    """Return the exit status of a command: 1 for a violation, 2 for an error, else 0."""
    return 1 if status == fail_on else {"violated": 1, "error": 2}.get(status, 0)


def versions() -> dict[str, str]:
    """Return the versions a result depends on."""
    packages = ("pdpaudit", "numpy", "scipy", "networkx")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


def save(path: Path, body: Mapping[str, Any]) -> None:
    """Write JSON whole or not at all."""
    text = json.dumps(body, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_text(path, text)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all, as :func:`write_bytes` does."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{path}: cannot be written, a name in it is not valid Unicode ({error.reason}); "
            "mend the name"
        ) from None
    write_bytes(path, data)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, through a temporary file beside it.

    A link is followed; a pipe or device is written to as it is, for it cannot be replaced.
    """
    temporary = None
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            path.write_bytes(data)
            return
        real = path.resolve()
        handle, temporary = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, real)
        temporary = None
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror}); choose another path"
        ) from None
    finally:
        if temporary is not None:
            os.unlink(temporary)


def load(path: Path) -> dict[str, Any]:
    """Read the JSON form of a result.

    Raises
    ------
    InputError
        If the file is missing, is not JSON, or is not a result of this format.
    """
    try:
        with open_file(path) as file:
            start = file.read(1)
            body = json.loads(start + file.read() if start.isascii() and start > b"\0" else b"")
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder; name a result file in it") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; check the path") from None
    except (ValueError, RecursionError):  # bad encoding, bad syntax, endless numbers or nesting
        raise InputError(f"{path}: not JSON; give a file written with --json") from None
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise InputError(f"{path}: not a {FORMAT} file; give a file written with --json")
    return body


def _plain(value: Any) -> Any:
    """Turn numpy scalars, tuples and non-finite floats into what JSON has."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, str | bool | int) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, Set):
        # Strings hash anew in each process, so a set's own order would differ between two runs.
        return [_plain(item) for item in sorted(value, key=repr)]
    if isinstance(value, Iterable):
        return [_plain(item) for item in value]
    return str(value)
