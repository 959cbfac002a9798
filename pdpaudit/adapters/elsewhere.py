"""Mechanisms that run in another process: another interpreter's Python, or any program.

They are asked over pipes, in batches. The process is started where it is needed, once a worker,
and ended when it is late: whatever ends our wait ends it too.
"""

from __future__ import annotations

import json
import math
import os
import select
import shlex
import signal
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypedDict

import numpy as np

from pdpaudit import relations
from pdpaudit.adapters import worker
from pdpaudit.adapters.worker import Stream, decode, encode
from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.errors import InputError, Misbehaviour, ParameterError
from pdpaudit.core.registry import adapted, make_mechanism, registered
from pdpaudit.core.specification import Specification
from pdpaudit.outputs.records import JSON
from pdpaudit.sampling.guard import Raised, Warned

__all__ = ["Elsewhere", "Made", "Program", "made_elsewhere", "prepared"]

#: Seconds between two looks whether our wait was ended, and for a process to say why it ended.
LOOK_S, LAST_WORDS_S = 0.05, 2.0

#: Lines of standard error that are kept, and characters shown of one.
KEPT, SHOWN = 20, 200

#: Workers are many already: one thread of linear algebra each, where nothing else is said.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

#: Seconds for a program to say what it is, and what mostly is wrong where it does not.
DESCRIBED_S = 30.0
SILENT = (
    f"it has said nothing for {DESCRIBED_S:g} s; read each line as it comes, not to the end of the "
    "input, and flush each answer"
)

#: Bytes read at once.
PIECE = 1 << 20


class Pipe:
    """A process that answers lines with lines."""

    def __init__(self, command: Sequence[str]) -> None:
        self.command = list(command)
        try:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # an interruption is ours to handle
                env={**ONE_THREAD, **os.environ},
            )
        except OSError as error:
            raise InputError(
                f"{self.command[0]}: cannot be started ({error.strerror}); check its path"
            ) from None
        self.owner = os.getpid()
        self._pieces, self._said = b"", deque[str](maxlen=KEPT)
        listens = (self.process.stderr, self._said)
        self._listener = threading.Thread(target=_listen, args=listens, daemon=True)
        self._listener.start()
        self._end = weakref.finalize(self, _end, self.process)

    def ask(self, request: Mapping[str, object]) -> None:
        """Send a request; whatever goes wrong is seen where the answer is read."""
        assert self.process.stdin is not None
        data = memoryview(json.dumps(request).encode("ascii") + b"\n")
        try:
            while data:
                data = data[self.process.stdin.write(data) or 0 :]
        except OSError:
            return
        except BaseException:
            self._end()
            raise

    def answer(self, within: float = math.inf) -> object:
        """Return the next line as JSON, of a process that needs no more seconds for it."""
        line = self._line(time.monotonic() + within)
        try:
            return json.loads(line)
        except ValueError:
            self._end()
            text = _clipped(line.decode("utf-8", "replace").strip()) or "an empty line"
            raise Misbehaviour(
                f"it printed {text}, which is no JSON; print "
                "one JSON value a line, and anything else to standard error"
            ) from None

    def answered(self) -> JSON:
        """Return the next line as an object of JSON."""
        answer = self.answer()
        if not isinstance(answer, dict):
            raise Misbehaviour(f"it printed {_clipped(str(answer))}, which is no JSON object")
        return answer

    def _line(self, until: float) -> bytes:
        assert self.process.stdout is not None
        read = self.process.stdout.fileno()
        try:
            while b"\n" not in self._pieces:
                # A wait may be ended between two instructions only, so none is long.
                if select.select([read], [], [], LOOK_S)[0]:
                    piece = os.read(read, PIECE)
                    if not piece:
                        raise Misbehaviour(self._ended())
                    self._pieces += piece
                elif time.monotonic() > until:
                    raise Misbehaviour(SILENT)
        except BaseException:
            self._end()
            raise
        line, _, self._pieces = self._pieces.partition(b"\n")
        return line

    def _ended(self) -> str:
        """Say how the process ended, and what it said last."""
        try:
            status = self.process.wait(LAST_WORDS_S)
        except subprocess.TimeoutExpired:
            return "its process closed its standard output; leave it open"
        self._listener.join(LAST_WORDS_S)
        how = f"with status {status}" if status >= 0 else f"by {signal.Signals(-status).name}"
        said = [f"; the last line of its standard error: {_clipped(line)}" for line in self._said]
        return f"its process ended {how}{said[-1] if said else ''}"

    @property
    def alive(self) -> bool:
        """Whether it can be asked by this process."""
        return self._end.alive and self.owner == os.getpid()


def _listen(stream: IO[bytes], said: deque[str]) -> None:
    """Keep the last lines of standard error, so that it never fills."""
    with stream:
        for line in stream:
            if text := line.decode("utf-8", "replace").strip():
                said.append(text)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _domain(described: object) -> object:
    """Return the domain, or a part of one, that a worker has described."""
    if type(described) is tuple and described[:1] == (worker.DOMAIN,):
        _, kind, arguments, options = described
        if kind not in worker.DOMAINS:
            raise Misbehaviour(f"its domain is {_clipped(repr(kind))}, which is none")
        given = {key: _domain(item) for key, item in options.items()}
        made: object = getattr(relations, kind)(*map(_domain, arguments), **given)
        return made
    if isinstance(described, dict):
        return {key: _domain(item) for key, item in described.items()}
    if type(described) is list or type(described) is tuple:
        return type(described)(map(_domain, described))
    return described


def _clipped(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


class Outside:
    """A mechanism that another process runs."""

    #: What it is made of, under the names of its attributes.
    made_of: tuple[str, ...]

    def runs_elsewhere(
        self, instance: object, size: int, rng: np.random.Generator
    ) -> Iterator[list[object]]:
        """Yield outputs of runs one by one, as many as came together; errors as ``Raised``."""
        raise NotImplementedError

    def run(self, instance: object, rng: np.random.Generator) -> object:
        """Return one output."""
        [[output]] = self.runs_elsewhere(instance, 1, rng)
        if isinstance(output, Raised):
            raise _raised([output.kind, output.words])
        return output.output if isinstance(output, Warned) else output

    def __getstate__(self) -> JSON:
        """Travel without the process: a worker starts its own."""
        return {key: getattr(self, key) for key in self.made_of}

    def __setstate__(self, state: JSON) -> None:
        """Arrive as if made anew."""
        self.__init__(**state)  # type: ignore[misc]


class Elsewhere(Outside):
    r"""A mechanism that another Python makes and runs, from inputs and streams that are ours.

    Parameters
    ----------
    python : str
        The other interpreter, 3.8 or newer.
    name : str
        ``path/to/file.py:Name``, ``module:Name`` or an adapter's name, as on the command line.
    parameters : mapping, optional
        What the mechanism is made with.

    Examples
    --------
    >>> import sys, tempfile
    >>> file = Path(tempfile.mkdtemp(), "m.py")
    >>> _ = file.write_text("def f(x, rng):\n    return x + rng.integers(10)")
    >>> mechanism = Elsewhere(sys.executable, f"{file}:f")
    >>> mechanism.run(5, np.random.default_rng(1)), 5 + np.random.default_rng(1).integers(10)
    (9, np.int64(9))
    """

    made_of = ("python", "name", "parameters")

    def __init__(
        self, python: str, name: str, parameters: Mapping[str, object] | None = None
    ) -> None:
        self.python, self.name, self.parameters = python, name, dict(parameters or {})
        self.title = name
        self.pipe: Pipe | None = None
        self.known = self._first()
        claims = tuple(PrivacyClaim.parse(*claim) for claim in self.known["claims"])
        self.claims = claims or None
        self.claim = claims[0] if claims else None
        self.seedable, self.repeatable = self.known["seedable"], self.known["repeatable"]
        self.representation = self.known["representation"]
        self.source_files = [*map(Path, self.known["files"])]
        if self.known["pairs"] is not None:
            given = decode(self.known["pairs"])
            self.pairs = lambda: given
        if self.known["domain"] is not None:
            self.domain = _domain(decode(self.known["domain"]))
        if "sample" in self.known["parts"]:
            self.sample = self._sample
        self.remarks = (NO_NUMPY,) if self.seedable and not self.known["numpy"] else ()

    @property
    def specification(self) -> Specification:
        """How to make it again."""
        return Specification(
            self.name, self.parameters, python=self.python, versions=self.known["versions"]
        )

    def runs_elsewhere(
        self, instance: object, size: int, rng: np.random.Generator
    ) -> Iterator[list[object]]:
        """Yield outputs of runs one by one, as many as came together; errors as ``Raised``."""
        self._ask("runs", instance, size, rng)
        left = size
        while left:
            answer = self._answer()
            left -= len(answer["outputs"])
            _moved(rng, answer)
            yield [_output(one) for one in answer["outputs"]]

    def _sample(self, instance: object, size: int, rng: np.random.Generator) -> object:
        self._ask("sample", instance, size, rng)
        answer = self._answer()
        _moved(rng, answer)
        return decode(answer["outputs"])

    def _ask(self, what: str, instance: object, size: int, rng: np.random.Generator) -> None:
        if self.pipe is None or not self.pipe.alive:
            self._first()
        if hasattr(instance, "adjacency"):
            raise InputError(
                f"{self.name}: networks stay in this Python; give the mechanism a domain or pairs()"
            )
        assert self.pipe is not None
        stream = _stream(rng)
        self.pipe.ask({"do": what, "input": encode(instance), "size": size, "stream": stream})

    def _answer(self) -> JSON:
        """Return what was answered; an error there is one here, of the same name."""
        assert self.pipe is not None
        answer = self.pipe.answered()
        if "raised" in answer:
            raise _raised(answer["raised"])
        if answer.get("printed"):
            print("." * answer["printed"])  # noqa: T201 - where it is swallowed and said
        return answer

    def _first(self) -> JSON:
        """Start the process, and have the mechanism made there."""
        self.pipe = Pipe([self.python, worker.__file__])
        places = {one.name: one.value for one in registered("adapters")}
        made = {"name": self.name, "parameters": self.parameters, "adapters": places}
        self.pipe.ask({"do": "make", **made})
        try:
            answer = self.pipe.answered()
        except Misbehaviour as error:
            raise InputError(f"{self.python}: {error}; give a Python 3.8 or newer") from None
        if "raised" in answer:
            words = answer["raised"][1]
            raise InputError(f"{self.name} cannot be made by {self.python}: {words}")
        return answer


#: What is said where the other side has no generator like ours.
NO_NUMPY = (
    "the other interpreter has no numpy: rng is a random.Random, seeded from the same streams"
)


def _output(answered: object) -> object:
    """Return what one run gave, raised, or gave with a warning."""
    match answered:
        case {"raised": [str(kind), str(words)]}:
            return Raised(kind, words)
        case {"warned": [str(names), output]}:
            return Warned(names, decode(output))
    return decode(answered)


def _stream(rng: np.random.Generator) -> Stream:
    """Return all that makes the same generator again, and what the global ones are seeded with."""
    seeds: Any = rng.bit_generator.seed_seq
    entropy = seeds.entropy
    return {
        "state": dict(rng.bit_generator.state),
        "entropy": entropy if isinstance(entropy, int) else [int(word) for word in entropy],
        "spawn_key": [int(word) for word in seeds.spawn_key],
        "globals": [int(word) for word in seeds.generate_state(12)[8:]],
    }


def _moved(rng: np.random.Generator, answer: JSON) -> None:
    """Move our generator to where the other one is."""
    if answer.get("state") is not None:
        rng.bit_generator.state = answer["state"]


def _raised(raised: Sequence[str]) -> Exception:
    """Return an error of the other side as one of ours: its type's name is what is seen."""
    kind, words = raised
    made = type(kind, (Exception,), {})(words.removeprefix(kind).removeprefix(": "))
    assert isinstance(made, Exception)
    return made


class Program(Outside):
    """Any program that reads requests as JSON lines and answers with JSON lines.

    It is asked ``{"do": "describe"}`` once, and answers with ``claim`` (a number or the words of
    the command line) and ``pairs``, all in one line; then ``{"do": "run", "input": ..., "runs": n,
    "seed": s}``, each answered with n lines, one output each, ``{"error": "name"}`` for a run that
    fails.

    Parameters
    ----------
    command : str
        As typed into a shell, which is not used: a program and its arguments.
    """

    made_of = ("command",)

    def __init__(self, command: str) -> None:
        self.command = self.title = command
        try:
            words = shlex.split(command)
        except ValueError as error:  # an open quotation, or a backslash at the end
            raise ParameterError("program", command, f"{error}; close it") from None
        if not words:
            raise ParameterError("program", repr(command), "give a program and its arguments")
        self.pipe = Pipe(words)
        self.pipe.ask({"do": "describe"})
        try:
            about = self.pipe.answer(DESCRIBED_S)
        except Misbehaviour as error:
            raise ParameterError("program", command, str(error)) from None
        if not isinstance(about, dict) or not isinstance(about.get("pairs"), list):
            raise ParameterError(
                "program",
                command,
                "it does not describe itself; answer "
                '{"do": "describe"} with {"claim": 1.0, "pairs": [[0, 1]]} in one line',
            )
        claim = about.get("claim")
        text = f"eps={claim}" if isinstance(claim, int | float) else claim
        try:
            if text is not None:
                self.claim = PrivacyClaim.parse(str(text), str(about.get("source", "")))
        except ParameterError as error:
            said = f'it describes itself with "claim": {json.dumps(claim)}: {error.remedy}'
            raise ParameterError("program", command, said) from None
        self.seedable = bool(about.get("seedable", True))
        self._pairs = about["pairs"]

    @property
    def specification(self) -> Specification:
        """How to make it again."""
        return Specification("exec", program=self.command)

    def pairs(self) -> list[object]:
        """Return the pairs it brings."""
        return list(self._pairs)

    def runs_elsewhere(
        self, instance: object, size: int, rng: np.random.Generator
    ) -> Iterator[list[object]]:
        """Yield outputs one by one."""
        if not self.pipe.alive:
            self.pipe = Pipe(self.pipe.command)
        seed = int(rng.integers(2**53))
        self.pipe.ask({"do": "run", "input": instance, "runs": size, "seed": seed})
        for _ in range(size):
            answer = self.pipe.answer()
            if isinstance(answer, dict) and answer.keys() == {"error"}:
                answer = Raised(str(answer["error"]), str(answer["error"]))
            yield [answer]


class Made(TypedDict, total=False):
    """How a mechanism that is handed over is made: by another Python, and by an adapter."""

    python: str | None
    d_in: float | None


def prepared(mechanism: object, made: Made) -> object:
    """Return what is to be audited: itself, what an adapter makes of it, or another process."""
    python, distance = made.get("python"), made.get("d_in")
    given: dict[str, object] = {} if distance is None else {"d_in": distance}
    if python is not None:
        if not isinstance(mechanism, str):
            raise InputError("`python`: name the mechanism; objects stay in the Python they are of")
        return Elsewhere(python, mechanism, given)
    if isinstance(mechanism, str):
        return make_mechanism(mechanism, given)[0] if given else mechanism
    found = adapted(mechanism, **given)
    if found is None and given:
        raise InputError(f"d_in: no adapter knows a {type(mechanism).__name__}; leave it out")
    return mechanism if found is None else found


def made_elsewhere(
    name: str | None, parameters: JSON, *, python: str | None = None, command: str | None = None
) -> tuple[Elsewhere | Program, Specification]:
    """Return a mechanism of another process, and how to make it again."""
    made: Elsewhere | Program
    if command is not None:
        if name is not None or python is not None:
            raise InputError(
                "`program`: the program is the mechanism; leave its name and python out"
            )
        made = Program(command)
    elif name is None or python is None:
        raise InputError("`python`: name the mechanism that it is to make")
    else:
        given = {key: value for key, value in parameters.items() if value is not None}
        made = Elsewhere(python, name, given)
    return made, made.specification
