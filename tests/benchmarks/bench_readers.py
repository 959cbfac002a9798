"""How fast and how lean files are read, beside networkx and pandas in the same run.

Run with ``python -m pytest tests/benchmarks/bench_readers.py -s``. Each reading is done in a
process of its own, so that its peak memory is its own, too.
"""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = [pytest.mark.benchmark, pytest.mark.slow]

MIB = 2**20
VERTICES, EDGES = 956_043, 3_738_044  # the paper's DBLP

# Times are of the reading alone, after imports; memory is that of the whole process.
MEASURE = """
import json, sys, time
from pathlib import Path
import networkx, numpy, pandas, psutil
from pdpaudit.io import read_network
how, path, repeats = sys.argv[1], sys.argv[2], int(sys.argv[3])

def plant(adjacency, names):
    return numpy.arange(adjacency.shape[0]) % 1000 == 0

call = {
    "read_network": lambda: read_network(Path(path), plant=plant).network.edges,
    "networkx": lambda: networkx.read_weighted_edgelist(
        path, delimiter="\\t", comments="\\0", encoding="utf-8"
    ).number_of_edges(),
    "pandas": lambda: len(pandas.read_csv(path, dtype=object, na_filter=False)),
}[how]
wall, cpu = [], []
for _ in range(repeats):
    start = time.perf_counter(), time.process_time()
    found = call()
    wall.append(time.perf_counter() - start[0])
    cpu.append(time.process_time() - start[1])
status = Path("/proc/self/status")
if status.exists():  # getrusage would count the parent's memory at the fork, too
    peak = int(status.read_text().split("VmHWM:")[1].split()[0]) * 1024
elif sys.platform == "win32":
    peak = psutil.Process().memory_info().peak_wset
else:
    import resource
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"edges": found, "wall": min(wall), "cpu": min(cpu), "peak": peak}))
"""


def measure(how: str, path: Path, repeats: int) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, how, str(path), str(repeats)],
        check=True,
        capture_output=True,
        text=True,
    )
    result: dict[str, float] = json.loads(done.stdout)
    return result


@pytest.fixture(scope="module")
def coauthors(shared_data, tmp_path_factory):
    """Return the co-authors, and the same rows as networkx wants them."""
    path = shared_data / "acl_coauthors" / "edges.csv.gz"
    plain = tmp_path_factory.mktemp("acl") / "edges.tsv"
    with gzip.open(path, "rt", newline="", encoding="utf-8") as lines:
        rows = list(csv.reader(lines))[1:]
    plain.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path, plain


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Return a made-up network of the size of the paper's, names as ids, plain and gzipped."""
    rng = np.random.default_rng(1)
    letters = np.array(list("abcdefghiklmnoprstuvy"))
    words = ["".join(word).title() for word in rng.choice(letters, (2000, 6))]
    names = [
        f"{words[i % 2000]} {words[(i // 2000 + 7 * i) % 2000]} {i // 2000}"
        for i in range(VERTICES)
    ]
    ranks = rng.pareto(1.5, VERTICES) + 1  # a few people have very many ties
    one = rng.choice(VERTICES, EDGES, p=ranks / ranks.sum()).tolist()
    other = rng.integers(0, VERTICES, EDGES).tolist()
    weight = rng.integers(1, 20, EDGES).tolist()
    text = "source,target,weight\n" + "".join(
        f"{names[a]},{names[b]},{w}\n" for a, b, w in zip(one, other, weight, strict=True)
    )
    folder = tmp_path_factory.mktemp("large")
    plain, packed = folder / "edges.csv", folder / "edges.csv.gz"
    plain.write_text(text, encoding="utf-8")
    packed.write_bytes(gzip.compress(text.encode(), compresslevel=1))
    return plain, packed


def table(rows: list[tuple[str, dict[str, float], str]]) -> None:
    base = rows[0][1]
    lines = [
        f"{'':38}{'edges':>10}{'wall s':>8}{'cpu s':>8}{'peak MiB':>10}{'cpu/edge':>10}  target"
    ]
    for name, result, target in rows:
        ratio = (result["cpu"] / result["edges"]) / (base["cpu"] / base["edges"])
        lines.append(
            f"{name:38}{result['edges']:>10,}{result['wall']:>8.2f}{result['cpu']:>8.2f}"
            f"{result['peak'] / MIB:>10.0f}{ratio:>10.2f}  {target}"
        )
    print("", *lines, sep="\n")  # noqa: T201 - a benchmark speaks


def test_coauthors(coauthors, figure):
    packed, plain = coauthors
    baseline = measure("networkx", plain, 2)
    reading = measure("read_network", packed, 3)
    table(
        [
            ("networkx, tab-separated text", baseline, "(baseline)"),
            ("read_network, gzipped", reading, "2 s"),
        ]
    )
    figure("read the co-authors", reading["cpu"], "s", baseline=baseline["cpu"], limit=2)
    assert reading["edges"] == baseline["edges"] == 257_057
    assert reading["cpu"] < 2  # the wall clock also counts whatever else the machine is doing


def test_network_of_the_size_of_the_papers(large, coauthors, figure):
    plain, packed = large
    baseline = measure("networkx", coauthors[1], 1)
    parsing = measure("pandas", plain, 1)
    readings = measure("read_network", plain, 1), measure("read_network", packed, 1)
    table(
        [
            ("networkx on the co-authors", baseline, "(baseline)"),
            ("pandas.read_csv alone, no graph", parsing, ""),
            ("read_network, text", readings[0], "6 s, 1536 MiB"),
            ("read_network, gzipped", readings[1], "10 s, 1536 MiB"),
        ]
    )
    for name, limit, reading in zip(("text", "gzip"), (6, 10), readings, strict=True):
        told = f"read names, DBLP size, {name}"
        figure(told, reading["cpu"], "s", baseline=parsing["cpu"], limit=limit)
        figure(f"{told}, peak", reading["peak"] / MIB, "MiB", limit=1536)
    assert readings[0]["edges"] == readings[1]["edges"]
    assert max(reading["peak"] for reading in readings) < 1536 * MIB
