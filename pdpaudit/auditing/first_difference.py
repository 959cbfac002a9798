"""Find the line that leaks: run both sides with the same random stream, and see where they part.

It explains a violation and is no evidence of one: sound mechanisms part too, after their noise.
"""

from __future__ import annotations

import linecache
import math
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from pdpaudit.auditing.candidate_pairs import CandidatePair, network_candidate, recorded_pair
from pdpaudit.auditing.provenance import installed
from pdpaudit.core.errors import OutOfTime
from pdpaudit.core.input_words import shortened
from pdpaudit.core.network import Network
from pdpaudit.core.subject import Subject
from pdpaudit.outputs import Draws, Side, Whole
from pdpaudit.outputs.columns import atom_of
from pdpaudit.outputs.records import layout
from pdpaudit.outputs.words import Vocabulary, entry_words, shown
from pdpaudit.results.pairs import NetworkPair, ReadNetwork
from pdpaudit.results.results import ClaimResult, Result
from pdpaudit.results.witnesses import Difference, FirstDifference, Kind
from pdpaudit.sampling import Misbehaviour, stream
from pdpaudit.sampling.guard import Guard
from pdpaudit.sampling.trace import (
    Place,
    Recorder,
    Step,
    Value,
    recorded,
    recorded_oracle,
    text,
    tracing,
)

#: Runs a side that are compared, and steps after which fewer are.
RUNS, MOST_STEPS = 100, 200_000

#: What is said where no run that is followed ended in time.
NO_TIME = "the time limit left no time to follow runs to the line that differs"

#: Characters that are kept of a line.
LONGEST_LINE = 100

#: Characters of an output that are looked at to say where it differs.
MOST_TEXT = 10_000

#: Packages of ours that hold mechanisms: their authors' code where one of them is audited.
MECHANISMS = "pdpaudit.algorithms"

GENERATOR = [
    name
    for name in dir(np.random.Generator)
    if name[0] != "_" and name != "spawn" and callable(getattr(np.random.Generator, name))
]


def explained_result(
    result: Result,
    mechanism: Subject,
    networks: Sequence[Network],
    runs: int = RUNS,
    until: float = math.inf,
) -> Result:
    """Return a result whose violated claims say where the two sides of their pairs differ."""

    def read(body: Mapping[str, object], _: int) -> Network:
        """Return the network of a file, which has been read."""
        [network] = networks
        return network

    claims = [_explained(one, mechanism, result.seed, read, runs, until) for one in result.claims]
    unexplained = any(one.status == "violated" and not one.first_difference for one in claims)
    late = (NO_TIME,) if unexplained and time.monotonic() > until else ()
    return replace(result, claims=tuple(claims), remarks=(*result.remarks, *late))


def _explained(
    claim: ClaimResult,
    mechanism: Subject,
    seed: int,
    read: ReadNetwork,
    runs: int,
    until: float,
) -> ClaimResult:
    witness = claim.witness
    if claim.status != "violated" or witness is None or time.monotonic() > until:
        return claim
    if witness.mechanism is not None and witness.mechanism.beginning:
        mechanism = mechanism.beginning()
    pair = witness.pair
    if isinstance(pair, NetworkPair):
        candidate = network_candidate(pair.build(seed, read))
    else:
        candidate = recorded_pair(mechanism, pair)
    return explained(claim, mechanism, candidate, seed, runs, until)


def explained(
    claim: ClaimResult,
    mechanism: Subject,
    candidate: CandidatePair,
    seed: int,
    runs: int,
    until: float = math.inf,
) -> ClaimResult:
    """Return a violated claim with where the two sides of its pair first differ.

    Any other claim, and one whose runs misbehave, cannot be repeated or do not end in time, is
    returned as it is.
    """
    event = claim.event.definition
    if claim.status != "violated" or event is None or not _followed(mechanism):
        return claim
    try:
        found = first_difference(mechanism, candidate, event.side, seed, runs, until)
    except Misbehaviour:
        return claim
    return replace(claim, first_difference=found)


def _followed(mechanism: Subject) -> bool:
    """Whether runs can be repeated and are of this process, where lines are seen."""
    return mechanism.repeatable and mechanism.seedable and not mechanism.has("runs_elsewhere")


def first_difference(
    mechanism: Subject,
    candidate: CandidatePair,
    side: Side,
    seed: int,
    runs: int = RUNS,
    until: float = math.inf,
) -> FirstDifference:
    """Run both sides of a pair with the same streams, and return where they first differ.

    From runs enough, or from as many as end in time; raises OutOfTime where none does.
    """
    left, right = candidate.inputs()
    inputs = (left, right) if side == "left" else (right, left)
    authored = _authored(mechanism)
    found: list[_Parted] = []
    steps = 0
    for number in range(runs):
        try:
            ours, theirs = (
                _traced(mechanism, one, authored, seed, number, until) for one in inputs
            )
        except OutOfTime:
            if not found:
                raise
            break
        found.append(_parted(ours, theirs, inputs))
        steps += len(ours.recorder.steps) + len(theirs.recorder.steps)
        if steps > MOST_STEPS:
            break
    return FirstDifference(len(found), tuple(_summary(found)))


def _traced(
    mechanism: Subject,
    instance: object,
    authored: Callable[[CodeType], bool],
    seed: int,
    number: int,
    until: float,
) -> _Run:
    """Return what one run did; what it prints is swallowed, and what it raises noted."""
    traced = _Traced(mechanism, Recorder(authored))
    with Guard(traced, instance, until=until) as guard:
        output = guard.draw(1, stream(seed, "first difference", number), "single")
    return _Run(traced.recorder, output)


class _Traced(Subject):
    """A mechanism whose run is recorded."""

    def __init__(self, mechanism: Subject, recorder: Recorder) -> None:
        super().__init__(mechanism)
        self.recorder = recorder

    def run(self, instance: object, rng: np.random.Generator) -> Hashable:
        """Run, and record what is done on the way."""
        kind = recorded(np.random.Generator, self.recorder, "draw", GENERATOR)
        oracle = getattr(instance, "oracle", None)
        if oracle is not None:
            recorded_oracle(oracle, self.recorder)
        with tracing(self.recorder):
            return super().run(instance, kind(rng.bit_generator))


def _authored(mechanism: Subject) -> Callable[[CodeType], bool]:
    """Return what says whether code is the author's: neither Python's, nor a library's, nor ours.

    The library that a mechanism is part of is its author's.
    """
    origin: Any = mechanism.origin
    home = str(getattr(getattr(origin, "function", origin), "__module__", ""))
    ours = Path(__file__).resolve().parents[1]
    file = getattr(sys.modules.get(home.partition(".")[0]), "__file__", None)
    library = Path(file or ours).resolve()
    library = library.parent if library.name == "__init__.py" else library

    @cache
    def known(file: str) -> bool:
        if not linecache.getline(file, 1) and not linecache.getline(file, 2):
            return False
        path = Path(file)
        if not path.is_file():
            return True  # a cell of a notebook
        path = path.resolve()
        if _is_algorithm(path) or path.is_relative_to(ours):
            return _is_algorithm(path) and home.startswith(MECHANISMS)
        return not installed(path) or path.is_relative_to(library)

    return lambda code: known(code.co_filename)


def _is_algorithm(path: Path) -> bool:
    """Say whether a file is one of our mechanisms, wherever they are installed."""
    from importlib.util import find_spec

    spec = find_spec(MECHANISMS)
    folders = [] if spec is None else [*(spec.submodule_search_locations or ())]
    return any(path.is_relative_to(Path(folder).resolve()) for folder in folders)


@dataclass(frozen=True)
class _Found:
    """Where two runs differ, after how many steps, and in what."""

    kind: Kind
    at: Place
    after: int
    ours: str = ""
    theirs: str = ""


#: Where an output comes from that no followed line returned.
NOWHERE = Place("", 0)


@dataclass(frozen=True)
class _Run:
    """What one run did, and its output."""

    recorder: Recorder
    output: Draws


@dataclass(frozen=True)
class _Parted:
    """Where two runs first part, where a call, a value and the output differ."""

    line: _Found | None
    call: _Found | None
    value: _Found | None
    output: _Found | None

    @property
    def answer(self) -> _Found | None:
        """What explains most: whatever comes first, but a call's arguments before the line."""
        first = [one for one in (self.call, self.line) if one is not None]
        return min(first, key=lambda one: one.after, default=self.value or self.output)


def _parted(one: _Run, other: _Run, inputs: tuple[object, object]) -> _Parted:
    """Compare what two runs did."""
    ours, theirs = one.recorder, other.recorder
    whole = not (ours.full or theirs.full)
    line = _lines_part(ours.steps, theirs.steps, whole=whole)
    end = min(len(ours.steps), len(theirs.steps)) if line is None else line.after
    call = _calls_part(ours.steps, theirs.steps, whole=whole)
    if line is not None and call is not None and (line.after, line.at) == (call.after, call.at):
        line = None  # it is the call that differs
    value = _values_part(ours.steps[: end + 1], theirs.steps[: end + 1], inputs)
    return _Parted(line, call, value, _outputs_part(one, other, end))


def _outputs_part(one: _Run, other: _Run, after: int) -> _Found | None:
    """Return the statement that returns what differs, if any is known, and what it is."""
    if one.output.same_as(other.output):
        return None
    ours, theirs = one.recorder.returned, other.recorder.returned
    if ours is None or theirs is None or ours.at is None:
        return _Found("output", NOWHERE, after, *_entries_part(one.output, other.output))
    words = [ours.text, theirs.text]
    if words[0] == words[1] or not all(words):
        words = _entries_part(one.output, other.output)
    return _Found("output", ours.at, after, *words)


def _entries_part(one: Draws, other: Draws) -> list[str]:
    """Return two outputs of one structure by the first entry that differs, others whole."""
    ours, theirs = next(one.records()), next(other.records())
    if ours[0] != theirs[0]:
        return [shown(Whole(one), most=MOST_TEXT) for one in (ours, theirs)]
    leaves = (list(zip(*record[1:], strict=True)) for record in (ours, theirs))
    both = enumerate(zip(*leaves, strict=True))
    number, differ = next((i, two) for i, two in both if two[0] != two[1])
    path = next(path for path, i in layout(ours[0]).leaves.items() if i == number)
    words = [shown(atom_of(*leaf), most=MOST_TEXT) for leaf in differ]
    return [f"{entry_words(path, Vocabulary())}: {words[0]}" if path else words[0], words[1]]


def _lines_part(ours: list[Step], theirs: list[Step], *, whole: bool = True) -> _Found | None:
    """Return the statement after which two runs go on differently; ``whole`` ones may also end."""
    shared = min(len(ours), len(theirs))
    pairs = zip(ours, theirs, strict=False)
    end = next((i for i, pair in enumerate(pairs) if pair[0][:2] != pair[1][:2]), shared)
    steps = [one[end] if end < len(one) else None for one in (ours, theirs)]
    first = steps[0] or steps[1]
    if first is None or first.at is None or (end == shared and not whole):
        return None
    return _Found("line", first.at, end, *map(_next, steps))


def _next(step: Step | None) -> str:
    """Say what a run does where the other does something else."""
    if step is None:
        return "it ends"
    if isinstance(step.what, Place):
        return f"goes on at line {step.what.line}"
    return {"raised": "raises ", "decision": "gives "}.get(step.kind, "calls ") + str(step.what)


def _calls_part(ours: list[Step], theirs: list[Step], *, whole: bool) -> _Found | None:
    """Return the first random draw or oracle call that is not the same on both sides."""

    def calls(steps: list[Step]) -> list[tuple[int, Step]]:
        return [(i, step) for i, step in enumerate(steps) if step.kind in ("draw", "oracle")]

    one, other = calls(ours), calls(theirs)
    for (i, step), (_, against) in zip(one, other, strict=False):
        if (step.what, step.at) != (against.what, against.at):
            return _call(i, step, against)
    if len(one) == len(other) or not whole:
        return None
    left = min(len(one), len(other))
    if left < len(one):
        return _call(one[left][0], one[left][1], None)
    return _call(other[left][0], None, other[left][1])


def _call(after: int, step: Step | None, against: Step | None) -> _Found | None:
    known = step or against
    if known is None or known.at is None:
        return None
    words = [str(one.what) if one else "no call" for one in (step, against)]
    return _Found("oracle" if known.kind == "oracle" else "draw", known.at, after, *words)


def _values_part(
    ours: list[Step], theirs: list[Step], inputs: tuple[object, object]
) -> _Found | None:
    """Return the first value that differs; where there is no other, the input, copied as it is."""
    given = text(inputs[0], 1_000), text(inputs[1], 1_000)
    entries = tuple({*_entries(one)} for one in inputs)
    copied = None
    for after, (step, against) in enumerate(zip(ours, theirs, strict=False)):
        for one, other in zip(step.values, against.values, strict=False):
            if one[:3] == other[:3] or one.at is None or one.name != other.name:
                continue
            if one.at != other.at:  # a function returned from two places
                inner = _lines_part([*one.steps], [*other.steps])
                if inner is not None:
                    return replace(inner, after=after)
                continue
            found = _Found("value", one.at, after, _assigned(one), _assigned(other))
            read = one.text in entries[0] and other.text in entries[1] and _is_loop(one.at)
            if not read and (one.text, other.text) != given:
                return found
            copied = copied if read else found
    return copied


def _is_loop(at: Place) -> bool:
    """Say whether a statement takes one after the other what a variable holds."""
    return re.match(r"for .+ in \w+:", _source(at)) is not None


def _assigned(value: Value) -> str:
    return f"{value.name} = {value.text}" if value.name else value.text


def _entries(instance: object) -> Iterator[str]:
    if isinstance(instance, list | tuple | set | frozenset | np.ndarray):
        yield from (shown for one in list(instance)[:1_000] if (shown := text(one)) is not None)


def _summary(found: list[_Parted]) -> Iterator[Difference]:
    """Yield the answer, then the first call that differs, or else the first value."""
    answers = [one.answer for one in found if one.answer is not None]
    if not answers:
        return
    answer = _most_frequent(answers)
    yield answer
    if answer.kind in ("value", "output"):
        return
    known = {(answer.file, answer.line)}
    others = [one.line if answer.kind != "line" else one.call for one in found]
    for several in (others, [one.value for one in found]):
        seen = [one for one in several if one is not None]
        if seen and (second := _most_frequent(seen)) and (second.file, second.line) not in known:
            yield second
            return


def _most_frequent(found: list[_Found]) -> Difference:
    """Return the place met most often, with what differed there the first time."""
    [((kind, at), runs)] = Counter((one.kind, one.at) for one in found).most_common(1)
    one = next(one for one in found if (one.kind, one.at) == (kind, at))
    words = shortened(one.ours, one.theirs)
    return Difference(kind, Path(at.file).name, at.line, _source(at)[:LONGEST_LINE], runs, *words)


def _source(at: Place) -> str:
    return linecache.getline(at.file, at.line).strip()
