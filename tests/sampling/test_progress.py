"""How far an audit is, in a pipe and in a notebook."""

from __future__ import annotations

import sys
import time
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pdpaudit
from pdpaudit import PrivacyClaim, auditing
from pdpaudit.auditing import Config
from pdpaudit.checks import Options
from pdpaudit.core.subject import Subject
from pdpaudit.sampling import Silent, engine
from pdpaudit.sampling.engine import Lines, in_notebook


def test_in_a_pipe_a_line_now_and_then_says_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The time left only falls, though the runs become slower."""
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    lines: list[str] = []
    watcher = Lines(lines.append)
    watcher.stage("looking at 3 pairs", 100)
    for seconds in (10, 40, 60, 400):
        clock[0] += seconds
        watcher.advance(10)
    assert len(lines) == 3  # the first ten seconds say nothing
    assert lines[0].startswith("looking at 3 pairs: 20 of 100, about ")
    # 20 of 100 in 50 s leave 200 s; after 60 s 140 s, however slow they were; after 400 s none.
    left = [line.rpartition(", ")[2] for line in lines]
    assert left == ["about 200 s of it left", "about 140 s of it left", "longer than expected"]
    watcher.stage("looking again", 100)
    watcher.advance(1)
    clock[0] += 40
    watcher.advance(98)
    assert lines[-1] == "looking again: 99 of 100, nearly done"


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what a notebook shows in its line, the last at the end."""
    shown: list[str] = []

    def update(data: dict[str, str], *, raw: bool) -> None:
        assert raw
        shown.append(data["text/plain"])

    def display(data: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        assert display_id
        update(data, raw=raw)
        return SimpleNamespace(update=update)

    names: dict[str, Any] = {
        "IPython": {"get_ipython": lambda: SimpleNamespace(kernel=None)},
        "IPython.display": {"display": display},
    }
    for name, parts in names.items():
        module = ModuleType(name)
        vars(module).update(parts)
        monkeypatch.setitem(sys.modules, name, module)
    return shown


def slow(x: float, rng: np.random.Generator) -> float:
    time.sleep(0.0005)
    return x + rng.laplace()


def test_in_a_notebook_a_line_says_how_far_it_is_and_is_gone_at_the_end(
    seen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "NOTEBOOK_S", 0.05)
    pdpaudit.audit(slow, epsilon=1, pairs=[(0.0, 1.0)], samples=300, seed=1)
    assert any(" of " in line for line in seen)
    assert seen[-1] == ""


def test_checks_in_a_notebook_say_how_far_they_are(
    seen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "NOTEBOOK_S", 0.0)
    few = ("finite", "deterministic")
    pdpaudit.check("CN", options=Options(max_vertices=3, examples=0, select=few))
    assert seen[0] == "checking CN"
    assert seen[1].startswith("checking CN: 1 of 2")
    assert seen[-1] == ""


def test_an_error_takes_the_line_away_too(seen: list[str]) -> None:
    def interrupted() -> None:
        with in_notebook() as watcher:
            watcher.say("one run takes 2 s")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert seen == ["one run takes 2 s", ""]


def test_elsewhere_nothing_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = ModuleType("IPython")
    vars(terminal).update(get_ipython=lambda: SimpleNamespace())
    for module in (None, terminal):
        monkeypatch.setitem(sys.modules, "IPython", module)
        with in_notebook() as watcher:
            watcher.say("one run takes 2 s")
    assert capsys.readouterr() == ("", "")


def test_the_time_left_of_a_confirmation_counts_from_its_first_run() -> None:
    """What is planned before has a stage of its own, and the total is what is planned."""
    stages: list[tuple[str, int]] = []

    class Noted(Silent):
        def stage(self, words: str, total: int) -> None:
            stages.append((words, total))

    (claim,) = auditing.audit(
        Subject.of(Quick()), [], Config(seed=1, budget="quick"), subject="quick", watcher=Noted()
    ).claims
    words = [stage for stage, _ in stages]
    at = next(i for i, stage in enumerate(words) if stage.startswith("confirming"))
    assert words[at - 1].startswith("planning when to stop")
    assert claim.status == "not_rejected"
    assert stages[at][1] == claim.samples["confirmation"]


class Quick:
    """Noise for its claim."""

    claim = PrivacyClaim(1.0)

    def pairs(self) -> list[tuple[float, float]]:
        return [(0.0, 1.0)]

    def run(self, value: float, rng: np.random.Generator) -> float:
        return value + float(rng.laplace())
