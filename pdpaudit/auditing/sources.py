"""The source files that a mechanism's runs depend on: its own and all that they import."""

from __future__ import annotations

import ast
import inspect
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from importlib.machinery import PathFinder
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any

__all__ = ["source_files"]

#: Parts of a mechanism that are looked at; more are data.
MOST_PARTS = 10_000


def source_files(mechanism: Any) -> list[Path]:
    """List the files that define a mechanism and its parts, and what these import from others.

    What lies in the standard library, among installed packages or in this one is left out, unless
    it defines the mechanism or a part of it. Files are read, none is run.
    """
    found: set[Path] = set()
    # A file may be loaded under several names, by pytest's doctests for one; each counts.
    loaded: dict[Path | None, list[ModuleType]] = {}
    for one in list(sys.modules.values()):
        loaded.setdefault(_file_of(one), []).append(one)
    todo = [path for part in _parts(mechanism) for path in _defined_in(part)]
    while todo:
        path = todo.pop()
        if path in found:
            continue
        found.add(path)
        modules = loaded.get(path, [])
        if _installed(path) or any(_ours(_name(module)) for module in modules):
            continue
        used: list[Path | None] = [*_imported(path), *_packages(path)]
        for module in modules:
            used += [_file_of(one) for one in vars(module).values() if not _ours(_name(one))]
        todo += [one for one in used if one is not None and not _installed(one)]
    return sorted(found)


def _parts(mechanism: Any) -> Iterator[Any]:
    """Yield a mechanism and what it is made of: attributes, statistics, functions wrapped."""
    todo: list[Any] = [mechanism]
    seen: dict[int, Any] = {}  # kept, so that no other object gets its number
    while todo and len(seen) < MOST_PARTS:
        part = todo.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float | ModuleType | None):
            continue
        seen[id(part)] = part
        yield part
        todo.extend(_inside(part))


def _inside(part: Any) -> Iterable[Any]:
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


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _defined_in(part: Any) -> Iterator[Path]:
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


def _installed(path: Path) -> bool:
    """Whether a file belongs to Python or to an installed package."""
    sites = (*site.getsitepackages(), site.getusersitepackages())
    folders = [*_folders("purelib", "platlib"), *(Path(folder).resolve() for folder in sites)]
    return _standard(path) or any(path.is_relative_to(folder) for folder in folders)


def _ours(name: str) -> bool:
    """Whether a module is of this package, wherever its file lies."""
    return name.partition(".")[0] == "pdpaudit"


def _name(module: Any) -> str:
    return str(getattr(module, "__name__", ""))


def _file_of(module: Any) -> Path | None:
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
    places: Any = folders
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
