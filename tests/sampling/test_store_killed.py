"""Killed with SIGKILL again and again, a run ends with what it would have been without."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

# One process is warm and forks those that are killed: they die in their work, not in their imports.
SCRIPT = """
import json, os, random, signal, sys, time
from pathlib import Path
from pdpaudit.outputs import Draws
from pdpaudit.sampling import draw, engine, store
import numpy as np

class Die:
    def sample(self, instance, size, rng):
        return (rng.integers(6, size=size) + instance).tolist()
    def run(self, instance, rng):
        raise AssertionError

engine.BATCHED_CHUNK, engine.BATCH = 200, int(sys.argv[6])
store.COMMIT_S, store.COMMIT_SHARE = float(sys.argv[2]), float("inf")
path, size, kills, at_once = Path(sys.argv[1]), int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])

def work(kept):
    return draw(Die(), 1, size, seed=5, key=("k",), store=kept)

def child():
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            with store.Store(path, {"seed": "5"}) as kept:
                work(kept)
            status = 0
        finally:
            os._exit(status)
    return pid

rng = random.Random(7)
began = time.perf_counter()
os.waitpid(child(), 0)
whole = time.perf_counter() - began
path.unlink()
killed, done, at_work = 0, 0, set()
found = []
while killed < kills:
    family = [child() for _ in range(at_once)]
    # Early and late alike: in opening and making the file, in drawing, in a commit. Spread over a
    # whole run, however quick it is, or all would fall before the first commit.
    time.sleep(rng.uniform(0, whole))
    for pid in family:
        os.kill(pid, signal.SIGKILL)
    for pid in family:
        _, status = os.waitpid(pid, 0)
        killed += os.WIFSIGNALED(status)
        done += os.WIFEXITED(status)
        assert not (os.WIFEXITED(status) and os.WEXITSTATUS(status)), status
    if path.exists():
        with store.Store(path, {"seed": "5"}) as kept:
            stream = kept.kept(Draws, ("k",), 5, 1)
            found.append(sum(map(len, stream.spans([200] * (size // 200)))))
    # The machine may be busier now than when the whole run was measured, or less.
    whole *= 0.8 if done else 1.02
    if done:
        path.unlink()
        done = 0
with store.Store(path, {"seed": "5"}) as kept:
    resumed = work(kept)
plain = work(None)
left = [name for name in os.listdir(path.parent) if name != path.name]
print(json.dumps({
    "killed": killed, "same": resumed.same_as(plain),
    "found": kept.found, "levels": len(set(found)),
    "left": left,
}))
"""


@pytest.mark.parametrize(
    ("commit_s", "at_once", "batch"), [(0.0, 1, 1), (0.005, 1, 3), (0.0, 2, 4)]
)
def test_kills_change_nothing(tmp_path, commit_s, at_once, batch, repetitions):
    """120 kills in all with --slow. Two at once are two processes on one store, both killed."""
    kills, folder = repetitions(12, 40), tmp_path / "kept"
    folder.mkdir()
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            SCRIPT,
            folder / "run.db",
            str(commit_s),
            "20000",
            str(kills),
            str(at_once),
            str(batch),
        ],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert told["killed"] >= kills
    assert told["same"]
    assert told["levels"] > kills // 12  # kills fell on stores filled to different degrees
