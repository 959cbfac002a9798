"""Networks of the size of the paper's: made up, read, scored, searched and audited.

Run with ``python -m pytest tests/benchmarks/bench_scale.py -s``. Seconds are of processor time; on
an idle machine that is the time it takes, for nothing here uses a second core.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import triu

from pdpaudit.algorithms.searches.search_com import PTarget
from pdpaudit.algorithms.statistics import CN
from pdpaudit.core.network import Network, default_seeds, targeted_components
from pdpaudit.experiments.generated_networks import DBLP, IMDB, affiliation_network, infect, scaled

pytestmark = [pytest.mark.benchmark, pytest.mark.slow]

# A command in a process of its own: its processor time and its peak memory are its own, too.
COMMAND = """
import json, resource, sys, time
from pathlib import Path
begun = time.process_time(), time.perf_counter()
if sys.argv[1] == "read":
    import numpy as np
    from pdpaudit.io import read_network
    begun = time.process_time(), time.perf_counter()
    plant = lambda adjacency, names: np.arange(adjacency.shape[0]) % 1000 == 0
    read_network(Path(sys.argv[2]), plant=plant)
else:
    from pdpaudit.cli import main
    try:
        main(sys.argv[1:])
    except SystemExit as end:
        assert end.code in (0, 1), end.code
peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
told = {"cpu": time.process_time() - begun[0], "wall": time.perf_counter() - begun[1], "peak": peak}
print("\\n" + json.dumps(told))
"""


def in_a_process(*arguments: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments], check=True, capture_output=True, text=True
    )
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return told


def spent(call, times: int = 3) -> float:
    """Return the median processor time of a call, in seconds."""
    seconds = []
    for _ in range(times):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return float(np.median(seconds))


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("scale")
    made = {}
    for name, model in (("DBLP", DBLP), ("IMDB", IMDB)):
        upper = triu(affiliation_network(model, np.random.default_rng(1)), format="coo")
        order = np.random.default_rng(2).permutation(upper.nnz)
        table = pd.DataFrame({"source": upper.row[order], "target": upper.col[order]})
        made[name] = folder / f"{name}.csv"
        table.to_csv(made[name], index=False)
    made["gzip"] = folder / "DBLP.csv.gz"
    made["gzip"].write_bytes(gzip.compress(made["DBLP"].read_bytes(), compresslevel=1))
    return made


def planted(model, seed: int = 1, passing: float = 0.25) -> Network:
    adjacency = affiliation_network(model, np.random.default_rng(seed))
    source = int(np.diff(adjacency.indptr).argmax())
    targeted = infect(adjacency, source, passing, 0.6, 4, np.random.default_rng(seed))
    return Network(adjacency, targeted, default_seeds(adjacency, targeted))


@pytest.mark.parametrize(("name", "limit"), [("DBLP", 6.0), ("gzip", 10.0), ("IMDB", 7.5)])
def test_reading(files, figure, name, limit) -> None:
    parsing = spent(lambda: pd.read_csv(files["DBLP"]), 1)
    told = in_a_process("read", str(files[name]))
    figure(f"read {name}", told["cpu"], "s", baseline=parsing, limit=limit)
    figure(f"read {name}, peak", told["peak"], "MiB", limit=1536)
    assert told["peak"] < 1536
    assert told["cpu"] < 1.5 * limit  # processor time grows where others use the caches


def test_searching(figure) -> None:
    network = planted(DBLP)
    many = np.random.default_rng(5).random(network.n) < 0.1
    targets = np.flatnonzero(network.targeted)
    product = spent(lambda: network.adjacency.astype(np.int32) @ network.targeted.astype(np.int32))
    scoring = spent(lambda: CN().scores(network.adjacency, targets))
    figure("CN of all vertices, DBLP size", scoring, "s", baseline=product, limit=0.2)
    splitting = spent(lambda: targeted_components(network.adjacency, many))
    figure("components of 95,000 targeted vertices", splitting, "s", baseline=product)
    mechanism, rng = PTarget(sop=CN(), components=10, max_degree=1000), np.random.default_rng(2)
    noise = spent(lambda: [rng.laplace(size=network.n) for _ in range(9)])
    run = spent(lambda: mechanism.run(network.instance(), rng))
    figure("one run of PTarget, 10 components, DBLP size", run, "s", baseline=noise, limit=3)
    assert scoring < 0.4
    assert splitting < 1
    assert run < 4.5


# Passed on a fifth as often where people have five times the contacts: some hundred targets.
@pytest.mark.parametrize(
    ("name", "passing", "degree"), [("DBLP", 0.25, "1000"), ("IMDB", 0.05, "2000")]
)
def test_auditing(files, figure, name, passing, degree) -> None:
    command = ["audit", "PTarget", "--edges", str(files[name]), "--infect", f"{passing},0.6,4"]
    told = in_a_process(*command, "--max-degree", degree, "--seed", "1")
    limit = 60 if name == "DBLP" else None  # one is promised, the other watched
    figure(f"audit of PTarget, {name} size", told["cpu"], "s", limit=limit)
    figure(f"audit of PTarget, {name} size, peak", told["peak"], "MiB", limit=1536)
    assert told["peak"] < 1536
    assert limit is None or told["cpu"] < 1.5 * limit


def test_no_quadratic_step_hides(figure) -> None:
    def slope(name: str, sizes, seconds) -> None:
        fitted = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
        figure(f"slope of time against {name}", fitted, "", limit=1.4)
        assert fitted < 1.4

    shares = [0.03, 0.1, 0.3]
    slope(
        "n, making the network up",
        shares,
        [
            spent(lambda s=s: affiliation_network(scaled(DBLP, s), np.random.default_rng(1)))
            for s in shares
        ],
    )
    mechanism, rng = PTarget(sop=CN(), components=5, max_degree=2000), np.random.default_rng(2)
    networks = [planted(scaled(DBLP, share)) for share in shares]
    slope(
        "n, a run of PTarget",
        [network.n for network in networks],
        [spent(lambda w=network: mechanism.run(w.instance(), rng)) for network in networks],
    )
    base = scaled(IMDB, 0.2)
    denser = [
        planted(replace(base, ties=ties)) for ties in (base.ties // 4, base.ties // 2, base.ties)
    ]
    slope(
        "m, scoring",
        [network.edges for network in denser],
        [
            spent(lambda w=network: CN().scores(w.adjacency, np.flatnonzero(w.targeted)))
            for network in denser
        ],
    )
    network = planted(scaled(DBLP, 0.1), passing=0.5)
    counts = [5, 10, 20, 40]
    searches = [PTarget(sop=CN(), components=k, max_degree=2000) for k in counts]
    slope(
        "k, a run of PTarget",
        counts,
        [spent(lambda s=search: s.run(network.instance(), rng)) for search in searches],
    )
    instance = planted(scaled(DBLP, 0.003), passing=0.1).instance()
    two, samples = PTarget(sop=CN(), components=3, max_degree=1000), [20_000, 60_000, 180_000]
    slope(
        "samples, PTarget of two rounds",
        samples,
        [spent(lambda s=size: two.sample(instance, s, rng)) for size in samples],
    )
