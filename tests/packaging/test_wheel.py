"""What is installed: every package folder, nothing of the checkout, and no need of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = {"pdpaudit": "pdpaudit", "pdpaudit.algorithms": "algorithms", "pdpaudit.attacks": "attacks"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def package_folders() -> dict[str, Path]:
    """Every folder of a room that holds modules, by the name it is imported by."""
    found = {}
    for name, room in ROOMS.items():
        for path in (ROOT / room).rglob("*.py"):
            inner = path.parent.relative_to(ROOT / room).parts
            found[".".join((name, *inner))] = path.parent
    return found


def test_every_package_folder_is_listed():
    assert sorted(PROJECT["tool"]["setuptools"]["packages"]) == sorted(package_folders())


def test_every_package_folder_says_that_it_is_one():
    assert [
        name for name, path in package_folders().items() if not (path / "__init__.py").is_file()
    ] == []


def test_every_registered_name_can_be_imported():
    for group, names in PROJECT["project"]["entry-points"].items():
        for name, place in names.items():
            module, _, attribute = place.partition(":")
            package = next(key for key in sorted(ROOMS, reverse=True) if module.startswith(key))
            file = ROOT / ROOMS[package] / Path(*module.removeprefix(package).strip(".").split("."))
            assert file.with_suffix(".py").is_file() or (file / "__init__.py").is_file(), name
            # pytest is given a module, everybody else an object.
            assert attribute.isidentifier() or group == "pytest11", (group, name)


def python(
    *arguments: str, cwd: Path, path: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python with nothing of this process's path but, if given, one folder."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COV"))}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_importing_the_package_loads_nothing_heavy(tmp_path):
    code = "import pdpaudit, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    run = python("-c", code, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    heavy = {"dp_accounting", "flint", "hypothesis", "joblib", "matplotlib", "networkx", "pandas"}
    heavy |= {"numpy", "rich", "scipy", "sklearn", "typer"}
    assert heavy & set(run.stdout.split()) == set()


def test_the_command_line_starts_without_what_its_commands_need(tmp_path):
    code = "import pdpaudit.cli, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    run = python("-c", code, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    heavy = {"dp_accounting", "flint", "matplotlib", "networkx", "pandas", "scipy", "sklearn"}
    assert heavy & set(run.stdout.split()) == set()


@pytest.fixture(scope="session")
def wheel(tmp_path_factory) -> Path:
    """The project's wheel, built in a copy so that the checkout stays as it is."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for room in ROOMS.values():
        shutil.copytree(ROOT / room, source / room, ignore=ignore)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    run = python("-m", "pip", "wheel", "--no-deps", "-q", "-w", str(out), str(source), cwd=out)
    assert run.returncode == 0, run.stderr
    (built,) = out.glob("pdpaudit-*.whl")
    return built


@pytest.fixture(scope="session")
def site(wheel, tmp_path_factory) -> Path:
    """A folder with nothing but the wheel installed in it."""
    folder = tmp_path_factory.mktemp("site")
    arguments = ["install", "--no-deps", "--no-index", "-q", "--target", str(folder), str(wheel)]
    run = python("-m", "pip", *arguments, cwd=folder)
    assert run.returncode == 0, run.stderr
    return folder


@pytest.fixture
def elsewhere(tmp_path) -> Path:
    """A user's folder with packages of their own that are named like our rooms."""
    for room in ("algorithms", "attacks"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").write_text("raise RuntimeError('theirs was imported')\n")
    return tmp_path


@pytest.mark.slow
def test_the_wheel_holds_every_module_and_nothing_at_the_top_but_us(wheel):
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert {name.partition("/")[0] for name in held} == {"pdpaudit"}
    modules = {
        f"{package.replace('.', '/')}/{path.name}"
        for package, folder in package_folders().items()
        for path in folder.glob("*.py")
    }
    assert {name for name in held if name.endswith(".py")} == modules
    assert "pdpaudit/py.typed" in held
    data = {  # templates and the like
        f"{name.replace('.', '/')}/{path.relative_to(ROOT / room).as_posix()}"
        for name, room in ROOMS.items()
        for path in (ROOT / room).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    assert {name for name in held if not name.endswith(".py")} == data


@pytest.mark.slow
def test_the_installed_command_works_where_the_user_has_rooms_of_the_same_names(site, elsewhere):
    run = python("-m", "pdpaudit", "list", cwd=elsewhere, path=site)
    assert run.returncode == 0, run.stderr
    for name in ("CN", "PTarget:main-text", "squeeze", "planted", "likelihood-ratio"):
        assert name in run.stdout
    code = (
        "import pdpaudit as c, pdpaudit.algorithms.searches.baselines as a\n"
        "import pdpaudit.attacks.pair_families as b\n"
        "print(a.__file__, b.__file__, c.__file__, sep='\\n')"
    )
    run = python("-c", code, cwd=elsewhere, path=site)
    assert run.returncode == 0, run.stderr
    assert all(Path(line).is_relative_to(site) for line in run.stdout.splitlines())


@pytest.mark.slow
def test_the_installed_command_audits_where_the_user_has_rooms_of_the_same_names(site, elsewhere):
    (elsewhere / "mine.py").write_text(
        "from pdpaudit.core.protocols import PrivacyClaim\n"
        "class Blind:\n"
        "    claim = PrivacyClaim(0.5, source='it sees nothing')\n"
        "    def run(self, instance, rng): return int(rng.integers(2))\n"
        "    def pairs(self): return [(0, 1)]\n"
    )
    arguments = ["audit", "mine.py:Blind", "--samples", "2000", "--seed", "1", "--jobs", "1"]
    run = python("-m", "pdpaudit", *arguments, cwd=elsewhere, path=site)
    assert run.returncode == 0, run.stderr
    assert "not rejected" in run.stdout
