"""Mechanisms of another interpreter and of other programs: the same results, and every ending."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdpaudit import assert_private, audit, relations
from pdpaudit.adapters import worker
from pdpaudit.adapters.elsewhere import Elsewhere, Program
from pdpaudit.cli import main as run_main
from pdpaudit.core.errors import InputError, ParameterError
from pdpaudit.core.registry import registered
from pdpaudit.core.subject import Subject
from pdpaudit.outputs import flatten
from pdpaudit.sampling import Misbehaviour, draw, stream
from pdpaudit.testing import AuditFailed

MECHANISMS = """
import dataclasses, os, random, sys, time
from pdpaudit import PrivacyClaim

class Noisy:
    claim = PrivacyClaim(1.0, source="a theorem")
    def __init__(self, scale=0.5):
        self.scale = scale
    def pairs(self):
        return [(0, 1)]
    def run(self, x, rng):
        return x + rng.laplace(scale=self.scale)

class Batch(Noisy):
    def sample(self, x, size, rng):
        return x + rng.laplace(scale=self.scale, size=size)

@dataclasses.dataclass
class Answer:
    name: str
    found: tuple

class Shapes(Noisy):
    def run(self, x, rng):
        import numpy as np
        kind = int(rng.integers(9))
        if kind == 8:
            raise KeyError("no such thing")
        return [None, -0.0, float("nan"), (x, [True]), {"a": b"b"}, Answer("z", (1,)),
                np.float32(rng.random()), rng.random(3)][kind]

class Globals(Noisy):
    def run(self, x, rng):
        import numpy as np
        return x + random.random() + np.random.random()

class Alone(Noisy):
    claim = 1.0
    def run(self, x, rng):
        return x + rng.random()

class Dies(Noisy):
    def run(self, x, rng):
        print("the disk is gone", file=sys.stderr)
        os._exit(3)

class Hangs(Noisy):
    def run(self, x, rng):
        time.sleep(60)

class Prints(Noisy):
    def run(self, x, rng):
        print("x" * 10)
        os.write(1, b"not JSON")
        return x
"""


def main(arguments: list[str]) -> object:
    """Return the exit status of a command."""
    with pytest.raises(SystemExit) as ended:
        run_main(arguments)
    return ended.value.code


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "mechanisms_elsewhere.py"
    path.write_text(MECHANISMS)
    return str(path)


def elsewhere(file: str, name: str, python: str = sys.executable) -> Subject:
    return Subject.of(Elsewhere(python, f"{file}:{name}"))


def here(file: str, name: str) -> Subject:
    from pdpaudit.core.registry import resolve

    return Subject.of(resolve("mechanisms", f"{file}:{name}"))


@pytest.mark.parametrize("name", ["Noisy", "Batch", "Shapes", "Globals"])
def test_runs_are_the_same_to_the_bit_as_in_this_process(file: str, name: str) -> None:
    there = draw(elsewhere(file, name), 1, 700, seed=1, key=("a",))
    ours = draw(here(file, name), 1, 700, seed=1, key=("a",))
    assert there.same_as(ours)
    assert there.failures == ours.failures


def test_one_run_leaves_the_stream_where_a_run_here_would(file: str) -> None:
    mine, theirs = stream(1, "a"), stream(1, "a")
    here(file, "Noisy").run(0, mine)
    elsewhere(file, "Noisy").run(0, theirs)
    assert mine.random() == theirs.random()


def test_an_audit_elsewhere_gives_the_same_result_and_its_witness_is_drawn_again(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = audit(f"{file}:Noisy", seed=1)
    there = audit(f"{file}:Noisy", seed=1, python=sys.executable)
    assert there.claims[0].event == ours.claims[0].event
    assert there.claims[0].source == "a theorem"
    result = tmp_path / "result.json"
    options = ["--python", sys.executable, "--seed", "1", "--json", str(result), "-q"]
    assert main(["audit", f"{file}:Noisy", *options, "--with", "scale=0.4"]) == 1
    # Nothing is started for a result that is not trusted.
    assert main(["replay", str(result)]) == 2
    assert "--trust" in capsys.readouterr().err
    assert main(["replay", str(result), "--trust"]) == 0


@pytest.mark.parametrize("name", [one.name for one in registered("adapters")])
def test_adapters_of_ours_need_no_pdpaudit_where_they_run(name: str) -> None:
    """They are imported by a Python without any package, as the worker imports them."""
    place = next(one.value for one in registered("adapters") if one.name == name)
    code = (
        "import importlib, sys; sys.path.insert(0, sys.argv[1]); import worker; "
        "worker.stand_in(); importlib.import_module(sys.argv[2])"
    )
    folder, module = str(Path(worker.__file__).parent), place.partition(":")[0]
    command = [sys.executable, "-I", "-S", "-c", code, folder, module]
    subprocess.run(command, check=True, cwd="/")


def test_a_domain_is_described_there_and_its_pairs_are_made_here(tmp_path: Path) -> None:
    file = tmp_path / "mean_elsewhere.py"
    file.write_text(
        "import numpy as np\n"
        "from pdpaudit import PrivacyClaim, relations\n"
        "class Mean:\n"
        "    claim = PrivacyClaim(1.0)\n"
        "    domain = relations.Records(\n"
        "        {'age': relations.Bounded(0, 100), 'sex': ['f', 'm']}, sizes=(0, 4),\n"
        "        form=lambda rows: np.array([row['age'] for row in rows]))\n"
        "    def run(self, ages, rng):\n"
        "        assert isinstance(ages, np.ndarray)\n"
        "        return float(ages.sum() / max(1, len(ages)) + rng.laplace(scale=25))\n"
    )
    ours = audit(f"{file}:Mean", relation="replace", seed=1)
    there = audit(f"{file}:Mean", relation="replace", seed=1, python=sys.executable)
    assert ours.claims[0].statement == "1-DP, replace"
    assert (there.claims[0].event, there.claims[0].pair) == (
        ours.claims[0].event,
        ours.claims[0].pair,
    )
    assert set(worker.DOMAINS) == set(relations.__all__) - {"Domain"}


def test_a_test_may_name_another_interpreter(file: str) -> None:
    with pytest.raises(AuditFailed, match="not private as claimed"):
        assert_private(f"{file}:Noisy", python=sys.executable, samples=1000, seed=1)


def test_workers_and_a_store_change_nothing(file: str, tmp_path: Path) -> None:
    options = ["--python", sys.executable, "--seed", "1", "--samples", "3000", "-q"]
    found: list[Any] = []
    for more in (["--jobs", "1"], ["--jobs", "2"], ["--store", str(tmp_path / "s")]) * 1:
        json = tmp_path / f"{len(found)}.json"
        main(["audit", f"{file}:Noisy", *options, *more, "--json", str(json)])
        found.append(json.read_text().split('"claims"')[1].split('"context"')[0])
    assert found[0] == found[1] == found[2]


def test_python_without_numpy_has_another_generator_and_that_is_said(
    file: str, tmp_path: Path
) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    python = str(tmp_path / "bare" / "bin" / "python")
    once, again = (
        draw(elsewhere(file, "Alone", python), 0, 20, seed=1, key=("a",)) for _ in range(2)
    )
    assert once.same_as(again)
    result = audit(f"{file}:Alone", python=python, seed=1, samples=500)
    assert "has no numpy" in result.remarks[0]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Dies", "ended with status 3; the last line of its standard error: the disk is gone"),
        ("Hangs", "one run did not end within 0.5 s"),
    ],
)
def test_a_process_that_ends_or_hangs_is_named(file: str, name: str, words: str) -> None:
    subject = elsewhere(file, name)
    with pytest.raises(Misbehaviour, match=words):
        draw(subject, 0, 3, seed=1, key=(), limit=0.5 if name == "Hangs" else 30)
    # The next call starts another process.
    with pytest.raises(Misbehaviour, match=words):
        draw(subject, 0, 3, seed=1, key=(), limit=0.5 if name == "Hangs" else 30)


def test_what_is_printed_is_swallowed_and_counted(file: str) -> None:
    draws = draw(elsewhere(file, "Prints"), 0, 3, seed=1, key=())
    assert (len(draws), draws.printed > 0) == (3, True)


def test_an_interpreter_or_a_mechanism_that_is_not_there_is_refused(file: str) -> None:
    with pytest.raises(InputError, match="nowhere/python: cannot be started"):
        Elsewhere("nowhere/python", f"{file}:Noisy")
    with pytest.raises(InputError, match=r"cannot be made by .*has no attribute 'Nosy'"):
        Elsewhere(sys.executable, f"{file}:Nosy")
    with pytest.raises(InputError, match=r"ended with status 1.*give a Python"):
        Elsewhere("/bin/false", f"{file}:Noisy")


def test_a_network_is_not_sent(file: str) -> None:
    with pytest.raises(InputError, match="networks stay in this Python"):
        audit(f"{file}:Noisy", python=sys.executable, pairs=[(Net(), Net())], seed=1, samples=10)


class Net:
    adjacency = None


PROGRAM = """
import json, random, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["do"] == "describe":
        print(json.dumps({"claim": 1.0, "pairs": [[0, 1]], "source": "its page"}), flush=True)
        continue
    draw = random.Random(asked["seed"])
    for _ in range(asked["runs"]):
        value = asked["input"] if draw.random() < 0.9 else 1 - asked["input"]
        print(json.dumps(value))
    sys.stdout.flush()
"""


def command(tmp_path: Path, text: str) -> str:
    path = tmp_path / "program.py"
    path.write_text(text)
    return f"{sys.executable} {path}"


def test_any_program_is_audited_and_its_witness_drawn_again(tmp_path: Path) -> None:
    program, result = command(tmp_path, PROGRAM), tmp_path / "result.json"
    # Randomised response at 0.9 loses log(9) = 2.2.
    assert main(["audit", "--exec", program, "--seed", "1", "--json", str(result), "-q"]) == 1
    assert main(["replay", str(result)]) == 2
    assert main(["replay", str(result), "--trust"]) == 0


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("print('Loading data ...', flush=True)", "it printed Loading data ..., which is no JSON"),
        ("print('', flush=True)", "it printed an empty line, which is no JSON"),
        ("sys.exit('no licence')", "ended with status 1; the last line .*: no licence"),
        ("os.kill(os.getpid(), 11)", "ended by SIGSEGV"),
        ("time.sleep(60)", "one run did not end within 0.5 s"),
        ("os.close(1); time.sleep(60)", "closed its standard output"),
    ],
)
def test_a_program_that_does_something_else_is_named(
    tmp_path: Path, answer: str, words: str
) -> None:
    text = PROGRAM.replace("draw = random", f"import os, time; {answer}\n    draw = random")
    subject = Subject.of(Program(command(tmp_path, text)))
    with pytest.raises(Misbehaviour, match=words):
        draw(subject, 0, 3, seed=1, key=(), limit=0.5 if "0.5" in words else 30)


def test_an_error_of_a_program_is_an_output(tmp_path: Path) -> None:
    text = PROGRAM.replace("json.dumps(value)", "json.dumps({'error': 'Empty'})")
    draws = draw(Subject.of(Program(command(tmp_path, text))), 0, 3, seed=1, key=())
    assert [record[1] for record in draws.counts] == [("raises Empty",)]


def test_a_program_that_does_not_describe_itself_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not describe itself"):
        Program(command(tmp_path, "print(1)"))
    with pytest.raises(InputError, match="which is no JSON"):
        Program("/bin/echo hello")
    for wrong in ("python 'my", "python \\", "", "  "):
        with pytest.raises(ParameterError, match=r"close it|give a program") as caught:
            Program(wrong)
        assert caught.value.parameter == "program"


def test_a_program_that_waits_for_the_end_of_its_input_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pdpaudit.adapters.elsewhere.DESCRIBED_S", 0.2)
    with pytest.raises(ParameterError, match="read each line as it comes"):
        Program(f"{sys.executable} -c 'import sys; sys.stdin.read()'")


@pytest.mark.parametrize("option", [["--with", "a=1"], ["--epsilon", "1"], ["--sop", "CN"]])
def test_what_a_program_does_not_take_is_refused(
    tmp_path: Path, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "--exec", command(tmp_path, PROGRAM), *option]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"pdpaudit: {option[0]} ")
    assert said.endswith("put it into the command\n")


@pytest.mark.parametrize("claim", [-3, "zcdp", {"epsilon": 1.0}, True, [1]])
def test_a_claim_of_a_program_that_is_none_is_the_programs(tmp_path: Path, claim: object) -> None:
    described = json.dumps({"claim": claim, "pairs": [[0, 1]]})
    with pytest.raises(ParameterError, match='it describes itself with "claim": ') as caught:
        Program(command(tmp_path, f"print({described!r})"))
    assert caught.value.parameter == "program"


def test_no_process_outlives_its_mechanism(file: str) -> None:
    mechanism = Elsewhere(sys.executable, f"{file}:Noisy")
    assert mechanism.pipe is not None
    number = mechanism.pipe.process.pid
    del mechanism
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_a_network_of_numpy_values_arrives_as_it_was_sent(file: str) -> None:
    from pdpaudit.adapters.worker import decode, encode

    array = np.array([[1.5, -0.0], [np.inf, np.nan]], dtype=np.float32)
    back = decode(encode({"a": array, (1, 2): [{3}, b"x", 2**5000]}))
    assert isinstance(back, dict)
    assert back["a"].dtype == array.dtype
    assert back["a"].tobytes() == array.tobytes()
    assert back[(1, 2)] == [{3}, b"x", 2**5000]


def holding(value: object) -> Any:
    """Return a function that remembers a value."""
    return lambda: value


class Keeps:
    """Keeps a method of its own."""

    def __init__(self, value: object) -> None:
        self.value, self.kept = value, self.again

    def again(self) -> object:
        return self.value


async def later() -> None:
    """Give nothing, once it is awaited."""


HOLDING: list[Callable[[object], object]] = [
    holding,
    lambda value: functools.partial(holding(value), "x"),
    lambda value: [value].__contains__,
    lambda value: Keeps(value),
    lambda value: Keeps(value).kept,
]


@pytest.mark.parametrize("made", HOLDING)
def test_a_function_arrives_as_what_it_holds(made: Callable[[object], object]) -> None:
    """Another interpreter's outputs differ where those of this one do."""
    records = [flatten(worker.decode(worker.encode([made(one)]))) for one in (1, 1, 2, "x")]
    assert records[0] == records[1]
    assert len(set(records)) == 3


def test_a_closure_arrives_as_it_is_read_here() -> None:
    assert flatten(worker.decode(worker.encode(holding(1)))) == flatten(holding(1))


@pytest.mark.parametrize(
    ("made", "words"),
    [(object, "nothing can be seen, of type object"), (later, "a coroutine, which nothing awaits")],
)
def test_what_shows_nothing_does_not_arrive(made: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        worker.encode({"a": [made()]})
