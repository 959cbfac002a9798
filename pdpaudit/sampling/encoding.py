"""Write down what many runs gave, exactly, without pickling: bytes that hold no code."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections import Counter

import numpy as np

#: Fast, and outputs repeat a lot.
LEVEL = 1

#: Bytes that a chunk's outputs take at most, written down.
MOST = 1 << 30

#: Bytes that are not worth setting up a compressor.
SHORT = 4096

WRITER = json.JSONEncoder(separators=(",", ":"))

AS_THEY_ARE = {int, bool, type(None)}

#: Two of these would be read back as one character.
SURROGATE = re.compile("[\ud800-\udfff]")


def as_text(value: object) -> str:
    """Write a value down as ASCII text, which :func:`decode` reads too."""
    return WRITER.encode(_tagged(value))


def encode(value: object) -> bytes:
    """Write a value down so that :func:`decode` returns its equal."""
    text = as_text(value).encode("ascii")
    return text if len(text) < SHORT else zlib.compress(text, LEVEL)


def decode(written: bytes) -> object:
    """Return the value that was written down."""
    try:
        # No JSON begins like a compressed stream, with an "x".
        text = _inflated(written) if written[:1] == b"x" else written
        return _plain(json.loads(text))
    except (zlib.error, LookupError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ValueError(f"not written by encode: {error}") from None


def _inflated(written: bytes) -> bytes:
    """Decompress no more than a chunk can hold: a few bytes may stand for all of the memory."""
    stream = zlib.decompressobj()
    text = stream.decompress(written, MOST)
    if not stream.eof:
        raise ValueError("it is cut off, or endless")
    return text


def _tagged(value: object) -> object:
    """Return a value as JSON knows it: a list is a tuple, an object is anything else, by tag."""
    kind = type(value)
    if kind in AS_THEY_ARE:  # nearly everything: every vertex of every output comes by here
        return value
    if type(value) is tuple:
        return [item if type(item) in AS_THEY_ARE else _tagged(item) for item in value]
    if isinstance(value, str):
        text = str(value)
        if text.isascii() or not SURROGATE.search(text):
            return text
        return {"text": text.encode("utf-8", "surrogatepass").hex()}
    if isinstance(value, np.generic) and not isinstance(value, np.longdouble | np.clongdouble):
        return _tagged(value.item())
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, tuple):
        return [_tagged(item) for item in value]
    if isinstance(value, list):
        return {"list": [_tagged(item) for item in value]}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, frozenset):
        return {"set": sorted((_tagged(item) for item in value), key=repr)}
    if isinstance(value, dict):
        return {"counter" if kind is Counter else "dict": _items(value)}
    if isinstance(value, complex):
        return {"complex": [value.real.hex(), value.imag.hex()]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        raw = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode("ascii")
        return {"array": [value.dtype.str, list(value.shape), raw]}
    raise TypeError(f"a {type(value).__name__} cannot be written down")


def _items(value: dict[object, object]) -> list[list[object]]:
    """Return keys and items in an order that does not depend on when they came."""
    items = [[_tagged(key), _tagged(item)] for key, item in value.items()]
    return sorted(items, key=lambda item: repr(item[0]))


def _plain(coded: object) -> object:
    if isinstance(coded, list):
        return tuple(_plain(item) for item in coded)
    if isinstance(coded, dict):
        ((tag, body),) = coded.items()
        return _read(tag, body)
    return coded


def _read(tag: str, body: object) -> object:
    """Return the value that stands under a tag."""
    match tag, body:
        case "float", str():
            return float.fromhex(body)
        case "list", list():
            return [_plain(item) for item in body]
        case "set", list():
            return frozenset(_plain(item) for item in body)
        case "dict", list():
            return {_plain(key): _plain(item) for key, item in body}
        case "counter", list():
            return Counter({_plain(key): int(item) for key, item in body})
        case "text", str():
            return bytes.fromhex(body).decode("utf-8", "surrogatepass")
        case "bytes", str():
            return base64.b64decode(body)
        case "complex", [str(real), str(imaginary)]:
            return complex(float.fromhex(real), float.fromhex(imaginary))
        case "array", [str(dtype), list(shape), str(raw)] if np.dtype(dtype).kind in "biuf":
            return np.frombuffer(base64.b64decode(raw), dtype).reshape(shape).copy()
    raise ValueError(f"nothing is written as {tag!r}")
