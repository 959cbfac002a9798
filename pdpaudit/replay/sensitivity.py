"""Run the counterexample of a declared sensitivity again."""

from __future__ import annotations

from pdpaudit.checks.sensitivity import FORMAT, Question, broken_words
from pdpaudit.core.errors import InputError, described
from pdpaudit.core.graphs import Graph
from pdpaudit.core.registry import Find
from pdpaudit.replay.claims import Replay
from pdpaudit.results.results import CheckResult
from pdpaudit.sampling.encoding import decode

__all__ = ["replay_sensitivity"]


def replay_sensitivity(check: CheckResult, find: Find) -> Replay:
    """Call a function on both sides of its counterexample, and compare with what is shown."""
    witness = check.witness or {}
    try:
        if witness.get("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        if not witness.get("specification"):
            raise InputError("the witness does not name its function; check again with --json")
        function = find("functions", witness["specification"])
        question = Question.of(function, witness["relation"], None, witness["sensitivity"])
        left, right = (_input(side) for side in witness["sides"])
        words = broken_words(question, (left, right))
        broken = question.excess((left, right)) > 0
        declared = question.allowed((left, right))
    except InputError as error:
        raise InputError(f"{check.name}: {error}") from None
    except Exception as error:  # whatever a field that was tampered with leads to
        raise InputError(
            f"{check.name}: its witness is damaged ({described(error)}); check again"
        ) from None
    if not broken:
        return Replay(check.name, False, f"{words}: that is within what is declared")
    if (
        check.status != "violated"
        or check.declared != declared
        or not check.detail.startswith(words)
    ):
        return Replay(check.name, False, f"{words}, which is not what is shown")
    return Replay(check.name, True, words)


def _input(written: str) -> object:
    """Return a side of a pair; a graph is its number of vertices and its ties."""
    value = decode(written.encode("ascii"))
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], tuple):
        return Graph(value[0], value[1])
    return value
