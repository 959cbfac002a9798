"""What a store's runs depend on: any change of any file behind a mechanism is another program."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from pdpaudit.algorithms.zoo import Laplace
from pdpaudit.auditing.provenance import (
    origin_of,
    source_digest,
    source_files,
    store_settings,
)
from pdpaudit.auditing.side_channels import observed
from pdpaudit.core.registry import make_mechanism, resolve

FILES = {
    "mine.py": """
import importlib
import helper
from numbers_used import LEVEL
from pack.inner import value
from pack import sibling
dynamic = importlib.import_module("found_late")
from base_class import Base

class Mine(Base):
    def run(self, instance, rng):
        import lazy
        return LEVEL
""",
    "base_class.py": """
from pdpaudit.core.protocols import PrivacyClaim
from mixed import Mixed
class Base(Mixed):
    claim = PrivacyClaim(1.0)
    def pairs(self):
        yield (0,), (1,)
""",
    "mixed.py": "class Mixed:\n    pass\n",
    "helper.py": "import second\nimport numpy\nimport json\n",
    "second.py": "VALUE = 1\n",
    "numbers_used.py": "LEVEL = 1\n",
    "found_late.py": "VALUE = 1\n",
    "lazy.py": "VALUE = 1\n",
    "pack/__init__.py": "from . import read_first\n",
    "pack/read_first.py": "VALUE = 1\n",
    "pack/inner.py": "from .deep.most import value\n",
    "pack/deep/__init__.py": "",
    "pack/deep/most.py": "from ..sibling import VALUE as value\n",
    "pack/sibling.py": "VALUE = 1\n",
    "near.py": """
import near_helper
from pdpaudit.core.statistic import statistic

@statistic(sensitivity=1, impact_cardinality=1)
def near(graph, vertex, targets):
    return near_helper.VALUE
""",
    "near_helper.py": "VALUE = 1.0\n",
    "unrelated.py": "VALUE = 1\n",
}
OF_MECHANISM = sorted(set(FILES) - {"near.py", "near_helper.py", "unrelated.py"})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A folder of a person's files; what they import is forgotten afterwards."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in FILES:  # whoever else has a file of that name
        sys.modules.pop(Path(name).with_suffix("").as_posix().replace("/", "."), None)
    importlib.invalidate_caches()
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def change(path: Path) -> None:
    path.write_text(path.read_text() + "# another program\n")


@pytest.mark.parametrize("name", OF_MECHANISM)
def test_every_file_that_is_imported_counts(folder: Path, name: str) -> None:
    mechanism = resolve("mechanisms", "mine.py:Mine")()
    before, seen = source_digest(mechanism), source_digest(observed(mechanism, "time"))
    change(folder / name)
    assert source_digest(mechanism) != before
    assert source_digest(observed(mechanism, "time")) != seen


def test_a_file_named_like_another_module_counts_with_what_it_imports(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """No import statement finds such a file; what it imported while it ran counts all the same."""
    other = tmp_path_factory.mktemp("other")
    (other / "mine.py").write_text("")
    sys.path.insert(0, str(other))
    mechanism = resolve("mechanisms", "mine.py:Mine")()
    before = source_digest(mechanism)
    change(folder / "found_late.py")
    assert source_digest(mechanism) != before


@pytest.mark.parametrize("name", ["near.py", "near_helper.py"])
def test_the_files_of_a_statistic_count(folder: Path, name: str) -> None:
    def settings() -> dict[str, str]:
        made, spec = make_mechanism("PTarget:main-text", {"sop": "near.py:near"})
        return store_settings(made, spec, 7)

    before = settings()
    assert settings() == before
    change(folder / name)
    assert settings() != before


def test_no_other_file_counts_nor_the_folder(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    mechanism = resolve("mechanisms", "mine.py:Mine")()
    before = source_digest(mechanism)
    change(folder / "unrelated.py")
    change(folder / "near.py")
    assert source_digest(mechanism) == before


def test_a_file_named_like_a_library_counts(folder: Path) -> None:
    (folder / "mine.py").rename(folder / "random.py")
    mechanism = resolve("mechanisms", "random.py:Mine")()
    before = source_digest(mechanism)
    change(folder / "random.py")
    assert source_digest(mechanism) != before


def test_a_function_that_is_wrapped_counts(folder: Path) -> None:
    from functools import partial

    near = resolve("sops", "near.py:near")

    class Holder:
        def __init__(self) -> None:
            self.parts = {"key": [partial(print, near)]}

    before = source_digest(Holder())
    change(folder / "near_helper.py")
    assert source_digest(Holder()) != before


def test_a_file_of_ours_that_is_loaded_under_another_name_is_still_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As pytest loads it for its doctests: neither order of the two names changes anything."""
    before = source_files(Laplace(1.0))
    module = ModuleType("zoo_laplace")
    known = vars(sys.modules[Laplace.__module__])
    vars(module).update({name: known[name] for name in known if name != "__name__"})
    monkeypatch.setitem(sys.modules, "zoo_laplace", module)
    assert source_files(Laplace(1.0)) == before


@pytest.mark.parametrize("clash", [False, True])
def test_the_place_is_the_line_of_what_lies_in_the_working_folder(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, clash: bool
) -> None:
    if clash:  # a file named like another module
        other = tmp_path_factory.mktemp("other")
        (other / "mine.py").write_text("")
        sys.path.insert(0, str(other))
    mechanism = resolve("mechanisms", "mine.py:Mine")()
    line = FILES["mine.py"].splitlines().index("class Mine(Base):") + 1
    assert origin_of(mechanism)["place"] == f"mine.py:{line}"
    assert origin_of(Laplace(1.0))["place"] == ""
