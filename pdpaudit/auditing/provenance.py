"""What code the runs of an audit depend on: its source files, their digest and git commit."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import json
import os
import site
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from importlib.machinery import PathFinder
from pathlib import Path
from types import CellType, FunctionType, MethodType, ModuleType
from typing import TypedDict, get_args

from pdpaudit.core.errors import InputError
from pdpaudit.core.registry import Group, loaded_modules, registered
from pdpaudit.core.specification import Specification
from pdpaudit.outputs.records import JSON
from pdpaudit.results.files import versions

#: Hexadecimal digits that are shown of a digest.
DIGITS = 16


def store_settings(
    mechanism: object,
    spec: Specification | None,
    seed: int,
    *,
    max_degree: int | None = None,
    file: JSON | None = None,
) -> dict[str, str]:
    """Return what must be the same for kept runs to be of use.

    How many samples are asked for is not among it, nor are confidence, workers and time limit: what
    another run shares with this one, it finds.
    """
    reading = dict(file or {})
    files = [Path(reading.pop(name)) for name in ("edges", "nodes") if name in reading]
    return {
        "mechanism": json.dumps(spec.to_json() if spec else {}, sort_keys=True, default=str),
        "`seed`": str(seed),
        "`max_degree`": str(max_degree),
        "network options": json.dumps(reading, sort_keys=True, default=str),
        "network files (digest)": _digest(files),
        "program (digest of its source)": _digest(_sources()),
        "mechanism (digest of its source)": source_digest(mechanism),
        **versions(),
    }


class Origin(TypedDict):
    """What a result says of the code it is about."""

    source: str
    commit: str
    place: str


def origin_of(subject: object) -> Origin:
    """Return the digest, the git commit and the place of a mechanism or statistic."""
    return {
        "source": source_digest(subject),
        "commit": _commit_of(subject),
        "place": _place_of(subject),
    }


def _place_of(subject: object) -> str:
    """Return ``file:line`` of what lies in the working folder; nothing of anything else."""
    subject = getattr(subject, "function", subject)
    defined = subject if isinstance(subject, FunctionType | type) else type(subject)
    for path in _defined_in(defined):
        if not path.is_relative_to(Path.cwd()) or installed(path):
            continue
        # A file named like another module is known by no name, so it is looked up in the text.
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == defined.__name__:
                return f"{path.relative_to(Path.cwd()).as_posix()}:{node.lineno}"
    return ""


def source_digest(mechanism: object) -> str:
    """Return a digest of the source of a mechanism, of its statistic, and of all they import."""
    digest = hashlib.sha256()
    for name, content in sorted((path.name, _digest([path])) for path in source_files(mechanism)):
        digest.update(f"{name}\n{content}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:DIGITS]


def _sources() -> list[Path]:
    """List the source files of the harness and of what is registered."""
    modules = {item.module for group in get_args(Group) for item in registered(group)}
    packages = {module.rpartition(".")[0] or module for module in modules}
    return sorted({path for name in {"pdpaudit", *packages} for path in _files(name)})


def _files(name: str) -> list[Path]:
    """List the files of a package, or the file of a module."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return []
    folders = spec.submodule_search_locations
    if folders is None:
        return [Path(spec.origin)]
    return [path for folder in folders for path in Path(folder).rglob("*.py")]


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from None
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()[:DIGITS]


#: Parts of a mechanism that are looked at; more are data.
MOST_PARTS = 10_000


def source_files(mechanism: object) -> list[Path]:
    """List the files that define a mechanism and its parts, and what these import from others.

    What lies in the standard library, among installed packages or in this one is left out, unless
    it defines the mechanism or a part of it. Files are read, none is run.
    """
    found: set[Path] = set()
    # A file may be loaded under several names, by pytest's doctests for one; each counts.
    loaded: dict[Path | None, list[ModuleType]] = {}
    for one in loaded_modules():
        loaded.setdefault(_file_of(one), []).append(one)
    todo = [path for part in _parts(mechanism) for path in _defined_in(part)]
    todo += getattr(mechanism, "source_files", ())  # of what is made in another process
    while todo:
        path = todo.pop()
        if path in found:
            continue
        found.add(path)
        modules = loaded.get(path, [])
        if installed(path) or any(_ours(_name(module)) for module in modules):
            continue
        used: list[Path | None] = [*_imported(path), *_packages(path)]
        for module in modules:
            used += [_file_of(one) for one in vars(module).values() if not _ours(_name(one))]
        todo += [one for one in used if one is not None and not installed(one)]
    return sorted(found)


def _parts(mechanism: object) -> Iterator[object]:
    """Yield a mechanism and what it is made of: attributes, statistics, functions wrapped."""
    todo: list[object] = [mechanism]
    seen: dict[int, object] = {}  # kept, so that no other object gets its number
    while todo and len(seen) < MOST_PARTS:
        part = todo.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float | ModuleType | None):
            continue
        seen[id(part)] = part
        yield part
        todo.extend(_inside(part))


def _inside(part: object) -> Iterable[object]:
    if isinstance(part, Mapping):
        return part.values()
    if isinstance(part, list | tuple | set | frozenset):
        return part
    if isinstance(part, MethodType):
        return part.__self__, part.__func__
    if isinstance(part, partial):
        return part.func, *part.args, *part.keywords.values()
    if isinstance(part, FunctionType):
        cells = [cell.cell_contents for cell in part.__closure__ or () if _filled(cell)]
        return *cells, *(part.__defaults__ or ()), getattr(part, "__wrapped__", None)
    if isinstance(part, type):
        return part.__bases__
    slots = [name for kind in type(part).__mro__ for name in getattr(kind, "__slots__", ())]
    values = [inspect.getattr_static(part, name, None) for name in slots if name != "__dict__"]
    return type(part), *values, *getattr(part, "__dict__", {}).values()


def _filled(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _defined_in(part: object) -> Iterator[Path]:
    """Yield the file of a function, or of a class's module or, where none is known, methods."""
    if isinstance(part, FunctionType):
        functions = [part]
    elif isinstance(part, type):
        file = _file_of(sys.modules.get(part.__module__))
        # A file named like another module is known by no name; its functions know it.
        functions = [one for one in vars(part).values() if isinstance(one, FunctionType)]
        if file is not None and not (_standard(file)):
            yield file
    else:
        return
    for function in functions:
        path = Path(function.__code__.co_filename)
        if path.is_file() and not _standard(path):
            yield path.resolve()


@cache
def _folders(*names: str) -> tuple[Path, ...]:
    return tuple(Path(sysconfig.get_path(name)).resolve() for name in names)


def _standard(path: Path) -> bool:
    """Whether a file comes with Python; other packages lie below its folder."""
    inside = any(path.is_relative_to(folder) for folder in _folders("stdlib", "platstdlib"))
    return inside and "site-packages" not in path.parts and "dist-packages" not in path.parts


def installed(path: Path) -> bool:
    """Whether a file belongs to Python or to an installed package."""
    sites = (*site.getsitepackages(), site.getusersitepackages())
    folders = [*_folders("purelib", "platlib"), *(Path(folder).resolve() for folder in sites)]
    return _standard(path) or any(path.is_relative_to(folder) for folder in folders)


def _ours(name: str) -> bool:
    """Whether a module is of this package, wherever its file lies."""
    return name.partition(".")[0] == "pdpaudit"


def _name(module: object) -> str:
    return str(getattr(module, "__name__", ""))


def _file_of(module: object) -> Path | None:
    """Return a module's file; None for what is no module or has none."""
    file = getattr(module, "__file__", None) if isinstance(module, ModuleType) else None
    return _resolved(file) if isinstance(file, str) else None


@cache
def _resolved(file: str) -> Path | None:
    """Return where a file is; None where it is not. Thousands of modules are looked up at once."""
    path = Path(file)
    return path.resolve() if path.is_file() else None


def _packages(path: Path) -> Iterator[Path]:
    """Yield the files of the packages around a file, which are run before it."""
    folder = path.parent
    while (folder / "__init__.py").is_file():
        yield folder / "__init__.py"
        folder = folder.parent


def _imported(path: Path) -> Iterator[Path]:
    """Yield the files that a file's import statements mean, wherever in it they stand."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):  # compiled, or gone
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _located(alias.name, None)
        elif isinstance(node, ast.ImportFrom):
            base = [str(path.parents[node.level - 1])] if node.level else None
            stem = f"{node.module}." if node.module else ""
            for alias in node.names:
                yield from _located(f"{stem}{alias.name}", base)


def _located(name: str, folders: list[str] | None) -> Iterator[Path]:
    """Yield the files of the packages and the module of a dotted name, as far as there are any."""
    if folders is None and (name.partition(".")[0] in sys.stdlib_module_names or _ours(name)):
        return
    places = folders
    whole = ""
    for part in name.split("."):
        whole = f"{whole}.{part}" if whole else part
        module = sys.modules.get(whole) if folders is None else None
        if module is not None:
            file, places = _file_of(module), list(getattr(module, "__path__", []))
        else:
            spec = PathFinder.find_spec(part if folders else whole, places)
            if spec is None:
                return
            file = Path(spec.origin).resolve() if spec.has_location and spec.origin else None
            places = list(spec.submodule_search_locations or [])
        if file is not None:
            yield file
        if not places:
            return


#: Seconds git may take to name a commit.
LIMIT_S = 5.0

#: Folders of installed packages: the repository around them is not theirs.
INSTALLED = ("site-packages", "dist-packages")


def _commit_of(subject: object) -> str:
    """Return the git commit of the folder a mechanism or statistic is from, or nothing."""
    own = Path(__file__).parent
    for file in source_files(subject):
        folder = file.resolve().parent
        if file.is_file() and own not in (folder, *folder.parents):
            return "" if set(INSTALLED) & set(folder.parts) else _commit(folder)
    return ""


@cache
def _commit(folder: Path) -> str:
    try:
        asked = subprocess.run(
            ["git", "-C", str(folder), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    return asked.stdout.strip() if asked.returncode == 0 else ""
