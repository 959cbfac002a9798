"""Random streams keyed by what they are for.

A stream depends on the root seed and its key alone, so a result does not depend on the number of
workers, on the order of the checks or on which of them were selected.
"""

from __future__ import annotations

import hashlib
import secrets

import numpy as np

from pdpaudit.core.errors import ParameterError

__all__ = ["draw_seed", "stream"]

SEPARATOR = "\x1f"


def draw_seed(seed: int | None) -> int:
    """Return the seed asked for, or a fresh one to be recorded."""
    if seed is None:
        return secrets.randbelow(2**32)
    if seed < 0:
        raise ParameterError("seed", seed, "a seed is a whole number >= 0")
    return seed


def stream(seed: int, *key: str | int) -> np.random.Generator:
    """Return the random stream for one purpose."""
    text = SEPARATOR.join(map(_part, key)).encode("utf-8", "surrogatepass")
    # SeedSequence(seed, spawn_key=<the digest's words>), its words laid out as numpy lays them out:
    # a long run needs a stream every few milliseconds, and each word given alone costs an array.
    width = 4 * max(4, -(-seed.bit_length() // 32))
    words = seed.to_bytes(width, "little") + hashlib.sha256(text).digest()
    return np.random.default_rng(np.random.SeedSequence(np.frombuffer(words, dtype="<u4")))


def _part(part: str | int) -> str:
    """Write one part of a key so that different keys are written differently.

    Names come from users' files and may hold anything; a numpy integer is a number like others.
    """
    if isinstance(part, str):
        return f"str:{part.replace(SEPARATOR, 2 * SEPARATOR)}"
    return f"int:{int(part)}"
