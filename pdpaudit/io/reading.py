"""From files, or a networkx graph, to a network, with what was read summed up in two lines."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TypeAlias, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array

from pdpaudit.core.errors import InputError, ParameterError
from pdpaudit.core.network import Network, adjacency_from_edges, targeted_components
from pdpaudit.io.columns import EdgeOptions
from pdpaudit.io.graph_formats import find_format, read_graph_file
from pdpaudit.io.people import People, PeopleTable, find_people, partition, pseudonyms, read_labels
from pdpaudit.io.source import folded, read_source, show
from pdpaudit.io.ties import Ties, collapse, dropped_words, read_edge_list

Plant: TypeAlias = Callable[[csr_array, Sequence[str]], npt.NDArray[np.bool_]]
"""Chooses who is targeted, given adjacency matrix (n, n) and names (n): to bool, shape (n,)."""


UNLISTED = ("refuse", "protected")

#: What to do where no tie is left, by why most rows were dropped.
REMEDIES = {
    "rows with a missing end": "take NA and the like for names with `keep_missing`",
    "below min weight": "give a smaller `min_weight`",
    "zero-weight": "name another column with `weight_column`",
    "outside the time window": "give an earlier `since` or a later `until`",
}


class ReadOptions(EdgeOptions, total=False):
    """How :func:`read_network` takes the columns and rows of files."""

    id_column: str | None
    label_column: str
    targeted_value: str
    min_weight: float | None
    unlisted: str


@dataclass(frozen=True, eq=False)
class Reading:
    """A network as read from files, and what is to be said about it.

    ``summary`` has two lines: vertices, edges and what was dropped; targeted and components.
    ``notes`` say what was decided, a line each; ``names`` what the file calls each vertex, whatever
    the network calls it.
    """

    network: Network
    summary: str
    notes: tuple[str, ...]
    names: tuple[str, ...]


def read_network(
    edges: Path,
    *,
    nodes: Path | None = None,
    seeds: Sequence[str] | None = None,
    plant: Plant | None = None,
    names: bool = False,
    **options: Unpack[ReadOptions],
) -> Reading:
    r"""Read a network and who is targeted in it.

    Edge lists separated by commas, semicolons, tabs, bars or blanks, GML, GraphML, GEXF, Matrix
    Market, Pajek and others are recognised by what is in them; gzip too. The graph is simple
    and undirected: self-loops and repeated edges are dropped, and so are rows of weight 0,
    which say that there is no tie, and rows without one or both ends. People of dropped rows
    stay. Vertices are in the order of the nodes file, or else in the order in which the edges
    mention them; people of the nodes file who have no tie are vertices.

    Parameters
    ----------
    edges : Path
        The edge list or graph file.
    nodes : Path, optional
        A table of people with a header. With ``plant`` only its ids are used.
    seeds : sequence of str, optional
        Names or pseudonyms of the seeds; by default the smallest-index vertex of the largest
        targeted component.
    plant : callable, optional
        Chooses who is targeted, given the adjacency matrix and the names.
    names : bool
        Whether the network, and so all results on it, calls people by their names; by default
        they are ``person 0``, ``person 1`` and so on.
    id_column : str, optional
        Column of ids in ``nodes``; by default one named so, or the one that matches the edges.
    label_column : str
        Its column of labels, or the vertex attribute of a graph file; default ``label``.
    targeted_value : str
        The label of the targeted, by default ``target``; everyone else is protected.
    unlisted : str
        ``refuse``, or ``protected`` to take people without a label, or in no row of ``nodes``, as
        protected.
    source_column, target_column, weight_column, time_column : str, optional
        Columns of the edge list, by name or by number from 1.
    min_weight : float, optional
        Ties lighter than this are dropped; of repeated rows the heaviest counts.
    count_contacts : bool
        Whether a tie weighs as much as it has rows.
    since, until : str, optional
        Rows of other times are dropped; both included.
    keep_missing : bool
        Whether ``NA``, ``null``, ``-``, ``unknown`` and the like are names.

    Returns
    -------
    Reading
        O(bytes + m log m).

    Raises
    ------
    InputError
        If a file cannot be read for what it is, people and edges do not match, nobody or everybody
        is targeted, or a seed is unknown or protected.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ties, people = Path(folder.name, "ties.csv"), Path(folder.name, "people.csv")
    >>> _ = ties.write_text("source,target\nAnn,Bob\nBob,Cy\nBob,Ann\n")
    >>> _ = people.write_text("id,label\nAnn,target\nBob,protected\nCy,protected\n")
    >>> print(read_network(ties, nodes=people).summary)
    3 vertices, 2 edges; dropped 1 duplicate
    1 targeted, 2 protected; the targeted form 1 component of size 1
    >>> folder.cleanup()
    """
    edges = Path(edges)
    label_column = options.get("label_column", "label")
    unlisted = options.get("unlisted", "refuse")
    if unlisted not in UNLISTED:
        raise ParameterError("unlisted", unlisted, "give refuse or protected")
    if plant is not None and "label_column" in options and label_column != "label":
        raise InputError("plant chooses the targeted people; leave label_column out")
    table = None if nodes is None else PeopleTable(Path(nodes))
    ties = _read_ties(edges, table, options)
    said: list[str] = [*ties.notes]
    labels: Sequence[str | None] | None = None
    label_path = edges
    if table is not None:
        label_path = table.path
        column, kept = None if plant else label_column, options.get("keep_missing", False)
        people = table.read(options.get("id_column"), column, ties.names, keep_missing=kept)
        said += people.notes
        ties, labels = _on_people(edges, ties, label_path, people, unlisted, said)
    elif plant is None:
        labels = read_labels(_labels_in_file(edges, ties, label_column))
        said.append(f"no nodes file: labels are the vertex attribute {label_column!r}")
        if None in labels and unlisted == "refuse":
            raise InputError(
                f"{edges}: vertex {show(ties.names[labels.index(None)])} has no {label_column!r}; "
                "label everyone, name another attribute with `label_column`, or take whoever has "
                "no label as protected with `unlisted` protected"
            )
    else:
        said.append("no nodes file: only people with ties are known")
    low, high, dropped = collapse(
        ties, options.get("min_weight"), count_contacts=options.get("count_contacts", False)
    )
    if not len(low):
        raise _without_ties(edges, dropped)
    adjacency = adjacency_from_edges(len(ties.names), low, high)
    if plant is not None:
        targeted = plant(adjacency, ties.names)
    else:
        assert labels is not None
        hidden = () if names else set(ties.names)
        value = options.get("targeted_value", "target")
        targeted, more = partition(label_path, labels, value, hidden)
        said += more
    network, components = _network(adjacency, targeted, ties.names, seeds, edges.name, hint=names)
    if not names:
        network = replace(network, names=pseudonyms(ties.names))
        said.append(
            f"people are called {network.name(0)} to {network.name(network.n - 1)}, in the order "
            "in which the files list them; `names` calls them by their names"
        )
    if seeds is None:
        said.append(
            f"seed {show(network.name(network.seeds[0]))}: the first of the largest targeted "
            "component (choose others with `seeds`)"
        )
    return Reading(network, _summary(network, components, dropped), tuple(said), tuple(ties.names))


def _without_ties(edges: Path, dropped: Mapping[str, int]) -> InputError:
    """Return what is wrong with a file of which no tie is left."""
    most = max(dropped, key=dropped.__getitem__)
    held = f"no tie is left, {dropped_words(dropped)} dropped" * any(dropped.values())
    remedy = REMEDIES.get(most, "check that it is the right file, read by the right columns")
    return InputError(f"{edges}: {held or 'holds no tie'}; {remedy}")


def _network(
    adjacency: csr_array,
    targeted: npt.NDArray[np.bool_],
    ids: list[str],
    seeds: Sequence[str] | None,
    title: str,
    *,
    hint: bool,
) -> tuple[Network, list[npt.NDArray[np.int64]]]:
    """Return the network and the components of the targeted.

    It is made with the names, so that a refusal quotes what was asked for, before they are taken
    away.
    """
    components = targeted_components(adjacency, targeted)
    if seeds is not None:
        places = _seeds(ids, seeds, hint=hint)
    else:
        places = tuple(int(vertex) for component in components[:1] for vertex in component[:1])
    network = Network(adjacency, targeted, places, tuple(ids), title)
    return replace(network, stream_key=network.instance().fingerprint()), components


def _read_ties(edges: Path, table: PeopleTable | None, options: ReadOptions) -> Ties:
    source = read_source(edges)
    kind, notes = find_format(source)
    if kind is None:
        ids = set() if table is None else table.candidates(options.get("id_column"))
        ties = read_edge_list(source, options, ids)
    elif options.get("source_column") or options.get("target_column"):
        raise InputError(f"{edges}: a {kind} file has no columns; no `source_column`")
    elif options.get("since") or options.get("until"):
        raise InputError(f"{edges}: `since` and `until` need an edge list with a column of times")
    else:
        ties = read_graph_file(source, kind, weight_column=options.get("weight_column"))
    return replace(ties, notes=(*notes, *ties.notes))


def _on_people(
    edges: Path, ties: Ties, nodes: Path, people: People, unlisted: str, said: list[str]
) -> tuple[Ties, list[str | None] | None]:
    """Return the ties between people in the order of their table, and their labels."""
    listed = set(people.names)
    if ties.ids is not None and not set(ties.names) <= listed and set(ties.ids) <= listed:
        ties = replace(ties, names=ties.ids)
    places, names = _places(edges, ties, nodes, people, unlisted)
    labels = people.labels
    if labels is not None:
        lacking = labels.count(None)
        if lacking and unlisted == "refuse":
            raise InputError(
                f"{people.where[0]}: the label is missing; label everyone, name another column "
                "with `label_column`, or take whoever has no label as protected with `unlisted` "
                "protected"
            )
        labels = [*labels, *[None] * (len(names) - len(people.names))]
        if lacking:
            said.append(f"{lacking:,} people without a label are protected")
    if len(names) > len(people.names):
        said.append(f"{len(names) - len(people.names):,} people in no row of {nodes} are protected")
    return replace(ties, names=names, ends=places[ties.ends]), labels


def _labels_in_file(edges: Path, ties: Ties, label_column: str) -> Sequence[object]:
    if label_column in ties.attributes:
        return ties.attributes[label_column]
    there = ", ".join(show(name, 30) for name in ties.attributes)
    attributes = f", or name one of its vertex attributes with `label_column`: {there}"
    raise InputError(
        f"{edges}: does not say who is targeted; label people with `nodes` or plant them with "
        f"`plant`{attributes if there else ''}"
    )


def _places(
    edges: Path, ties: Ties, nodes: Path, people: People, unlisted: str
) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return the index of each vertex of the edges among all people, and everybody's name."""
    places: npt.NDArray[np.int64] = pd.Index(people.names, dtype=object).get_indexer(
        pd.Index(ties.names, dtype=object)
    )
    unknown = np.flatnonzero(places < 0)
    if len(unknown) and len(unknown) == len(places):
        raise InputError(
            f"{nodes}: none of its ids ({show(people.names[0], 30)}, …) is in {edges} "
            f"({show(ties.names[0], 30)}, …); choose the column that matches with `id_column`"
        )
    if len(unknown) and unlisted == "refuse":
        vertex = int(unknown[0])
        name = ties.names[vertex]
        rows = np.flatnonzero((ties.ends == vertex).any(axis=1))
        place = ties.where(int(rows[0])) if len(rows) else str(edges)
        more = f" ({len(unknown) - 1:,} more like it)" if len(unknown) > 1 else ""
        header = (
            "give it a header line, for the first line is taken as one"
            if name == people.id_header
            else "add the person there, remove the tie, or take people who are in no row as "
            "protected with `unlisted` protected"
        )
        raise InputError(f"{place}: vertex {show(name)} is not in {nodes}{more}; {header}")
    if len(unknown):
        _refuse_other_spellings(edges, nodes, people, [ties.names[v] for v in unknown.tolist()])
    places[unknown] = len(people.names) + np.arange(len(unknown))
    return places, [*people.names, *(ties.names[vertex] for vertex in unknown.tolist())]


def _refuse_other_spellings(edges: Path, nodes: Path, people: People, names: list[str]) -> None:
    """Refuse to protect whoever is listed in another spelling: case, blanks or leading zeros."""
    spelled = dict(zip(folded(people.names), people.names, strict=True))
    for name, form in zip(names, folded(names), strict=True):
        if other := spelled.get(form):
            raise InputError(
                f"{edges}: {show(name)} is in no row of {nodes}, and {show(other)} is: write them "
                "alike, or list both"
            )


def _summary(
    network: Network, components: Sequence[npt.NDArray[np.int64]], dropped: Mapping[str, int]
) -> str:
    isolates = int(np.count_nonzero(np.diff(network.adjacency.indptr) == 0))
    alone = f" ({isolates:,} without ties)" if isolates else ""
    sizes = [len(component) for component in components]
    of = "component of size" if len(sizes) == 1 else "components of sizes"
    return (
        f"{_count(network.n, 'vertex', 'vertices')}{alone}, "
        f"{_count(network.edges, 'edge', 'edges')}; dropped {dropped_words(dropped)}\n"
        f"{int(network.targeted.sum()):,} targeted, {len(network.protected):,} protected; the "
        f"targeted form {len(sizes):,} {of} {_sizes(sizes)}"
    )


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _sizes(sizes: list[int], limit: int = 8) -> str:
    runs = [(size, len(list(run))) for size, run in groupby(sizes)]
    said = [f"{size:,}" if times == 1 else f"{size:,} ({times:,} times)" for size, times in runs]
    return ", ".join(said[:limit]) + (", …" if len(said) > limit else "")


def _seeds(names: list[str], seeds: Sequence[str], *, hint: bool) -> tuple[int, ...]:
    places = []
    for seed, place in zip(seeds, find_people(seeds, names), strict=True):
        if place is None:
            # Only who may be named is suggested.
            near = difflib.get_close_matches(seed, _alike(seed, names), n=3) if hint else []
            more = f"; the nearest names are {', '.join(show(name, 40) for name in near)}"
            raise InputError(
                f"`seeds`: {show(seed)} is not a vertex{more if near else '; check the spelling'}"
            )
        places.append(place)
    return tuple(dict.fromkeys(places))


def _alike(seed: str, names: list[str], limit: int = 50_000) -> list[str]:
    """Keep the comparison of spellings short: in large networks, names with the same beginning."""
    if len(names) <= limit:
        return names
    start = seed[:2].casefold()
    return [name for name in names if name[:2].casefold() == start][:limit]
