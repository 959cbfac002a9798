"""The other side of ``--python``: makes a mechanism and runs it, with the standard library only.

Started as a script by any Python from 3.8 on. It reads requests as JSON lines from standard input
and answers on what standard output was; what the mechanism prints goes nowhere and is counted.

Values travel as JSON, never pickled. Plain values stand for themselves; anything else is an object
with one tag. What has no plain form (a dataclass, a data frame) is taken apart, and made again as
an object with the same type's name and the same attributes, which is all that an output shows.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import enum
import fractions
import functools
import importlib
import importlib.util
import inspect
import io
import json
import linecache
import os
import platform
import random
import sys
import threading
import time
import types
from typing import TYPE_CHECKING, Any, TypedDict, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np
    import numpy.typing as npt

    #: What one request is answered with, and what a mechanism draws from.
    Answers = Iterator[dict[str, object]]
    Rng = np.random.Generator | random.Random


class Stream(TypedDict):
    """All that makes a generator again, and what the global ones are seeded with."""

    state: dict[str, Any]
    entropy: int | list[int]
    spawn_key: list[int]
    globals: list[int]


#: Types that JSON has, and types that are read from a text; a float may be infinite or nan.
PLAIN = (type(None), bool, float, str)
WRITTEN: dict[str, Any] = {
    "Decimal": decimal.Decimal,
    "Fraction": fractions.Fraction,
    "date": datetime.date.fromisoformat,
    "datetime": datetime.datetime.fromisoformat,
    "time": datetime.time.fromisoformat,
    "int": lambda text: int(text, 16),
    "bytes": base64.b64decode,
    "bytearray": lambda text: bytearray(base64.b64decode(text)),
}

#: What can be called, and holds what it is called with.
FUNCTIONS = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType,
    functools.partial,
)  # fmt: skip

#: Whole numbers of more bits are written in hexadecimal: Python limits decimal digits.
WIDE = 4096

#: Items read from what has no length.
MOST = 200_001


def encode(value: object) -> object:
    """Return a value as what :mod:`json` writes."""
    kind = type(value)
    if kind in PLAIN or (type(value) is int and value.bit_length() <= WIDE):
        return value
    if type(value) is list:
        return [encode(item) for item in value]
    if type(value) is tuple:
        return {"tuple": [encode(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [kind.__name__, [[encode(k), encode(v)] for k, v in value.items()]]}
    if isinstance(value, (set, frozenset)):
        return {"set": [kind.__name__, [encode(item) for item in value]]}
    if hasattr(value, "dtype") and hasattr(value, "tobytes") and hasattr(value, "tolist"):
        return _array(cast("npt.NDArray[np.generic]", value))
    return _leaf(value) or _object(value)


def _array(value: npt.NDArray[np.generic] | np.generic) -> object:
    """Return an array or scalar of numpy."""
    form, scalar = value.dtype.kind, not hasattr(value, "__setitem__")
    if scalar and form in "biufSU" and value.dtype.char not in "gG":
        return encode(value.item())
    if form in "OV":
        return {"objects": [list(value.shape), [encode(item) for item in value.ravel().tolist()]]}
    raw = base64.b64encode(value.tobytes()).decode("ascii")
    return {"array": [value.dtype.str, None if scalar else list(value.shape), raw]}


def _leaf(value: object) -> object:
    """Return what has a text of its own; None for anything else."""
    kind = type(value).__name__
    if isinstance(value, enum.Enum):
        return {"enum": [kind, value.name]}
    if isinstance(value, (bytes, bytearray)):
        return {"text": [kind, base64.b64encode(value).decode("ascii")]}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, datetime.timedelta):
        return {"timedelta": [value.days, value.seconds, value.microseconds]}
    if isinstance(value, (datetime.date, datetime.time)):
        return {"text": [kind, value.isoformat()]}
    if isinstance(value, (decimal.Decimal, fractions.Fraction)):
        return {"text": [kind, str(value)]}
    # A subclass is what its plain value is.
    if isinstance(value, int):
        return {"text": ["int", hex(int(value))]}
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        return str.__str__(value)
    return None


def _object(value: object) -> object:
    """Take an object apart: a tuple of names, a data frame, attributes, items, else its text."""
    kind = type(value).__name__
    if hasattr(value, "__await__") or hasattr(value, "__anext__"):
        if inspect.iscoroutine(value):
            value.close()
        raise TypeError("it returned a " + kind + ", which nothing awaits")
    if isinstance(value, BaseException):
        return {"error": [kind, [encode(item) for item in value.args]]}
    fields = getattr(value, "_fields", None)
    if isinstance(value, tuple) and fields is not None:
        return {"fields": [kind, list(fields), [encode(item) for item in value]]}
    if isinstance(value, (list, tuple)):
        return {"items": [kind, [encode(item) for item in value]]}
    if hasattr(value, "to_numpy"):  # a data frame, or a column of one
        table: Any = value
        names = [str(key) for key in table] if hasattr(value, "columns") else ["values"]
        parts = [table[name] for name in table] if hasattr(value, "columns") else [value]
        held = [encode(part.to_numpy()) for part in parts]
        return {"object": [kind, names, held]}
    if isinstance(value, FUNCTIONS):
        known = {"its name": getattr(value, "__qualname__", ""), **_captured(value)}
        return {"object": [kind, list(known), [encode(item) for item in known.values()]]}
    slots = [getattr(one, "__slots__", ()) for one in reversed(type(value).__mro__)]
    names = [name for some in slots for name in ([some] if isinstance(some, str) else some)]
    names = [name for name in [*names, *getattr(value, "__dict__", ())] if hasattr(value, name)]
    if names:
        names = list(dict.fromkeys(names))
        parts = [_unbound(getattr(value, name), value) for name in names]
        return {"object": [kind, names, [encode(part) for part in parts]]}
    if hasattr(value, "__iter__"):
        given = cast("Iterable[object]", value)
        items = [encode(item) for _, item in zip(range(MOST), given)]  # noqa: B905 - Python 3.8
        return {"items": [kind, items]}
    shown: object = type(value).__repr__
    if shown is not object.__repr__:
        return {"shown": [kind, repr(value)]}
    if not hasattr(value, "__dict__") and not any(
        "__slots__" in vars(one) for one in type(value).__mro__
    ):
        raise TypeError("it returned something of which nothing can be seen, of type " + kind)
    return {"shown": [kind, ""]}


def _captured(value: Any) -> dict[str, object]:
    """Return what a function holds besides its code, as outputs of this interpreter are read."""
    if isinstance(value, functools.partial):
        return {"of": value.func, "arguments": value.args, "keywords": value.keywords}
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, (type, types.ModuleType)):
        return {"of": owner}
    if not isinstance(value, types.FunctionType):
        return {}
    code, defaults = value.__code__, value.__defaults__ or ()
    cells = [cell.cell_contents for cell in value.__closure__ or ()]
    arguments = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    held = dict(zip((*code.co_freevars, *arguments), (*cells, *defaults)))  # noqa: B905 - Python 3.8
    return {**held, **(value.__kwdefaults__ or {})}


def _unbound(value: object, owner: object) -> object:
    """Return a method of an object as the function it is, anything else as it is."""
    return getattr(value, "__func__", value) if getattr(value, "__self__", None) is owner else value


def decode(coded: object) -> object:
    """Return the value that was written."""
    if isinstance(coded, list):
        return [decode(item) for item in coded]
    if not isinstance(coded, dict):
        return coded
    if len(coded) != 1:
        raise ValueError("a value has one tag")
    ((tag, body),) = coded.items()
    if tag not in READERS:
        raise ValueError("unknown tag " + tag)
    return READERS[tag](*body)


def _read_array(dtype: str, shape: Sequence[int] | None, raw: str) -> object:
    numpy: Any = importlib.import_module("numpy")
    found = numpy.frombuffer(base64.b64decode(raw), dtype)
    return found[0] if shape is None else found.reshape(shape).copy()


def _read_objects(shape: Sequence[int], items: Sequence[object]) -> object:
    numpy: Any = importlib.import_module("numpy")
    found = numpy.empty(len(items), dtype=object)
    found[:] = [decode(item) for item in items]
    return found.reshape(shape)


def _read_object(kind: str, names: Sequence[str], values: Sequence[object]) -> object:
    made = type(kind, (), {})()
    made.__dict__.update(zip(names, map(decode, values)))  # noqa: B905 - Python 3.8
    return made


def _read_fields(kind: str, names: Sequence[str], values: Sequence[object]) -> object:
    cls: Any = type(kind, (tuple,), {"_fields": tuple(names)})
    return cls(map(decode, values))


READERS: dict[str, Callable[..., object]] = {
    "tuple": lambda *items: tuple(map(decode, items)),
    "dict": lambda kind, items: _named(dict, kind)([(decode(k), decode(v)) for k, v in items]),
    "set": lambda kind, items: (set if kind == "set" else frozenset)(map(decode, items)),
    "array": _read_array,
    "objects": _read_objects,
    "text": lambda kind, text: WRITTEN[kind](text),
    "complex": complex,
    "timedelta": datetime.timedelta,
    "enum": lambda kind, name: getattr(enum.Enum(kind, [name]), name),
    "error": lambda kind, items: type(kind, (Exception,), {})(*map(decode, items)),
    "fields": _read_fields,
    "items": lambda kind, items: _named(list, kind)(map(decode, items)),
    "object": _read_object,
    "shown": lambda kind, text: type(kind, (), {"__repr__": lambda _: text})(),
}


def _named(base: type, kind: str) -> Callable[..., object]:
    return base if kind == base.__name__ else type(kind, (base,), {})


HERE = os.path.dirname(os.path.abspath(__file__))

#: Notes which warnings a run emits.
WARNED = os.path.join(os.path.dirname(HERE), "sampling", "warned.py")

#: Seconds of runs that are answered together, and between two looks whether anybody still asks.
TOGETHER_S, ALIVE_S = 0.1, 1.0

#: Parts that a mechanism may have and that can be asked for from elsewhere.
PARTS = ("run", "sample", "pairs")

#: Domains that a mechanism may have, and what marks one on the wire.
DOMAINS = ("Records", "People", "Bounded", "OneOf", "Answers", "Graphs")
DOMAIN = "pdpaudit.relations"


class Claim:
    """Stands for ``pdpaudit.PrivacyClaim`` where pdpaudit is not installed."""

    def __init__(self, epsilon: float, delta: float = 0.0, source: str = "") -> None:
        """Make the usual claim."""
        self.text = f"eps={float(epsilon)!r}" + (f",delta={float(delta)!r}" if delta else "")
        self.source = source

    @classmethod
    def parse(cls, text: str, source: str = "") -> Claim:
        """Make any claim, in the words of the command line."""
        made = cls(0.0)
        made.text, made.source = text, source
        return made

    @classmethod
    def zcdp(cls, rho: float, source: str = "") -> Claim:
        """Make a zero-concentrated claim."""
        return cls.parse(f"zcdp:{float(rho)!r}", source)

    @classmethod
    def renyi(cls, alpha: float, epsilon: float, source: str = "") -> Claim:
        """Make a Rényi claim."""
        return cls.parse(f"renyi:{float(alpha)!r}:{float(epsilon)!r}", source)

    @classmethod
    def gaussian(cls, mu: float, source: str = "") -> Claim:
        """Make a Gaussian claim."""
        return cls.parse(f"gdp:{float(mu)!r}", source)


class Described:
    """Stands for a domain of ``pdpaudit.relations``: the other side makes it and its pairs."""

    def __init__(self, kind: str, /, *arguments: object, **options: object) -> None:
        """Keep what it is made of; its form, a function, stays here."""
        self.form: Any = options.pop("form", None)
        if options.get("secret") is not None:
            raise ValueError("secret: a function stays in its Python; bring pairs() instead")
        self.kind, self.arguments, self.options = kind, arguments, options

    def plainly(self) -> object:
        """Return it as what the wire carries."""
        return (DOMAIN, self.kind, _plainly(self.arguments), _plainly(self.options))


def _plainly(value: object) -> object:
    if isinstance(value, Described):
        return value.plainly()
    if isinstance(value, dict):
        return {key: _plainly(item) for key, item in value.items()}
    if type(value) is list or type(value) is tuple:
        return type(value)(map(_plainly, value))
    return value


class Counted(io.TextIOBase):
    """Takes what is printed and counts it."""

    characters = 0

    def writable(self) -> bool:
        """Say that it can be written to."""
        return True

    def write(self, text: str) -> int:
        """Count."""
        self.characters += len(text)
        return len(text)


def main() -> None:
    """Answer requests until there are none."""
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != HERE]
    sys.path.append(os.getcwd())
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stdout = printed = Counted()
    threading.Thread(target=_end_when_alone, args=(os.getppid(),), daemon=True).start()
    stand_in()
    serve = Serve(printed)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            for answer in getattr(serve, request.pop("do"))(**request):
                answers.write(json.dumps(answer) + "\n")
                answers.flush()
        except BaseException as error:
            answers.write(json.dumps({"raised": _raised(error)}) + "\n")
            answers.flush()


def _end_when_alone(parent: int) -> None:
    """End with whoever started this, however that ended."""
    while os.getppid() == parent:
        time.sleep(ALIVE_S)
    os._exit(0)


def stand_in() -> None:
    """Let adapters and mechanisms import what they need of pdpaudit, where it cannot be used."""
    try:
        importlib.import_module("pdpaudit").PrivacyClaim  # noqa: B018 - imported when asked for
    except Exception:  # it is not there, is for a newer Python, or lacks what it needs
        for name in [one for one in sys.modules if one.partition(".")[0] == "pdpaudit"]:
            del sys.modules[name]
        package: Any = types.ModuleType("pdpaudit")
        package.PrivacyClaim, package.__path__ = Claim, []
        sys.modules["pdpaudit"] = package
    relations: Any = types.ModuleType(DOMAIN)
    vars(relations).update({kind: functools.partial(Described, kind) for kind in DOMAINS})
    sys.modules[DOMAIN] = vars(sys.modules["pdpaudit"])["relations"] = relations
    room: Any = types.ModuleType("pdpaudit.adapters")
    room.__path__ = [HERE]
    sys.modules["pdpaudit.adapters"] = room


class Serve:
    """One method for each request; each yields its answers."""

    def __init__(self, printed: Counted) -> None:
        self.printed = printed
        self.listening: Any = _loaded("_warned_", WARNED).listening
        self.mechanism: Any = None
        self.form: Callable[..., object] | None = None

    def _given(self, input: object) -> object:
        """Return an input as the mechanism takes it."""
        given = decode(input)
        return given if self.form is None else self.form(given)

    def make(self, name: str, parameters: dict[str, object], adapters: dict[str, str]) -> Answers:
        """Make the mechanism and say what there is to know of it."""
        made: Any = _made(name, parameters, adapters)
        self.mechanism = made
        claims = getattr(made, "claims", None)
        claims = (getattr(made, "claim", None),) if claims is None else claims
        pairs = made.pairs() if callable(getattr(made, "pairs", None)) else None
        domain = getattr(made, "domain", None)
        domain = domain() if callable(domain) else domain
        domain = domain if isinstance(domain, Described) else None
        self.form = None if domain is None or pairs is not None else domain.form
        numpy = _numpy()
        yield {
            "parts": [part for part in PARTS if callable(getattr(made, part, None))],
            "claims": [_claim(one) for one in claims if one is not None],
            "pairs": None if pairs is None else encode(list(pairs)),
            "domain": None if domain is None else encode(domain.plainly()),
            "seedable": bool(getattr(made, "seedable", True)),
            "representation": bool(getattr(made, "representation", False)),
            "repeatable": bool(getattr(made, "repeatable", True)),
            "versions": "Python " + platform.python_version()
            + ("" if numpy is None else ", numpy " + numpy.__version__),
            "files": _files(),
            "numpy": numpy is not None,
        }  # fmt: skip

    def sample(self, input: object, size: int, stream: Stream) -> Answers:
        """Draw many outputs at once."""
        before, rng = self.printed.characters, _rng(stream)
        outputs = self.mechanism.sample(self._given(input), size, rng)
        if not hasattr(outputs, "dtype"):
            outputs = list(outputs)
        coded = encode(outputs)
        yield {"outputs": coded, "printed": self.printed.characters - before, **_state(rng)}

    def runs(self, input: object, size: int, stream: Stream) -> Answers:
        """Run one by one, and answer every tenth of a second."""
        instance, rng = self._given(input), _rng(stream)
        before, began = self.printed.characters, time.monotonic()
        done: list[object] = []
        with self.listening() as heard:
            for left in range(size - 1, -1, -1):
                try:
                    output = encode(self.mechanism.run(instance, rng))
                except KeyboardInterrupt:
                    raise
                except BaseException as error:
                    output = {"raised": _raised(error)}
                names = heard()
                raised = type(output) is dict and "raised" in output
                done.append({"warned": [names, output]} if names and not raised else output)
                if not left or time.monotonic() - began > TOGETHER_S:
                    seen, before = self.printed.characters - before, self.printed.characters
                    yield {"outputs": done, "printed": seen, **({} if left else _state(rng))}
                    done, began = [], time.monotonic()


def _adapted(adapter: str, target: object, parameters: dict[str, object]) -> object:
    module, _, function = adapter.partition(":")
    return getattr(importlib.import_module(module), function)(target, **parameters)


def _loaded(name: str, file: str) -> types.ModuleType:
    """Run a file as a module of that name."""
    spec: Any = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _made(name: str, parameters: dict[str, object], adapters: dict[str, str]) -> object:
    """Make what a name of the command line means."""
    where, _, attribute = name.rpartition(":")
    if where in adapters:
        return _adapted(adapters[where], attribute, parameters)
    if where.endswith(".py"):
        sys.path.append(os.path.dirname(os.path.abspath(where)))
        found = getattr(_loaded("_mechanism_", where), attribute)
    else:
        found = getattr(importlib.import_module(where), attribute)
    if inspect.isclass(found):
        found, parameters = found(**parameters), {}
    for one in (getattr(found, "func", found), *type(found).__mro__):
        library = str(getattr(one, "__module__", "")).partition(".")[0]
        if library in adapters and not hasattr(found, "run"):
            return _adapted(adapters[library], found, parameters)
    if inspect.isroutine(found):
        return types.SimpleNamespace(run=found)
    return found


def _claim(claim: Claim | str | float) -> list[str]:
    """Return a claim as text, with its source: a number is an ε."""
    if isinstance(claim, (int, float)):
        claim = Claim(claim)
    text = claim if isinstance(claim, str) else claim.text
    return [text, getattr(claim, "source", "")]


def _files() -> list[str]:
    """List the files in memory that are neither of Python, nor of a package, nor of this one."""
    known = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    return sorted({os.path.abspath(file) for file in known if file and _is_authors(file)})


def _is_authors(file: str) -> bool:
    path = os.path.realpath(file)
    standard = os.path.dirname(os.path.realpath(os.__file__))
    packages = "site-packages" in path or "dist-packages" in path
    return os.path.isfile(path) and not (packages or path.startswith((standard, HERE)))


def _numpy() -> types.ModuleType | None:
    try:
        numpy = importlib.import_module("numpy")
        return numpy if hasattr(numpy.random, "PCG64") else None
    except ImportError:
        return None


def _rng(stream: Stream) -> Rng:
    """Return the generator that stands where ours stands, and seed the global ones as ours are."""
    words = stream["globals"]
    random.seed(b"".join(word.to_bytes(4, "little") for word in words))
    numpy: Any = _numpy()
    if numpy is None:
        return random.Random(json.dumps(stream, sort_keys=True))
    numpy.random.seed(words)
    make = getattr(numpy.random, stream["state"]["bit_generator"])
    seeds = numpy.random.SeedSequence(stream["entropy"], spawn_key=tuple(stream["spawn_key"]))
    generator = make(seeds)
    generator.state = stream["state"]
    made: np.random.Generator = numpy.random.Generator(generator)
    return made


def _state(rng: Rng) -> dict[str, object]:
    return {"state": None if isinstance(rng, random.Random) else rng.bit_generator.state}


def _raised(error: BaseException) -> list[str]:
    """Return the type of an error, and what it says with the author's line it came from."""
    name, words, place = type(error).__name__, " ".join(str(error).split()), ""
    trace = error.__traceback__
    while trace is not None:
        file, line = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        if _is_authors(file):
            code = linecache.getline(file, line).strip()[:80]
            place = f" ({os.path.basename(file)}:{line}" + (f", `{code}`)" if code else ")")
        trace = trace.tb_next
    return [name, (f"{name}: {words}" if words else name) + place]


if __name__ == "__main__":
    main()
