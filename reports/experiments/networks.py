"""The networks of the experiments, and how their targeted populations were planted.

``regimes.json`` records the parameters of the infection that give each regime, and what they gave.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.core.errors import InputError
from pdpaudit.core.network import Network
from pdpaudit.experiments.generated_networks import (
    DBLP,
    IMDB,
    SEED,
    Infection,
    affiliation_network,
    embedded_network,
    plant,
)
from pdpaudit.io import read_network
from pdpaudit.outputs.records import JSON
from pdpaudit.sampling import stream

FOLDER = Path(__file__).parent
RECORDS = FOLDER / "regimes.json"

#: Which networks belong to which part of the experiments.
PARTS = {
    "small": ("embedded",),
    "real": ("movie_costars", "acl_coauthors"),
    "large": ("imdb_size", "dblp_size"),
}

#: Made up by the affiliation model, as many people and ties as the paper's.
MADE_UP = {"imdb_size": ("IMDB", IMDB), "dblp_size": ("DBLP", DBLP)}


def records() -> list[JSON]:
    """Return what is recorded of every network and regime."""
    read: list[JSON] = json.loads(RECORDS.read_text(encoding="utf-8"))
    return read


def network_of(record: Mapping[str, object], data: Path) -> Network:
    """Return the network of a record, with its population planted anew.

    Raises
    ------
    InputError
        If the data is not there.
    """
    if record["network"] == "embedded":
        return embedded_network(record["regime"])[0]
    infection = Infection(record["first"], record["p"], record["q"], record["rounds"])
    adjacency = _adjacency(record["network"], record["min_weight"], data)
    return plant(adjacency, infection, SEED, record["network"])


@cache
def _adjacency(name: str, min_weight: float | None, data: Path) -> csr_array:
    if name in MADE_UP:
        title, model = MADE_UP[name]
        return affiliation_network(model, stream(SEED, title))
    path = data / name / "edges.csv.gz"
    if not path.is_file():
        raise InputError(f"{path}: no such file; say where the networks are with --data FOLDER")

    def everybody(adjacency: csr_array, _: object) -> npt.NDArray[np.bool_]:
        # Labels are planted later; reading wants some.
        return np.arange(adjacency.shape[0]) == 0

    return read_network(path, min_weight=min_weight, plant=everybody).network.adjacency
