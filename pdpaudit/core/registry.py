"""Find and make statistics, mechanisms and attacks: by registered name, module, file or name."""

from __future__ import annotations
import __future__

import ast
import difflib
import importlib
import importlib.util
import inspect
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from pdpaudit.core.errors import InputError, ParameterError
from pdpaudit.core.specification import Specification

if TYPE_CHECKING:
    from pdpaudit.core.protocols import Mechanism
    from pdpaudit.outputs.records import JSON

T = TypeVar("T")

Group = Literal[
    "sops",
    "mechanisms",
    "attacks",
    "refinements",
    "events",
    "networks",
    "populations",
    "claims",
    "papers",
    "functions",
    "adapters",
]

SINGULAR = {
    "sops": "statistic",
    "mechanisms": "mechanism",
    "attacks": "attack",
    "refinements": "refinement",
    "events": "choice of events",
    "networks": "benchmark network",
    "populations": "population",
    "claims": "claim",
    "papers": "paper",
    "functions": "function",
    "adapters": "adapter",
}


#: Groups a person may mix up, and the command for what they named.
OTHER_COMMAND: dict[str, tuple[Group, str]] = {
    "mechanisms": ("sops", "check"),
    "sops": ("mechanisms", "audit"),
}

#: Modules that come with the program, where published claims find mechanisms of their own.
OURS = "pdpaudit.algorithms."

#: The paper whose claims are meant where none is named.
KEARNS = "kearns"

#: Names offered where none is near.
MOST_OFFERED = 12


#: What a search is made with where nothing else was asked for: one search round, the sharpest
#: test of a claim per round.
DEFAULTS: dict[str, Any] = {"epsilon": 1.0, "components": 2, "sop": "CN"}

#: How a name is looked up.
Find = Callable[[Group, str], Any]


class UserCodeError(InputError):
    """The user's own code failed before it could be asked; carries their traceback."""


@lru_cache(maxsize=32)
def _points(group: str, path: tuple[str, ...]) -> EntryPoints:
    """Return what the packages on a path register: read once, as that takes 10 ms and more."""
    return entry_points(group=group)


def registered(group: Group) -> list[EntryPoint]:
    """Return what is registered in a group, by name."""
    found = {point.name: point for point in _points(f"pdpaudit.{group}", tuple(sys.path))}
    return [found[name] for name in sorted(found)]


def the_one(group: Group) -> tuple[EntryPoint, str]:
    """Return what is used of a group of which one is: ours, or what another package registers.

    Also what is to be said where it is another's.
    """
    known = registered(group)
    for one in known:
        refuse_twice(one)
    theirs = [one for one in known if not one.module.startswith("pdpaudit.")]
    words = " and ".join(_registration(one).rstrip(",") for one in theirs)
    if len(theirs) > 1:
        raise InputError(f"two of a kind, {SINGULAR[group]}: {words}; uninstall one")
    return (theirs or known)[0], words


def refuse_twice(item: EntryPoint) -> None:
    """Refuse a name that two packages give to different things: which is meant, nobody knows."""
    points = _points(item.group, tuple(sys.path)).select(name=item.name)
    same = {one.value: one for one in points}
    if len(same) > 1:
        both = " and ".join(sorted(_registration(one).rstrip(",") for one in same.values()))
        remedy = "name one as module:Name, or uninstall a package"
        raise InputError(f"{item.name} is registered twice: {both}; {remedy}")


def loaded(item: EntryPoint) -> Any:
    """Return what is registered; of what cannot be had it is said whose it is."""
    refuse_twice(item)
    try:
        return item.load()
    except (Exception, SystemExit) as error:
        raise UserCodeError(f"{_registration(item)} cannot be loaded") from error


def given_by(item: EntryPoint, kind: type[T], *arguments: object) -> Iterator[T]:
    """Yield what a registered function gives; whose it is, is said where it fails."""
    function = loaded(item)
    try:
        for one in function(*arguments):
            if not isinstance(one, kind):
                raise TypeError(f"it gives {type(one).__name__} where {kind.__name__} is needed")
            yield one
    except InputError:
        raise
    except Exception as error:
        raise UserCodeError(f"{_registration(item)} fails") from error


def _registration(item: EntryPoint) -> str:
    package = item.dist.name if item.dist else "an unknown package"
    return f"{item.name} = {item.value}, registered by {package},"


def claims_of(paper: str) -> dict[str, EntryPoint]:
    """Return the published claims of a paper by their own names, which follow its name and a colon.

    Those of :data:`KEARNS` are registered without it.
    """
    apart = [(item.name.rpartition(":"), item) for item in registered("claims")]
    return {name: item for (whose, _, name), item in apart if (whose or KEARNS) == paper}


def paper_of(mechanism: str) -> str | None:
    """Return the paper whose claims may be about a registered mechanism; imports nothing.

    A name begins with its paper or family and a colon; one without is of :data:`KEARNS`, as is
    ``PTarget:repaired``, a variant of a mechanism there.
    """
    family, colon, _ = mechanism.partition(":")
    if family in {item.name for item in registered("papers")}:
        return family
    return KEARNS if not colon or is_registered("mechanisms", family) else None


def adapter_of(name: str) -> EntryPoint | None:
    """Return the adapter of the library that a name begins with; imports nothing."""
    library, named, _ = name.partition(":")
    known = registered("adapters") if named else []
    return next((one for one in known if one.name == library), None)


def is_registered(group: Group, name: str) -> bool:
    """Say whether a name means something of an installed package; imports nothing."""
    known = {item.name for item in registered(group)}
    stem, _, number = name.rpartition("_")
    return name in known or (stem in known and number.isdecimal()) or name.startswith(OURS)


def imported_for(group: Group, name: str) -> str:
    """Say what :func:`resolve` would import for a name that is not registered; imports nothing."""
    where = name.rpartition(":")[0]
    if where.endswith(".py"):
        return where
    if where:
        file = _located(where)
        return f"module {where}" + (f" ({file})" if file else "")
    found = [f"./{group}.py"] if Path(f"{group}.py").is_file() else []
    found += ["the modules that ./pyproject.toml names"] if Path("pyproject.toml").is_file() else []
    return " and ".join(found) or f"./{group}.py"


def _located(module: str) -> str | None:
    """Return the file of a module, searched for without importing the packages around it."""
    path = [*sys.path, str(Path.cwd())]
    spec, whole = None, ""
    for part in module.split("."):
        whole = f"{whole}.{part}".lstrip(".")
        spec = PathFinder.find_spec(whole, path) if part.isidentifier() else None
        if spec is None:
            return None
        path = [*(spec.submodule_search_locations or ())]
    return None if spec is None else spec.origin


def check_file(name: str) -> None:
    """Refuse a name in a file that does not exist; imports nothing."""
    where = name.rpartition(":")[0]
    if not where.endswith(".py") or Path(where).is_file():
        return
    folder = Path(where).parent
    there = [one.name for one in folder.glob("*.py")] if folder.is_dir() else []
    near = difflib.get_close_matches(Path(where).name, there, n=3, cutoff=0.6)
    offer = f"did you mean {' or '.join(str(folder / one) for one in near)}?" if near else ""
    raise InputError(f"{where}: no such file; {offer or 'check the path before the colon'}")


def resolve(group: Group, name: str) -> Any:
    """Return the object a person means by ``name``."""
    known = {item.name: item for item in registered(group)}
    if name in known:
        return loaded(known[name])
    stem, _, number = name.rpartition("_")
    if stem in known and number.isdecimal() and _takes_one(made := loaded(known[stem])):
        return made(int(number))
    where, _, attribute = name.rpartition(":")
    if name.endswith((".py", ".py:")) and Path(name.rstrip(":")).is_file():
        file = name.rstrip(":")
        raise InputError(
            f"{file}: which {SINGULAR[group]} in it? Name it as {file}:Name{_in(file)}"
        )
    if where.endswith(".py"):
        check_file(name)
        return _attribute(_from_file(Path(where)), where, attribute, group)
    if where:
        module = _from_name(where)
        if module is not None:
            return _attribute(module, where, attribute, group)
    else:
        for module in _user_modules(group):
            if hasattr(module, name):
                return getattr(module, name)
    other = OTHER_COMMAND.get(group)
    if other is not None and name in {item.name for item in registered(other[0])}:
        raise InputError(f"{name} is a {SINGULAR[other[0]]}; run `pdpaudit {other[1]} {name}`")
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    some = list(known)[:MOST_OFFERED]
    more = f" and {len(known) - len(some)} more" if len(known) > len(some) else ""
    offer = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(some)}{more};"
    raise InputError(
        f"unknown {SINGULAR[group]} {name!r}: {offer} `pdpaudit list` shows all; your own is "
        "named path/to/file.py:Name or module:Name"
    )


def configure(factory: Any, name: str, options: Mapping[str, object]) -> Any:
    """Make an object of a class with those options that were given."""
    given = {key: value for key, value in options.items() if value is not None}
    takes = _arguments(factory)
    for key in given:
        if takes is not None and key not in takes:
            claims = ", or say what it claims with `claim`, such as eps=1" * (key == "epsilon")
            raise InputError(f"{name} takes no `{key}`; leave it out{claims}")
    if not inspect.isclass(factory):
        return factory
    try:
        return factory(**given)
    except InputError:
        raise
    except TypeError as error:
        words = f": {error}" if given else f" without arguments ({error}); name an object instead"
        raise InputError(f"{name} cannot be made{words}") from None
    except Exception as error:
        raise UserCodeError(f"{name} cannot be made") from error


def _arguments(factory: object) -> list[str] | None:
    """Return the names of what a class is made of, none for an object; None where any name does."""
    if not inspect.isclass(factory):
        return []
    takes = inspect.signature(factory).parameters
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in takes.values()):
        return None
    return [key for key, one in takes.items() if one.kind is not inspect.Parameter.VAR_POSITIONAL]


def check_arguments(name: str, given: Iterable[str], find: Find = resolve) -> None:
    """Refuse arguments that a mechanism is not made with, and name those that it is."""
    if adapter_of(name) is not None:
        return  # its library says so where it is made
    takes = _arguments(find("mechanisms", name))
    for key in given:
        if takes is not None and key not in takes:
            offer = f"it takes {', '.join(takes)}" if takes else "it takes none"
            raise ParameterError("others", key, f"{name} takes no {key}; {offer}")


def make_sop(name: str, find: Find = resolve) -> object:
    """Return the statistic of proximity a person means, ready to be called."""
    sop = find("sops", name)
    return configure(sop, name, {}) if inspect.isclass(sop) else sop


def make_mechanism(
    name: str, options: JSON, find: Find = resolve
) -> tuple[Mechanism, Specification]:
    """Return the mechanism a person means, and how to make it again."""
    given = {key: value for key, value in options.items() if value is not None}
    adapter = adapter_of(name)
    if adapter is not None:
        made = _adapted(adapter, name.partition(":")[2], given)
        return cast("Mechanism", made), Specification(name, given)
    factory = find("mechanisms", name)
    if inspect.isclass(factory):
        takes = inspect.signature(factory).parameters
        for key, value in DEFAULTS.items():
            if key in takes:
                given.setdefault(key, value)
    made = dict(given)
    if "sop" in made:
        made["sop"] = make_sop(made["sop"], find)
    known = None if inspect.isclass(factory) else adapted(factory, **given)
    mechanism = configure(factory, name, made) if known is None else known
    run = getattr(mechanism, "run", None)
    if run is None and (inspect.isroutine(mechanism) or isinstance(mechanism, partial)):
        raise InputError(
            f"{name}: a function has no pairs to try; name a class with pairs() and run(self, "
            "instance, rng), or call pdpaudit.audit(function, epsilon=..., pairs=[...])"
        )
    check_run(run, name)
    return cast("Mechanism", mechanism), Specification(name, given)


def _adapted(adapter: EntryPoint, target: object, given: JSON) -> object:
    """Return what an adapter makes of an object of its library, or of the name of one."""
    refuse_twice(adapter)
    try:
        return adapter.load()(target, **given)
    except InputError:
        raise
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == adapter.name
        remedy = "install it" if missing else "install the versions it needs"
        raise InputError(
            f"{adapter.name}: {error}; {remedy}, or name another environment's Python with `python`"
        ) from None
    except Exception as error:
        called = target if isinstance(target, str) else f"a {type(target).__name__}"
        unknown = isinstance(getattr(error, "obj", None), ModuleType)  # no such name in it
        if unknown or isinstance(error, TypeError | ValueError):  # of arguments, no fault of code
            raise InputError(f"{adapter.name}: {called} cannot be made: {error}") from None
        raise UserCodeError(f"{adapter.name}: {called} cannot be made") from error


def adapted(given: object, **parameters: object) -> object:
    """Return an object of a library that has an adapter as a mechanism; None for any other."""
    kinds = given.__mro__ if isinstance(given, type) else type(given).__mro__
    known_by = (getattr(given, "func", given), *kinds)  # a bound function is its function
    libraries = [str(getattr(one, "__module__", "")).partition(".")[0] for one in known_by]
    known = {one.name: one for one in registered("adapters")}
    for library in libraries if not hasattr(given, "run") else ():
        if library in known:
            return _adapted(known[library], given, parameters)
    return None


def check_run(run: object, name: str, form: str = "run(self, instance, rng)") -> None:
    """Refuse what cannot be run on an instance with a random generator."""
    if not callable(run):
        raise InputError(f"{name}: not a mechanism, it has no run(instance, rng)")
    try:
        takes = inspect.signature(run)
    except (TypeError, ValueError):  # not every callable says what it takes
        return
    try:
        takes.bind(None, None)
    except TypeError:
        raise InputError(f"{name}: its run takes {takes}; write it as {form}") from None


def needs_trust(names: Iterable[tuple[Group, str]]) -> bool:
    """Say whether looking any of these names up imports code that is not registered."""
    return any(not is_registered(*named) for named in {*names})  # looking up takes long


def _user_modules(group: Group) -> list[ModuleType]:
    """Import the modules the user's project names, and the conventional file beside it."""
    modules = []
    project = Path("pyproject.toml")
    if project.is_file():
        try:
            tool = tomllib.loads(project.read_text(encoding="utf-8-sig")).get("tool", {})
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"pyproject.toml: {error}; correct it") from None
        section = tool.get("pdpaudit", {})
        names = section.get("modules", []) if isinstance(section, dict) else None
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InputError(
                "pyproject.toml: [tool.pdpaudit] takes a list, modules = [...], of module names"
            )
        for name in names:
            module = _from_name(name)
            if module is None:
                raise InputError(
                    f"pyproject.toml: [tool.pdpaudit] names module {name!r}, which cannot be found"
                )
            modules.append(module)
    file = Path(f"{group}.py")
    if file.is_file():
        modules.append(_from_file(file))
    return modules


def _takes_one(factory: object) -> bool:
    """Return whether a class can be made from one argument without its name."""
    with suppress(TypeError):
        return inspect.isclass(factory) and bool(inspect.signature(factory).bind(1))
    return False


def _from_name(name: str) -> ModuleType | None:
    """Import a module by name, the current folder included; None if there is none."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    # Finding a module runs the packages around it: import them first, so that their own failures
    # are distinguished from a module that is not there.
    package = name.rpartition(".")[0]
    if (package and _from_name(package) is None) or _spec(name) is None:
        return None
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise UserCodeError(f"{name}: failed on import") from error


def _spec(name: str) -> ModuleSpec | None:
    """Return where a module is found; None if there is none."""
    with suppress(ImportError, ValueError):
        return importlib.util.find_spec(name)
    return None


#: Modules loaded from files that no import statement would find.
_loaded: dict[Path, ModuleType] = {}


def loaded_modules() -> list[ModuleType]:
    """Return every module in memory, also those from files that ``sys.modules`` does not list."""
    return [*sys.modules.values(), *_loaded.values()]


def _from_file(path: Path) -> ModuleType:
    """Import a file by its path."""
    real = path.resolve()
    here = str(real.parent)
    if here not in sys.path:
        # The file's own imports of its neighbours work, and so do worker processes.
        sys.path.append(here)
    importable = _means(real.stem, real)
    loaded = sys.modules.get(real.stem) if importable else _loaded.get(real)
    if loaded is not None:
        return loaded
    name = real.stem if importable else f"_pdpaudit_user_{len(_loaded)}_{real.stem}"
    spec = importlib.util.spec_from_file_location(name, real)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise UserCodeError(f"{path}: failed on import") from error
    if not importable:
        # Another module has the file's name. A worker process could not import this one, or would
        # import the other; what is not in sys.modules is sent to it by value.
        _loaded[real] = sys.modules.pop(name)
    return module


def _means(name: str, path: Path) -> bool:
    """Return whether ``import name`` means this file, here and in a worker process."""
    spec = None if "." in name else _spec(name)
    return spec is not None and spec.origin is not None and Path(spec.origin).resolve() == path


def _in(file: str) -> str:
    """Return what a file defines, read without running it."""
    try:
        body = ast.parse(Path(file).read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return ""
    kinds = (ast.ClassDef, ast.FunctionDef)
    names = [one.name for one in body if isinstance(one, kinds) and not one.name.startswith("_")]
    return f"; it has {', '.join(names[:MOST_OFFERED])}" if names else ""


def _attribute(module: ModuleType, where: str, attribute: str, group: Group) -> object:
    """Return a name from a module, or offer the nearest."""
    if hasattr(module, attribute):
        return getattr(module, attribute)
    public = [
        key
        for key, value in vars(module).items()
        if not key.startswith("_") and not _imported(value, module)
    ]
    near = difflib.get_close_matches(attribute, public, n=3, cutoff=0.4)
    offer = f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(public[:8])}"
    raise InputError(f"{where}: no {SINGULAR[group]} named {attribute!r}; {offer}")


def _imported(value: object, into: ModuleType) -> bool:
    """Return whether a name of a module is a module, a class or a function from elsewhere."""
    if inspect.isclass(value) or inspect.isroutine(value):
        return value.__module__ != into.__name__
    return isinstance(value, ModuleType | __future__._Feature)
