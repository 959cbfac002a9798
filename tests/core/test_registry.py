"""Every way to name a statistic or mechanism, and what is said when there is none."""

from __future__ import annotations

import re
import sys
import traceback
from pathlib import Path
from typing import get_args

import pytest

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import StatisticOfProximity
from pdpaudit.core.registry import (
    Group,
    UserCodeError,
    _points,
    check_arguments,
    check_file,
    check_run,
    configure,
    given_by,
    loaded,
    registered,
    resolve,
    the_one,
)

SOP = """
from pdpaudit.core.statistic import statistic

@statistic(sensitivity=0, impact_cardinality=1)
def {name}(graph, vertex, targets):
    return {value}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current folder; modules and paths of the test are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        module = sys.modules[name]
        places = [getattr(module, "__file__", None), *getattr(module, "__path__", [])]
        if any(str(place).startswith(str(tmp_path)) for place in places):
            del sys.modules[name]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def value(sop) -> float:
    return sop(None, 0, frozenset())


def refusal(group, name) -> str:
    with pytest.raises(InputError) as caught:
        resolve(group, name)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_everything_registered_can_be_loaded_and_is_found_by_its_name():
    for group in ("sops", "mechanisms", "attacks", "refinements", "events", "networks"):
        items = registered(group)
        assert items, group
        assert [item.name for item in items] == sorted(item.name for item in items)
        for item in items:
            assert item.dist.name == "pdpaudit"
            assert resolve(group, item.name) is item.load()
            assert callable(item.load())


def test_a_statistic_with_a_whole_number():
    sop = resolve("sops", "Path_3")
    assert (sop.k, isinstance(sop, StatisticOfProximity)) == (3, True)
    assert resolve("sops", "Flow_2").k == 2


@pytest.mark.parametrize("name", ["Path_0", "CN_3", "Path_x", "Path_", "_3", "Path_-1", "Path_²"])
def test_a_number_that_does_not_fit_is_refused(folder, name):
    message = refusal("sops", name)
    assert re.search("Path|CN|k = 0", message)


def test_a_name_in_a_file(folder):
    write(folder / "deep" / "mine.py", SOP.format(name="near", value=5))
    assert value(resolve("sops", "deep/mine.py:near")) == 5
    assert value(resolve("sops", f"{folder}/deep/mine.py:near")) == 5
    assert resolve("sops", "deep/mine.py:near") is resolve("sops", "./deep/mine.py:near")


def test_a_file_may_import_its_neighbours_with_the_names_of_our_rooms(folder, monkeypatch):
    # As a user has it: our checkout is not on the path, nor its folders imported by their names.
    checkout = Path(__file__).parents[2]
    elsewhere = [place for place in sys.path if place and Path(place).resolve() != checkout]
    monkeypatch.setattr(sys, "path", elsewhere)
    for name in [name for name in sys.modules if name.partition(".")[0] == "algorithms"]:
        monkeypatch.delitem(sys.modules, name)
    write(folder / "p" / "algorithms" / "__init__.py", "VALUE = 11")
    write(
        folder / "p" / "mine.py",
        "from algorithms import VALUE\n" + SOP.format(name="near", value="VALUE"),
    )
    assert value(resolve("sops", "p/mine.py:near")) == 11
    assert resolve("sops", "CN").__module__ == "pdpaudit.algorithms.statistics.paper"


def test_two_files_of_one_name_are_two_modules(folder):
    write(folder / "a" / "mine.py", SOP.format(name="near", value=1))
    write(folder / "b" / "mine.py", SOP.format(name="near", value=2))
    found = [value(resolve("sops", f"{where}/mine.py:near")) for where in "abab"]
    assert found == [1, 2, 1, 2]


def test_three_files_of_one_name_are_loaded_once_each(folder):
    names = [f"{where}/mine.py:near" for where in "abc"]
    for number, where in enumerate("abc"):
        write(folder / where / "mine.py", SOP.format(name="near", value=number))
    sops = [resolve("sops", name) for name in names]
    assert [value(sop) for sop in sops] == [0, 1, 2]
    assert all(resolve("sops", name) is sop for name, sop in zip(names, sops, strict=True))


def test_a_file_is_loaded_anew_for_no_name_of_it(folder):
    write(folder / "anew.py", SOP.format(name="near", value=1))
    (folder / "link.py").symlink_to("anew.py")
    found = {id(resolve("sops", name)) for name in ("anew.py:near", "link.py:near", "anew:near")}
    assert len(found) == 1


@pytest.mark.parametrize("name", ["my.v2.py", "with space.py", "2nd.py", "sys.py"])
def test_a_file_may_have_any_name(folder, name):
    write(folder / name, SOP.format(name="near", value=1))
    assert value(resolve("sops", f"{name}:near")) == 1
    assert sys.modules["sys"] is sys


def test_a_file_may_define_dataclasses_with_postponed_annotations(folder):
    text = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Mine:\n    k: int = 2\n"
    )
    for where in "ab":
        write(folder / where / "mine.py", text)
    assert [resolve("sops", f"{where}/mine.py:Mine")().k for where in "ab"] == [2, 2]


def test_a_file_named_like_a_library_does_not_take_its_place(folder):
    import colorsys as library

    sys.modules.pop("colorsys")
    write(folder / "colorsys.py", SOP.format(name="near", value=1))
    try:
        assert value(resolve("sops", "colorsys.py:near")) == 1
        import colorsys

        assert colorsys.rgb_to_hsv
    finally:
        sys.modules["colorsys"] = library


def test_a_name_in_a_module(folder):
    write(folder / "pkg" / "__init__.py", "")
    write(folder / "pkg" / "inner.py", SOP.format(name="near", value=7))
    assert value(resolve("sops", "pkg.inner:near")) == 7


def test_a_bare_name_in_the_conventional_file(folder):
    write(folder / "sops.py", SOP.format(name="near", value=3))
    write(folder / "mechanisms.py", "class Mine:\n    claim = None")
    assert value(resolve("sops", "near")) == 3
    assert resolve("mechanisms", "Mine").__name__ == "Mine"
    assert "unknown mechanism 'near'" in refusal("mechanisms", "near")


def test_a_bare_name_in_a_module_of_the_project(folder):
    write(folder / "pyproject.toml", '[tool.pdpaudit]\nmodules = ["one", "pkg.two"]\n')
    write(folder / "one.py", SOP.format(name="near", value=1))
    write(folder / "pkg" / "two.py", SOP.format(name="far", value=2))
    write(folder / "sops.py", SOP.format(name="near", value=9))
    assert value(resolve("sops", "near")) == 1  # the project's modules come first
    assert value(resolve("sops", "far")) == 2


def test_a_project_file_may_begin_with_a_mark(folder):
    write(folder / "pyproject.toml", '\ufeff[tool.pdpaudit]\nmodules = ["one"]\n')
    write(folder / "one.py", SOP.format(name="near", value=1))
    assert value(resolve("sops", "near")) == 1


def test_registered_names_come_before_the_users(folder):
    write(folder / "sops.py", SOP.format(name="CN", value=3))
    assert resolve("sops", "CN").__module__.startswith("pdpaudit.")
    assert value(resolve("sops", "sops:CN")) == 3


def test_a_project_without_our_section_is_no_obstacle(folder):
    write(folder / "pyproject.toml", '[project]\nname = "theirs"\n')
    assert "unknown statistic" in refusal("sops", "near")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tool", ["pyproject.toml", "correct it"]),
        ('[tool.pdpaudit]\nmodules = ["missing"]', ["[tool.pdpaudit]", "'missing'"]),
        ('[tool.pdpaudit]\nmodules = "missing"', ["[tool.pdpaudit]", "list"]),
        ("[tool.pdpaudit]\nmodules = [1]", ["[tool.pdpaudit]", "list"]),
        ("[tool]\npdpaudit = 3", ["[tool.pdpaudit]", "list"]),
    ],
)
def test_a_project_file_that_cannot_be_used_is_named(folder, text, words):
    write(folder / "pyproject.toml", text)
    message = refusal("sops", "near")
    for word in words:
        assert word in message


def test_the_nearest_names_are_offered(folder):
    assert "did you mean Triangle" in refusal("sops", "Trianlge")
    message = refusal("mechanisms", "PTarget:maintext")
    assert "did you mean PTarget:main-text" in message
    assert "pdpaudit list" in message
    far = refusal("sops", "zzzzzz")
    for item in registered("sops"):
        assert item.name in far


def test_the_nearest_names_of_a_file_are_offered(folder):
    write(folder / "mine.py", SOP.format(name="common_friends", value=3))
    message = refusal("sops", "mine.py:comon_friends")
    assert "did you mean common_friends?" in message
    message = refusal("sops", "mine.py:zzzzzz")
    assert message.startswith("mine.py: no statistic named 'zzzzzz'")
    assert message.partition("it has ")[2] == "common_friends"  # and nothing it imports
    assert "did you mean" not in message


def test_a_missing_file_or_module_is_named(folder):
    assert refusal("sops", "deep/mine.py:near").startswith("deep/mine.py: no such file")
    assert refusal("sops", f"{folder}:near").startswith("unknown statistic")
    assert "unknown statistic 'no.such.module:near'" in refusal("sops", "no.such.module:near")
    assert "unknown statistic" in refusal("sops", "..relative:near")
    assert "unknown statistic" in refusal("sops", ":near")
    assert "unknown statistic" in refusal("sops", "")


FAILURES = {
    "error": ("1 / 0", ZeroDivisionError),
    "import": ("import no_such_library", ModuleNotFoundError),
    "syntax": ("def (", SyntaxError),
    "exit": ("import sys; sys.exit(0)", SystemExit),
}


@pytest.mark.parametrize("kind", FAILURES)
@pytest.mark.parametrize("name", ["broken.py:x", "broken:x", "pkg.broken:x", "bare"])
def test_a_file_that_fails_on_import_is_the_users_error_with_its_cause(folder, kind, name):
    code, error = FAILURES[kind]
    text = f"line = 1\n{code}\n"
    write(folder / "broken.py", text)
    write(folder / "pkg" / "__init__.py", text)
    write(folder / "pkg" / "broken.py", "x = 1")
    write(folder / "sops.py", text)
    for _ in range(2):  # a half-made module is not left behind
        with pytest.raises(UserCodeError, match="failed on import") as caught:
            resolve("sops", name)
        cause = caught.value.__cause__
        assert type(cause) is error
        trace = "".join(traceback.format_exception(cause))
        assert re.search(r"(broken|sops|__init__)\.py\", line 2", trace)


@pytest.mark.parametrize("error", [RuntimeError("cannot start"), KeyError("x"), OSError("gone")])
def test_what_cannot_be_made_is_the_users_error_with_its_cause(error):
    def factory():
        raise error

    class Made:
        def __init__(self):
            factory()

    with pytest.raises(UserCodeError, match="Mine cannot be made") as caught:
        configure(Made, "Mine", {})
    assert caught.value.__cause__ is error


def test_a_refusal_to_be_made_stays_as_it_is():
    class Made:
        def __init__(self):
            raise InputError("level = 3: too high")

    with pytest.raises(InputError, match=r"^level = 3: too high$"):
        configure(Made, "Mine", {})


def test_a_project_module_that_fails_is_the_users_error(folder):
    write(folder / "pyproject.toml", '[tool.pdpaudit]\nmodules = ["broken"]\n')
    write(folder / "broken.py", "import no_such_library")
    with pytest.raises(UserCodeError, match="broken: failed on import") as caught:
        resolve("sops", "near")
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_the_users_packages_named_like_ours_do_not_shadow_ours(folder):
    for room in ("algorithms", "attacks", "pdpaudit"):
        write(folder / room / "__init__.py", "raise RuntimeError('theirs was imported')")
    resolve_all = [
        item.load() for group in ("sops", "mechanisms", "attacks") for item in registered(group)
    ]
    assert all(item.__module__.startswith("pdpaudit.") for item in resolve_all)
    assert "unknown statistic" in refusal("sops", "near")


def test_the_current_folder_comes_last_on_the_path(folder):
    write(folder / "networkx.py", "raise RuntimeError('theirs was imported')")
    assert resolve("sops", "networkx:Graph").__module__ == "networkx.classes.graph"
    assert sys.path[-1] == str(folder)


class Made:
    def __init__(self, epsilon=1.0, max_degree=None):
        if epsilon == 13:
            raise TypeError("unlucky")
        self.epsilon, self.max_degree = epsilon, max_degree


def test_only_options_that_were_given_are_passed():
    made = configure(Made, "Made", {"epsilon": 2.0, "max_degree": None, "stop": None})
    assert (made.epsilon, made.max_degree) == (2.0, None)
    assert configure(Made, "Made", {}).epsilon == 1.0


def test_options_that_are_not_taken_are_refused():
    with pytest.raises(InputError, match=r"^Made takes no `noise_level`; leave it out$"):
        configure(Made, "Made", {"noise_level": 3})
    with pytest.raises(InputError, match="takes no `epsilon`"):
        configure(Made(), "made", {"epsilon": 3})
    with pytest.raises(InputError, match="Made cannot be made: unlucky"):
        configure(Made, "Made", {"epsilon": 13})


def test_what_is_no_class_is_returned_as_it_is():
    made = Made()
    assert configure(made, "made", {"epsilon": None}) is made


class Free:
    def __init__(self, eps=1.0, **others):
        self.eps, self.others = eps, others


def test_a_class_that_takes_any_argument_is_given_it():
    assert configure(Free, "Free", {"eps": 2, "depth": 3}).others == {"depth": 3}


def test_arguments_that_are_not_taken_are_refused_with_those_that_are():
    with pytest.raises(InputError, match=r"others = epz: X takes no epz; it takes epsilon, max_d"):
        check_arguments("X", ["epsilon", "epz"], lambda group, name: Made)
    with pytest.raises(InputError, match="X takes no eps; it takes none"):
        check_arguments("X", ["eps"], lambda group, name: Made())
    check_arguments("X", ["anything"], lambda group, name: Free)


@pytest.mark.parametrize(
    "run", [lambda rng: 0, lambda a, b, c: 0, lambda *, instance, rng: 0], ids=["1", "3", "keyword"]
)
def test_a_run_of_the_wrong_arity_is_shown_what_it_takes(run):
    with pytest.raises(InputError, match=r"X: its run takes \(.*\); write it as run\(self, ins"):
        check_run(run, "X")


@pytest.mark.parametrize("run", [lambda a, b: 0, lambda *a: 0, lambda a, b, c=1: 0, max])
def test_a_run_that_takes_two_arguments_is_let_pass(run):
    check_run(run, "X")


def test_a_file_that_is_not_there_is_refused_with_the_nearest(folder):
    write(folder / "mechanism.py", "")
    with pytest.raises(InputError, match=r"^mecanism.py: no such file; did you mean mechanism.py"):
        check_file("mecanism.py:Mine")
    with pytest.raises(InputError, match=r"^a/b.py: no such file; check the path before the colon"):
        check_file("a/b.py:Mine")
    for name in ("mechanism.py:Mine", "no.module:Mine", "Mine", "x.py"):
        check_file(name)


@pytest.fixture
def plug_in(folder, monkeypatch):
    """A package that registers what is there, what raises, and what is nowhere."""
    write(folder / "plug.py", SOP.format(name="mine", value=0) + "def numbers(*given):\n"
          "    yield from given\n    raise OSError('no table')\n")  # fmt: skip
    write(folder / "broken.py", "raise OSError('no library')\n")
    write(folder / "plug-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: plug\nVersion: 1\n")
    names = {"plug": "plug:mine", "raises": "broken:mine", "gone": "nowhere:mine", "no": "plug:no"}
    lines = [f"{name} = {value}" for name, value in names.items()]
    points = ["[pdpaudit.sops]", *lines, "[pdpaudit.attacks]", "numbers = plug:numbers"]
    write(folder / "plug-1.dist-info/entry_points.txt", "\n".join(points))
    monkeypatch.syspath_prepend(str(folder))


@pytest.mark.usefixtures("plug_in")
@pytest.mark.parametrize(
    ("name", "cause"), [("raises", OSError), ("gone", ImportError), ("no", AttributeError)]
)
def test_a_plug_in_that_cannot_be_loaded_is_named(name, cause):
    assert isinstance(resolve("sops", "plug"), StatisticOfProximity)
    words = rf"^{name} = \S+, registered by plug, cannot be loaded$"
    with pytest.raises(UserCodeError, match=words) as caught:
        resolve("sops", name)
    assert isinstance(caught.value.__cause__, cause)
    (item,) = [one for one in registered("sops") if one.name == name]
    with pytest.raises(UserCodeError, match=words):
        loaded(item)


def rewrite(points: Path, text: str) -> None:
    """Register something else; what is registered is read once in a process."""
    points.write_text(text)
    _points.cache_clear()


@pytest.mark.usefixtures("plug_in")
def test_a_name_that_two_packages_give_to_different_things_is_refused(folder):
    again = folder / "again"
    write(again / "other-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: other\nVersion: 1\n")
    points = write(
        again / "other-1.dist-info/entry_points.txt", "[pdpaudit.sops]\nplug = plug:mine"
    )
    sys.path.insert(0, str(again))
    assert resolve("sops", "plug").sensitivity(3) == 0  # the same twice is one
    rewrite(points, "[pdpaudit.sops]\nplug = plug:yours")
    words = "plug:mine, registered by plug and plug = plug:yours, registered by other; name one as"
    with pytest.raises(InputError, match=words):
        resolve("sops", "plug")


@pytest.mark.parametrize("group", [one for one in get_args(Group) if registered(one)])
def test_what_takes_the_name_of_ours_is_said_in_every_group(folder, monkeypatch, group):
    ours = registered(group)[0]
    info = folder / "plug-1.dist-info"
    write(info / "METADATA", "Metadata-Version: 2.1\nName: plug\nVersion: 1\n")
    points = write(info / "entry_points.txt", f"[pdpaudit.{group}]\n{ours.name} = plug:yours")
    monkeypatch.syspath_prepend(str(folder))
    words = f"{ours.name} is registered twice: .*, registered by pdpaudit and .* = plug:yours, "
    (item,) = [one for one in registered(group) if one.name == ours.name]
    with pytest.raises(InputError, match=words):
        loaded(item)
    # Where one is used of all, ours is while it is alone.
    for other in ("A", "z"):  # whatever comes first
        rewrite(points, f"[pdpaudit.{group}]\n{other} = plug:mine")
        item, words = the_one(group)
        assert (item.name, words) == (other, f"{other} = plug:mine, registered by plug")
    rewrite(points, f"[pdpaudit.{group}]\nA = plug:mine\nB = plug:mine")
    with pytest.raises(InputError, match="A = plug:mine, registered by plug and B = plug:mine"):
        the_one(group)
    rewrite(points, "")
    assert the_one(group) == (ours, "")


@pytest.mark.usefixtures("plug_in")
def test_a_plug_in_that_fails_gives_what_it_gave_before_and_is_named():
    (item,) = [one for one in registered("attacks") if one.name == "numbers"]
    given = given_by(item, int, 3, 5)
    assert [next(given), next(given)] == [3, 5]
    with pytest.raises(UserCodeError, match=r"plug:numbers, registered by plug, fails") as caught:
        next(given)
    assert isinstance(caught.value.__cause__, OSError)
    with pytest.raises(UserCodeError) as caught:
        list(given_by(item, int, 3, "five"))
    assert str(caught.value.__cause__) == "it gives str where int is needed"
