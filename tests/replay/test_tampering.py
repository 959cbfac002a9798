"""Whoever changes a result is found out: by recomputing it, not by its digest alone."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pdpaudit.auditing.config import BUDGETS
from pdpaudit.auditing.provenance import source_digest
from pdpaudit.core.errors import InputError
from pdpaudit.results.files import load, sealed, unchanged

from .conftest import KINDS, Body, audited, replayed, result_of

Place = tuple[str | int, ...]

#: Fields whose change is not found by computing again (a forger who seals the result anew may
#: change them), and why nothing false follows.
WITHOUT_MEANING = {
    "versions": "said to differ from those of the replay; sampled results of another pdpaudit "
    "are refused",
    "source": "said to differ from the code now",
    "commit": "says where the code was; what it is is the source's digest",
    "place": "says in which file and line; what it is is the source's digest",
    "written": "when; nothing follows from it",
    "by": "who; nothing follows from it",
    "elapsed_s": "how long; nothing follows from it",
    "claims.*.samples.discovery": "what the search cost; no evidence",
    "claims.*.event.unproved": "a note on why there is no proof",
    "claims.*.witness.known": "where the bets of a sequential test begin: any place is valid if "
    "chosen before the samples, and the bound from it is computed again",
    "claims.*.witness.ladder": "another threshold that counts the same runs",
    "claims.*.witness.pair.base": "another network on which the pair loses the same, and all that "
    "is shown is true of it",
}

#: Of a check only: it has no stream, and what it holds without a counterexample only running it
#: again can show, which replay says.
OF_A_CHECK = {
    "seed": "of the search for a counterexample, which is verified without it",
    "checks.*.scope": "what was searched; no part of the counterexample",
}


WRONG: tuple[Any, ...] = (None, "x", {"x": 1}, 10**400)


def changed(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value * 1.01 + 0.001
        case str():
            return f"{value}x"
    return 1


def leaves(body: Any, place: Place = ()) -> Iterator[Place]:
    """Yield every field; of a long list of alike things the middle one."""
    if isinstance(body, dict) and body and place != ("context", "tried", "by"):
        for key in body:
            yield from leaves(body[key], (*place, key))
    elif isinstance(body, list) and body:
        alike = place[:1] != ("checks",)
        for i in [len(body) // 2] if alike else range(len(body)):
            yield from leaves(body[i], (*place, i))
    else:
        yield place


@pytest.fixture
def places(kind: str, repetitions: Callable[[int, int], int]) -> list[Place]:
    """Return the fields of a result to change: by default those no earlier kind has."""
    order = list(KINDS)
    earlier = order[: repetitions(order.index(kind), 0)]
    known = {pattern(place) for one in earlier for place in leaves(result_of(one))}
    return [place for place in leaves(result_of(kind)) if pattern(place) not in known]


def at(body: Any, place: Place) -> Any:
    for step in place:
        body = body[step]
    return body


def put(body: Body, place: Place, value: Any) -> Body:
    body = copy.deepcopy(body)
    at(body, place[:-1])[place[-1]] = value
    return body


def found_out(body: Body, folder: Path) -> bool:
    """Say whether a replay of the file refuses it, in a line, or does not reproduce it."""
    file = folder / "result.json"
    file.write_text(json.dumps(body))
    try:
        return any(one.reproduced is False for one in replayed(load(file)))
    except InputError as error:
        return "\n" not in str(error)


def pattern(place: Place) -> str:
    return ".".join("*" if isinstance(step, int) else step for step in place)


@pytest.fixture(autouse=True)
def quick_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the source once: it does not change between two replays here."""
    digest = source_digest(None)
    monkeypatch.setattr("pdpaudit.replay.source_digest", lambda subject: digest)


@pytest.mark.parametrize("kind", KINDS)
def test_an_honest_result_is_reproduced(kind: str, tmp_path: Path) -> None:
    body = result_of(kind)
    assert body["status"] == "violated"
    assert not found_out(body, tmp_path)


@pytest.mark.parametrize("key", ["probability", "probability_other", "loss", "excess"])
@pytest.mark.parametrize("end", ["1e999999999", "1e-999999999", "9" * 10_000, "nan", "inf"])
def test_an_end_that_would_be_computed_with_for_hours_is_refused(key: str, end: str) -> None:
    body = result_of("proved")
    numbers = [number for number, one in enumerate(body["claims"]) if "proof" in one["event"]]
    claim = body["claims"][numbers[0]]
    for proof in (claim["event"]["proof"], claim["witness"]["certificate"]):
        proof[key] = [end, end]
    with pytest.raises(InputError, match=r"proof|certificate"):
        replayed(body)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("name", ["PTarget:main-text", "zoo:SVT5"], ids=["law", "samples"])
def test_every_budget_is_carried_out_again(name: str, budget: str, tmp_path: Path) -> None:
    body = json.loads(json.dumps(audited(name, {}, tries=6, budget=budget).to_json()))
    assert body["status"] == "violated"
    assert not found_out(body, tmp_path)


@pytest.mark.parametrize("kind", ["exact", "sampled", "proved"])
def test_a_result_of_before_the_digest_is_still_replayed(kind: str, tmp_path: Path) -> None:
    body = result_of(kind)
    for key in ("digest", "source", "commit", "place", "written"):
        body.pop(key, None)
    body["claims"][0]["witness"].pop("ladder", None)
    assert not found_out(body, tmp_path)
    assert found_out(put(body, ("claims", 0, "lower_bound"), 9.0), tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_every_change_of_meaning_is_found_by_computing_again(
    kind: str, places: list[Place], tmp_path: Path
) -> None:
    body = result_of(kind)
    allowed = {**WITHOUT_MEANING, **(OF_A_CHECK if kind == "checked" else {})}
    silent = {f"checks.{i}" for i, one in enumerate(body.get("checks", ())) if not one["witness"]}
    missed = []
    for place in places:
        name, exactly = pattern(place), ".".join(map(str, place))
        if place == ("digest",) or any(exactly.startswith(f"{one}.") for one in silent):
            continue
        if not found_out(sealed(put(body, place, changed(at(body, place)))), tmp_path):
            missed += [] if any(name.startswith(one) for one in allowed) else [exactly]
    assert missed == []


@pytest.mark.parametrize("kind", KINDS)
def test_any_change_is_found_by_the_digest(kind: str) -> None:
    body = result_of(kind)
    for place in leaves(body):
        if place in [("elapsed_s",), ("written",), ("by",)]:
            continue
        assert not unchanged(put(body, place, changed(at(body, place)))), place


@pytest.mark.parametrize("kind", ["checked", "sampled", "exact"])
def test_a_witness_with_a_field_gone_or_of_another_kind_is_refused(
    kind: str, places: list[Place], tmp_path: Path
) -> None:
    body = result_of(kind)
    inner = {place[:i] for place in places for i in range(1, len(place) + 1)}
    for place in sorted(inner, key=str):
        if "witness" not in place or at(body, place) is None:
            continue
        wrong = "x" if isinstance(at(body, place), (dict, list)) else []
        assert found_out(sealed(put(body, place, wrong)), tmp_path), place
        if isinstance(place[-1], str):
            cut = copy.deepcopy(body)
            del at(cut, place[:-1])[place[-1]]
            assert found_out(sealed(cut), tmp_path), place


@pytest.mark.parametrize("kind", ["exact", "checked"])
@pytest.mark.parametrize("turn", range(len(WRONG)), ids=lambda i: repr(WRONG[i])[:20])
def test_anything_anywhere_raises_nothing_else(
    kind: str, turn: int, repetitions: Callable[[int, int], int], tmp_path: Path
) -> None:
    """By default one wrong value in each place, each in turn."""
    body = result_of(kind)
    places = sorted({place[:i] for place in leaves(body) for i in (1, 2, 3, 4)}, key=str)
    for place in places[repetitions(turn, 0) :: repetitions(len(WRONG), 1)]:
        if place[-1] != "trade_off":
            found_out(sealed(put(body, place, WRONG[turn])), tmp_path)
