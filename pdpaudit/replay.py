"""Re-run a witness, and say whether it shows again what it showed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pdpaudit import __version__
from pdpaudit.asking import law_of
from pdpaudit.audit import EXACT_SLACK
from pdpaudit.audit.looking import draw_in_looks, draw_sides, first_count
from pdpaudit.audit.plan import SEQUENTIAL
from pdpaudit.conformance.replaying import replay_witness
from pdpaudit.contracts import LawfulMechanism, Mechanism, PrivacyClaim
from pdpaudit.errors import InputError
from pdpaudit.evidence import lower_bound
from pdpaudit.evidence.sequential import Known, Wager
from pdpaudit.losses import exact_loss
from pdpaudit.making import make_mechanism
from pdpaudit.neighbors import NeighborPair, difference
from pdpaudit.network import Network, adjacency_from_edges
from pdpaudit.observables import observed
from pdpaudit.outputs import Event, Side, event_from_json
from pdpaudit.proof_check import check_certificate
from pdpaudit.sampling import Hits, Misbehaviour

__all__ = ["Replay", "inputs_of", "network_of", "pair_of", "replay_check", "replay_claim"]

#: How a network is read again from what its file was called and the options it was read with.
ReadNetwork = Callable[[Mapping[str, Any], int], Network]


@dataclass(frozen=True)
class Replay:
    """Whether a witness shows again what it showed.

    Attributes
    ----------
    subject : str
        The claim or check.
    reproduced : bool
        Whether it does.
    why : str
        What was compared, in one sentence.
    """

    subject: str
    reproduced: bool
    why: str


def replay_claim(
    claim: Mapping[str, Any], seed: int, version: str, read: ReadNetwork, jobs: int = 1
) -> Replay:
    """Re-run the witness of one claim.

    The two networks are built again and held against the definition of neighbours by code that
    shares nothing with the search; an exact loss is computed again, sampled counts are drawn again
    from the same stream and must agree to the last one.

    Parameters
    ----------
    claim : mapping
        A claim of a result file, with its witness.
    seed : int
        The result's seed.
    version : str
        The version of pdpaudit that wrote it.
    read : callable
        Reads a network that the witness only names.
    jobs : int
        Worker processes.

    Raises
    ------
    InputError
        If the witness cannot be used, or was sampled by another version, whose streams may differ.
    """
    witness, name = claim.get("witness"), str(claim.get("id", "claim"))
    if not isinstance(witness, Mapping) or witness.get("kind") != "audit":
        raise InputError(f"{name}: holds no witness of an audit, so there is nothing to replay")
    try:
        spec = witness["mechanism"]
        made, _ = make_mechanism(spec["name"], spec["parameters"])
        mechanism = observed(made, spec.get("observe"))
        event = event_from_json(witness["event"])
        promise = PrivacyClaim(claim["claimed"]["epsilon"], claim["claimed"]["delta"])
        left, right = inputs_of(witness, mechanism, seed, read)
    except (KeyError, TypeError, IndexError) as error:
        raise InputError(f"{name}: its witness is damaged ({error}); audit again") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        return Replay(name, False, f"the witness is no neighbouring pair: {error}")
    if "certificate" in witness:
        ours, theirs = (left, right) if event.side == "left" else (right, left)
        return Replay(name, *check_certificate(claim, mechanism, event, ours, theirs))
    if claim.get("exact") is not None:
        return _exact(name, claim, mechanism, left, right, promise)
    if version != __version__:
        raise InputError(
            f"{name}: sampled by pdpaudit {version}, this is {__version__}, whose samples may "
            f"differ; install that version, or audit again"
        )
    return _sampled(name, claim, witness, mechanism, event, left, right, promise, seed, jobs)


def replay_check(check: Mapping[str, Any]) -> Replay:
    """Re-run the counterexample of one check of a statistic, by code of its own.

    Raises
    ------
    InputError
        If the statistic cannot be found, or the witness is none.
    """
    shown = replay_witness(check["witness"])
    return Replay(str(check.get("name", "check")), shown.reproduced, shown.detail)


def network_of(base: Mapping[str, Any], title: str, seed: int, read: ReadNetwork) -> Network:
    """Build the network of a witness again, from what is written out or from its file."""
    if "file" in base:
        network = read(base["file"], seed)
        if network.n != base["n"] or list(network.seeds) != base["seeds"]:
            raise InputError(f"{base['file']['edges']}: not the network the witness was found on")
        return network
    n = int(base["n"])
    edges = np.asarray(base["edges"], dtype=np.int64).reshape(-1, 2)
    if edges.size and not 0 <= edges.min() <= edges.max() < n:
        raise ValueError("an edge names a vertex that does not exist")
    targeted = np.zeros(n, dtype=bool)
    targeted[np.asarray(base["targeted"], dtype=np.int64)] = True
    return Network(
        adjacency_from_edges(n, edges[:, 0], edges[:, 1]),
        targeted,
        tuple(base["seeds"]),
        base.get("names"),
        title,
        base.get("max_degree"),
    )


def pair_of(pair: Mapping[str, Any], seed: int, read: ReadNetwork) -> NeighborPair:
    """Build a neighbouring pair again and hold it against the definition.

    Raises
    ------
    ValueError
        If the two networks are not neighbours.
    """
    network = network_of(pair["base"], pair["network"], seed, read)
    built = NeighborPair(
        network,
        int(pair["vertex"]),
        np.asarray(pair["left"], dtype=np.int64),
        np.asarray(pair["right"], dtype=np.int64),
        pair.get("family", ""),
    )
    reason = difference(built.left, built.right, built.vertex)
    if reason is not None:
        raise ValueError(reason)
    return built


def inputs_of(
    witness: Mapping[str, Any], mechanism: Mechanism, seed: int, read: ReadNetwork
) -> tuple[Any, Any]:
    """Build the two instances of a witness again, and hold them against the definition."""
    pair = witness["pair"]
    if "base" in pair:
        built = pair_of(pair, seed, read)
        return built.left.instance(), built.right.instance()
    own = list(getattr(mechanism, "pairs")())  # noqa: B009 - an optional part of the contract
    left, right = own[int(pair["number"]) - 1][-2:]
    return left, right


def _exact(
    name: str,
    claim: Mapping[str, Any],
    mechanism: Mechanism,
    left: Any,
    right: Any,
    promise: PrivacyClaim,
) -> Replay:
    if not isinstance(mechanism, LawfulMechanism):
        raise InputError(f"{name}: the mechanism has no exact law any more; audit again")
    try:
        laws = law_of(mechanism, left), law_of(mechanism, right)
    except Misbehaviour as error:
        return Replay(name, False, str(error))
    loss = exact_loss(*laws, promise.delta).epsilon
    told = float(claim["exact"])
    # What is published keeps eight digits.
    same = loss == told or abs(loss - told) <= 1e-7 * max(1.0, abs(told))
    words = f"exact loss {loss:.10g} computed again, {told:.10g} on file"
    broken = loss > promise.epsilon + EXACT_SLACK + sum(law.error for law in laws)
    return Replay(name, same and broken == (claim["status"] == "violated"), words)


def _sampled(
    name: str,
    claim: Mapping[str, Any],
    witness: Mapping[str, Any],
    mechanism: Mechanism,
    event: Event,
    left: Any,
    right: Any,
    promise: PrivacyClaim,
    seed: int,
    jobs: int,
) -> Replay:
    size, number = int(witness["samples"]), int(witness["claim"])
    counted: dict[Side, Hits] = {"left": Hits(), "right": Hits()}
    inputs: dict[Side, Any] = {"left": left, "right": right}
    alpha, wager = float(witness["alpha"]), None
    key = ("confirm", number)
    try:
        if witness["method"] == SEQUENTIAL:
            wager = draw_in_looks(
                mechanism,
                inputs,
                event,
                event.side,
                Wager.begin(alpha, promise.epsilon, promise.delta, Known(*witness["known"])),
                witness["looks"],
                seed=seed,
                number=number,
                counted=counted,
                jobs=jobs,
            )
            size = wager.n
        else:
            draw_sides(
                mechanism, inputs, size, event, seed=seed, key=key, counted=counted, jobs=jobs
            )
    except Misbehaviour as error:
        return Replay(name, False, str(error))
    inside = {side: first_count(one) for side, one in counted.items()}
    ours = event.side
    theirs: Side = "right" if ours == "left" else "left"
    told = claim["event"]
    seen = f"{inside[ours]} and {inside[theirs]} of {size} runs fell into the event"
    if (inside[ours], inside[theirs]) != (told["inside"], told["inside_other"]):
        on_file = f"{told['inside']} and {told['inside_other']} on file"
        return Replay(name, False, f"{seen}, {on_file}")
    if wager is not None:
        bound = wager.bound
    else:
        counts = (inside[ours], size, inside[theirs], size)
        bound = float(lower_bound(*counts, alpha, promise.delta, method=witness["method"]))
    same = abs(bound - float(claim["lower_bound"])) < EXACT_SLACK
    broken = bound > promise.epsilon
    words = f"{seen}, as on file; lower bound {bound:.6g}"
    return Replay(name, same and broken == (claim["status"] == "violated"), words)
