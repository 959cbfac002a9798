"""Say in words when an output belongs to an event."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass

from pdpaudit.outputs.columns import ORDERED, Atom, Coded, Crossed, Numbered, Whole, atom_of
from pdpaudit.outputs.events import Event, Membership, Score
from pdpaudit.outputs.records import MARKS, NUMERIC, RAISES, WARNINGS, WARNS, Path, Structure

#: Names shown in a sentence before the rest is counted, and characters of one.
SHOWN, MOST = 4, 60

#: What is said of some kinds of leaves; any other is "a" and its name.
KINDS = {
    "float": "a number",
    "-0.0": "negative zero",
    "nan": "not a number",
    "inf": "infinite",
    "-inf": "minus infinity",
    "int": "a whole number",
    "bool": "a truth value",
    "None": "None",
    "str": "a text",
    "absent": "missing",
}

#: What stands around the entries of some containers; around those of others, their name.
BRACKETS = {"list": ("[", "]"), "tuple": ("(", ")"), "set": ("{", "}"), "dict": ("{", "}")}


@dataclass(frozen=True)
class Vocabulary:
    """What outputs and their entries are called."""

    name: Callable[[int], str] = str
    done: str = ""
    number: str = "the output"


def list_names(names: Iterable[str], shown: int = SHOWN) -> str:
    """Return names as a set in a sentence, a long one cut and counted."""
    known = list(names)
    if not known:
        return "{nobody}"
    if len(known) <= shown:
        return "{" + ", ".join(known) + "}"
    return "{" + ", ".join(known[:shown]) + f" and {len(known) - shown} more}}"


def shown(value: Hashable, name: Callable[[int], str] = str, most: int = MOST) -> str:
    r"""Return a category as it is shown: printable and not too long."""
    text = _plain(value, name)
    text = text if text.isprintable() else ascii(text)
    return text if len(text) <= most else text[: most - 3] + "..."


def _plain(value: Hashable, name: Callable[[int], str]) -> str:
    if isinstance(value, tuple):
        return list_names([_plain(item, name) for item in value])
    if type(value) is int:
        return name(value)
    if isinstance(value, Atom):
        if value.kind in KINDS or isinstance(value.value, bytes):
            return KINDS["nan"] if value.kind == "nan" else repr(value.value)
        return value.kind if value.value is None else f"{value.kind} {value.value}"
    if isinstance(value, Whole):
        structure, kinds, values = value.record
        atoms = (atom_of(*leaf) for leaf in zip(kinds, values, strict=True))
        leaves = (repr(one) if isinstance(one, str) else _plain(one, str) for one in atoms)
        return _part(structure, leaves)
    return str(value)


def _part(structure: Structure, leaves: Iterator[str]) -> str:
    """Return a part of an output much as Python shows it, taking its leaves in order."""
    if structure is None:
        return next(leaves)
    kind, keys, parts = structure
    inner = [_part(part, leaves) for part in parts]
    if keys is not None:
        pairs = zip(map(str, keys), inner, strict=True)
        inner = [f"{_key(k)}: {part}" if kind == "dict" else f"{k}={part}" for k, part in pairs]
    opened, closed = BRACKETS.get(kind, (f"{kind.split()[0]}(", ")"))
    return f"{opened}{', '.join(inner)}{closed}"


def _key(key: str) -> str:
    """Return a key of a dictionary: a text, or a whole number as records keep it."""
    return key.strip("[]") if key.startswith("[") else key if key.startswith(MARKS) else repr(key)


def event_words(event: Event, words: Vocabulary) -> str:
    """Say when an output belongs to an event."""
    if isinstance(event, Membership):
        return _membership(event, words)
    if isinstance(event, Score):
        names = list(dict.fromkeys(_column(term.column, words) for term in event.terms))
        if len(names) > 4:
            names = [*names[:3], f"{len(names) - 3} more columns"]
        listed = ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]
        return f"a score of {listed} is at least {event.threshold:.6g}"
    if event.low > event.high:  # it has no outputs: nothing was found to look at
        return "the outputs differ"
    column = _column(event.column, words)
    if event.low == event.high:
        return f"{column} is {event.low:.6g}"
    ends = [f"at least {event.low:.6g}"] if event.low > -math.inf else []
    ends += [f"at most {event.high:.6g}"] if event.high < math.inf else []
    return f"{column} is {' and '.join(ends) or 'a number'}"


def entry_words(path: Path, words: Vocabulary) -> str:
    """Return what is at a path; entries are counted from 1."""
    if not path:
        return words.number
    text = f"entry {', '.join(map(_step, path))}"
    return text if text.isprintable() else ascii(text)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return str(step + 1)
    return step if step.startswith(MARKS) else f'"{step}"'


def _column(column: Numbered, words: Vocabulary) -> str:
    if isinstance(column, Crossed):
        return " with ".join(_column(one, words) for one in column.columns)
    if isinstance(column, Coded):
        inner = column.column
        if inner.aspect in ("structure", "output"):
            return f"the {inner.aspect}"
        if inner.path == (WARNINGS,):
            return "what it warns of"
        kind = {"kind": "the kind of ", "keys": "the keys of ", "template": "the text of "}
        return kind.get(inner.aspect, "") + entry_words(inner.path, words)
    at = column.at
    if column.aspect == "place":
        at = shown(column.at, words.name)
    elif column.aspect in ("step", "embedded", "byte"):
        at = column.place + 1
    elif column.aspect == "above":
        at = f"{column.amount:.6g}"
    listed = column.aspect == "length" and not column.path
    it = "the list" if listed else entry_words(column.path, words)
    return ORDERED[column.aspect].format(it=it, at=at)


def _membership(event: Membership, words: Vocabulary) -> str:
    column, values = event.column, sorted(event.values, key=repr)
    done = words.done
    # All that a search puts out begins with its seed, which goes without saying.
    after = "" if column.prefix <= bool(done) else f" after the first {column.prefix}"
    after = after.removesuffix(" 1")
    match column.aspect:
        case "kind" if column.path == (WARNINGS,):
            warned = [str(kind) for kind in values if str(kind).startswith(WARNS)]
            silent = ["it does not warn"] * (len(warned) < len(values))
            return " or ".join([*(f"it {kind}" for kind in warned), *silent])
        case "kind":
            return _kinds(entry_words(column.path, words), values)
        case "first" | "last":
            return _ends(column.aspect, values, after, words)
        case "finds":
            absent = "" if True in event.values else "not "
            return f"{shown(column.at, words.name)} is {absent}{done or 'in the list'}"
        case "order":
            one, other = column.both
            return " or ".join(_order(value, one, other, words) for value in values)
        case "begins":
            what = f"{column.at} {done}" if done else f"{column.at} entries"
            return f"the first {what}{after} are {_few(values, words, 2)}"
        case "length":
            what = f"the number {done}{after}" if done else f"the number of entries{after}"
            return f"{what} is {_few(values, Vocabulary())}"
        case "keys" | "structure" | "template":
            parts = {"keys": "the keys of ", "template": "the text without numbers of "}
            it = parts.get(column.aspect, "the structure of ") + entry_words(column.path, words)
            return f"{it} is {_few(values, Vocabulary(), 2)}"
    names = words if done else Vocabulary()
    return f"{entry_words(column.path, words)}{after} is {_few(values, names, 2)}"


def _few(values: list[Hashable], words: Vocabulary, most: int = SHOWN) -> str:
    names = [shown(value, words.name) for value in values]
    return names[0] if len(names) == 1 else "one of " + list_names(names, most)


def _kinds(it: str, kinds: list[Hashable]) -> str:
    """Say what kind of thing something is."""
    raised = [str(kind).removeprefix(RAISES) for kind in kinds if str(kind).startswith(RAISES)]
    plain = [str(kind) for kind in kinds if not str(kind).startswith(RAISES)]
    others = [KINDS.get(kind, f"a {kind}") for kind in plain if kind not in NUMERIC]
    if any(kind in NUMERIC for kind in kinds):
        numbers = [KINDS[str(kind)] for kind in kinds if kind in NUMERIC]
        others += numbers if len(kinds) == 1 else list(dict.fromkeys(numbers))
    parts = [f"{it} is {' or '.join(others)}"] if others else []
    return " or ".join([f"it raises {' or '.join(raised)}"] * bool(raised) + parts)


def _ends(which: str, values: list[Hashable], after: str, words: Vocabulary) -> str:
    entries = [value for value in values if value is not None]
    names = [shown(value, words.name) for value in entries]
    if not words.done:
        parts = [f"the {which} entry{after} is {_few(entries, words)}"] if entries else []
        return " or ".join([*parts, *(["there is no entry" + after] * (None in values))])
    parts = [f"nobody more is {words.done}{after}"] if None in values else []
    if names:
        who = names[0] if len(names) == 1 else "one of " + list_names(names)
        parts.insert(0, f"{who} is {words.done} {which}{after}")
    return " or ".join(parts)


def _order(first: Hashable, one: Hashable, other: Hashable, words: Vocabulary) -> str:
    names = {entry: shown(entry, words.name) for entry in (one, other)}
    done = words.done or "in the list"
    if first is None:
        return f"neither {names[one]} nor {names[other]} is {done}"
    second = other if first == one else one
    return f"{names[first]} is {done} before {names[second]}, or without"
