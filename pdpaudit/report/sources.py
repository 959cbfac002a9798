"""Result files as a report takes them in, and the commands that give their numbers again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from pdpaudit.core.errors import InputError
from pdpaudit.core.registry import needs_trust
from pdpaudit.results.fields import Fields
from pdpaudit.results.results import ClaimResult, Result, load

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
    words = ["pdpaudit", result.command, _asked(result)]
    if result.claims:
        words += _claim_options(result.claims[0], every="relations" in result.context)
    network = result.context.get("network")
    for place in (result.context.get("options"), network, _file_of(result.claims)):
        words += _options(place)
    words += ["--exposure"] if isinstance(result.context.get("exposure"), Mapping) else []
    words += ["--seed", str(result.seed), "--json", source.name]
    return shlex.join(words)


def _asked(result: Result) -> str:
    """Return what the command was asked to look at; a simulation's subject names its rival too."""
    options = result.context.get("options")
    against = options.get("against") if isinstance(options, Mapping) else None
    if result.command == "simulate" and isinstance(against, str):
        return result.subject.removesuffix(f" against {against}")
    return result.subject


def replay_of(source: Source) -> str | None:
    """Return the command that re-runs the witnesses of a result; None where it has none."""
    if not any(one.witness for one in source.result.findings):
        return None
    return replay_command(source.result, source.name)


def replay_command(result: Result, file: str) -> str:
    """Return the command that re-runs the witnesses in a file, and trusts the code they name."""
    trust = ["--trust"] if needs_trust(one.witness for one in result.findings) else []
    return shlex.join(["pdpaudit", "replay", file, *trust])


#: Arguments of mechanisms that have an option of their own.
MADE_WITH = ("epsilon", "delta", "components", "stop", "threshold", "noise", "sop")


def listing_of(witness: Mapping[str, object], subject: str) -> str | None:
    """Return Python that shows a check's counterexample; None where the witness is no such thing.

    Only whole numbers of the witness go into the program, so that it runs nothing from the file.
    """
    if len(subject) > LONGEST_OPTION:
        return None
    numbers = [witness.get("n")]
    lists = [witness.get("edges"), [witness.get("targets")]]
    if "left" in witness or "right" in witness:
        numbers += [witness.get("vertex"), witness.get("max_degree")]
        lists += [[witness.get("left")], [witness.get("right")]]
    if not all(isinstance(value, int) and not isinstance(value, bool) for value in numbers):
        return None
    for value in lists:
        if not isinstance(value, list):
            return None
        for row in value:
            if not isinstance(row, list) or not all(type(item) is int for item in row):
                return None
    # The checks take a second to load, and most reports show no counterexample.
    from pdpaudit.checks.witness import as_python

    try:
        return as_python(witness, subject)
    except (InputError, KeyError, TypeError):
        return None


def _claim_options(claim: ClaimResult, *, every: bool) -> list[str]:
    """Return the options of a claim, only how it is made where every relation was asked for."""
    witness = claim.witness or {}
    words = []
    mechanism = witness.get("mechanism")
    if isinstance(mechanism, Mapping):
        words += _made_with(mechanism.get("parameters"))
        keys = ("observe",) if every else ("observe", "relation")
        words += _options({key: mechanism.get(key) for key in keys})
        if "claimed" in mechanism:
            words += _options({"claim": claim.promise.text})
    if claim.exact is None and not every:
        more = ("method", "detect") if claim.promise.approximate else ()
        keys = ("samples", "confidence", *more)
        words += _options({key: witness.get(key) for key in keys})
    return words


def _made_with(parameters: object) -> list[str]:
    """Return the options that make a mechanism again: one of its own, or ``--with name=value``."""
    if not isinstance(parameters, Mapping):
        return []
    words = _options({key: value for key, value in parameters.items() if key in MADE_WITH})
    for key, value in parameters.items():
        text = value if isinstance(value, str) else repr(value)
        if key not in MADE_WITH and value is not None and len(text) <= LONGEST_OPTION:
            words += ["--with", f"{key}={text}"]
    return words


def _file_of(claims: tuple[ClaimResult, ...]) -> object:
    """Return how the user's network was read, where a witness tells."""
    for claim in claims:
        pair = (claim.witness or {}).get("pair")
        base = pair.get("base") if isinstance(pair, Mapping) else None
        if isinstance(base, Mapping) and isinstance(base.get("file"), Mapping):
            return base["file"]
    return None


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
