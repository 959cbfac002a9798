"""Audit every measurement constructor of OpenDP that default arguments build, and print a table.

    python reports/wild/sweep.py PYTHON [--time-limit 60] [--seed 1]

PYTHON is an interpreter that has OpenDP. A violation is no finding before it is worked out by hand.
"""

from __future__ import annotations

import argparse
import json
import subprocess

from pdpaudit import audit
from pdpaudit.adapters.elsewhere import Elsewhere
from pdpaudit.core.errors import InputError, Misbehaviour

#: Lists constructors and what each must be given.
LISTED = """
import inspect, json, opendp.measurements as m
takes = lambda f: inspect.signature(f).parameters.values()
needed = lambda f: [one.name for one in takes(f) if one.default is one.empty]
print(json.dumps({n: needed(getattr(m, n)) for n in dir(m) if n.startswith("make_")}))
"""

#: What an argument of that name is given.
DEFAULTS: dict[str, object] = {
    "scale": 1.0,
    "prob": 0.75,
    "f": 0.5,
    "threshold": 5,
    "k": 2,
    "categories": ["a", "b", "c"],
    "candidates": [0, 2, 4, 6, 8],
    "alpha": 0.5,
    "total_limit": 10,
    "value_limit": 5,
    "optimize": "max",
    "lower": 0,
    "upper": 10,
}

#: Arguments that the adapter finds.
FOUND = {"input_domain", "input_metric", "output_measure"}


def verdict(python: str, name: str, needed: list[str], limit: float, seed: int) -> list[str]:
    """Return a row of the table: claim, bound and verdict, or why there is none."""
    lacking = [one for one in needed if one not in FOUND and one not in DEFAULTS]
    if lacking:
        return ["", "", f"no default for {', '.join(lacking)}"]
    given = {one: DEFAULTS[one] for one in needed if one not in FOUND}
    try:
        made = Elsewhere(python, f"opendp:{name}", given)
        [claim] = audit(made, seed=seed, time_limit=limit, budget="quick").claims
    except (InputError, Misbehaviour) as error:
        return ["", "", " ".join(str(error).split()).rpartition("bin/python: ")[2][:90]]
    bound = "" if claim.lower_bound is None else f"{claim.lower_bound:.3f}"
    words = claim.method[:60] if claim.status == "error" else claim.event.get("words", "")
    return [claim.statement, bound, f"{claim.status.replace('_', ' ')}: {words}"[:90]]


def main() -> None:
    """Print the table, as it comes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python")
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    listed = subprocess.run([asked.python, "-c", LISTED], capture_output=True, check=True)
    print("| constructor | claim | bound | verdict |\n|---|---|---|---|")  # noqa: T201
    for name, needed in json.loads(listed.stdout).items():
        row = verdict(asked.python, name, needed, asked.time_limit, asked.seed)
        print(f"| {name} | {' | '.join(row)} |", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
