"""Figures of simulations: the numbers they draw, their bytes, and names that mean nothing to them.

Text of a figure's SVG is text, so it can be read back by an XML parser.
"""

from __future__ import annotations

import copy
import json
import math
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdpaudit.core.errors import InputError
from pdpaudit.report.blocks import visible
from pdpaudit.report.figures import write_comparison, write_figures
from pdpaudit.report.measured import Simulation, simulation_of

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

ALLOWED = {"svg", "g", "path", "text", "tspan", "defs", "use", "style", "title", "clipPath", "rect"}


@pytest.fixture
def made(simulation_body: dict[str, Any]) -> dict[str, Any]:
    """Return the simulation alone."""
    body: dict[str, Any] = simulation_body["context"]["simulation"]
    return body


@pytest.fixture
def read(made: dict[str, Any]) -> Simulation:
    return simulation_of(made, "a.json")


@pytest.fixture
def axes() -> Any:
    from matplotlib.figure import Figure

    return Figure().add_subplot()


def words_of(path: Path) -> str:
    """Return what an SVG says; refuse anything that runs, loads or links."""
    text = path.read_text(encoding="utf-8")
    words = []
    for element in ET.fromstring(text).iter():
        tag = element.tag.rpartition("}")[2]
        assert tag in ALLOWED, tag
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert not name.endswith("href") or value.startswith("#")
        if tag in ("text", "tspan", "title"):
            words.append(element.text or "")
    return "\n".join(words)


def test_the_figures_of_a_simulation(made: dict[str, Any], tmp_path: Path) -> None:
    written = write_figures(made, tmp_path, "dominant", ["svg"])
    stems = ("curves-1", "curves-2", "comparison", "drawing")
    assert [path.name for path in written] == [f"dominant-{stem}.svg" for stem in stems]
    assert sorted(tmp_path.iterdir()) == sorted(written)
    curves = words_of(written[0])
    for said in (
        "oracle calls spent (people investigated)",
        "targets found (people)",
        "without privacy: Target",
        "mean of 200 runs: PTarget",
        "3 of 200 runs: PTarget",
        "± one standard deviation",
        "4,714 vertices, 129 targets in 11 components · dominant · my edges.csv",
        # In words, for who does not see it.
        "PTarget finds 108.2 with 2,000 calls, ± 6.77. Risk multiplier then: claimed 1.2, true "
        "1.5.",
    ):
        assert said in curves
    drawing = words_of(written[3])
    assert "PTarget\n1 protected person examined, 3 targets found" in drawing


def test_a_figure_as_png_tells_nothing_of_its_making(made: dict[str, Any], tmp_path: Path) -> None:
    body = {**made, "searches": made["searches"][:1], "drawing": None}
    svg, png = write_figures(body, tmp_path)
    assert svg.suffix == ".svg"
    data = png.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert b"Software" not in data
    assert b"tIME" not in data


def test_the_same_numbers_are_the_same_bytes(made: dict[str, Any], tmp_path: Path) -> None:
    (first,) = write_figures({**made, "searches": made["searches"][:1], "drawing": None}, tmp_path,
                             formats=["svg"])  # fmt: skip
    program = (
        "import json, sys; from pathlib import Path; import matplotlib\n"
        # Somebody else's settings, and another order of hashes.
        "matplotlib.rcParams.update({'font.size': 20, 'text.usetex': True, 'axes.grid': False})\n"
        "from pdpaudit.report.figures import write_figures\n"
        "write_figures(json.load(sys.stdin), Path(sys.argv[1]), 'again', ['svg'])"
    )
    body = {**made, "searches": made["searches"][:1], "drawing": None}
    subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], input=json.dumps(body), text=True,
        check=True, env={**os.environ, "PYTHONHASHSEED": "5", "SOURCE_DATE_EPOCH": "1"},
    )  # fmt: skip
    text = first.read_bytes()
    assert (tmp_path / "again-curves.svg").read_bytes() == text
    for trace in (b"<metadata", b"<dc:date", b"matplotlib v", str(tmp_path).encode()):
        assert trace not in text


def test_the_curves_are_the_numbers(axes: Any, read: Simulation) -> None:
    from pdpaudit.report.figures import mean_panel

    plain, private = read.plain, read.private[0]
    assert plain is not None
    mean_panel(axes, plain, private)
    drawn = [(line.get_xdata(), line.get_ydata()) for line in axes.lines]
    for (x, y), one in zip(drawn, (plain, private), strict=True):
        assert list(x) == list(one.calls)
        assert list(y) == list(one.found.mean)
    (band,) = axes.collections
    corners = band.get_paths()[0].vertices
    for x, mean, sd in zip(private.calls, private.found.mean, private.found.sd, strict=True):
        here = corners[corners[:, 0] == x][:, 1]
        assert here.max() == pytest.approx(mean + sd)
        assert here.min() == pytest.approx(max(mean - sd, 0))


def test_runs_are_steps_with_a_circle_for_each_discovery(axes: Any, read: Simulation) -> None:
    from pdpaudit.report.figures import runs_panel

    runs_panel(axes, read.plain, read.private[0])
    steps = [line for line in axes.lines if line.get_drawstyle() == "steps-post"]
    # Three runs, then the one without privacy; all are drawn out to the end of the axis.
    assert [list(line.get_xdata()) for line in steps] == [
        [0, 50, 900, 2000], [0, 60, 901, 2000], [0, 70, 902, 2000], [0, 40, 400, 1900, 2000],
    ]  # fmt: skip
    assert list(steps[0].get_ydata()) == [1, 20, 90, 90]
    circles = {
        point
        for line in axes.lines
        if line.get_marker() == "o"
        for point in zip(line.get_xdata(), line.get_ydata(), strict=True)
    }
    assert circles == {(50, 20), (60, 21), (70, 22), (40, 30), (400, 90)}


def test_an_infinite_multiplier_is_left_out(axes: Any, read: Simulation) -> None:
    from pdpaudit.report.figures import multiplier_panel

    search = read.private[1]
    assert search.multiplier is not None
    assert search.multiplier.claimed.mean[-1] == math.inf
    multiplier_panel(axes, search)
    (line,) = axes.lines
    assert np.isfinite(line.get_ydata()).tolist() == [True] * 20 + [False]
    assert axes.get_ylim()[0] == 1.0
    assert axes.get_ylim()[1] < 2.0


def test_wide_multipliers_are_on_a_logarithmic_scale(axes: Any, made: dict[str, Any]) -> None:
    from pdpaudit.report.figures import multiplier_panel

    made["searches"][1]["multiplier"]["true"]["mean"][-1] = 1e9
    multiplier_panel(axes, simulation_of(made, "a.json").private[0])
    assert axes.get_yscale() == "log"


def test_every_curve_of_a_comparison_differs_in_more_than_colour() -> None:
    from pdpaudit.report.figures import COLOURS, DASHES, MARKERS, MOST_CURVES

    looks = {(DASHES[i % len(DASHES)], MARKERS[i % len(MARKERS)]) for i in range(MOST_CURVES)}
    assert len(looks) == MOST_CURVES
    assert len(COLOURS) == len(set(COLOURS)) == 7


def test_hostile_names_are_text(
    made: dict[str, Any], hostile_names: list[str], tmp_path: Path
) -> None:
    one = {**made, "searches": made["searches"][:2]}
    names = [*hostile_names, "_hidden", "$x^2$", r"$\undefined{"]
    (path,) = write_comparison(dict.fromkeys(names, one), tmp_path, title="$a$", formats=["svg"])
    words = words_of(path)
    for name in names:
        shown = " ".join(visible(name).split())
        assert shown[:31] in words
    assert "$a$" in words


def test_hostile_names_are_text_wherever_they_stand(made: dict[str, Any], tmp_path: Path) -> None:
    name = "_$x^2$ <script>a(1)</script> \U0001f469"
    assert len(name) <= 32
    made["network"]["source"] = made["regime"] = name
    made["searches"] = made["searches"][:2]
    for search in (*made["searches"], *made["drawing"]["searches"]):
        search["name"] = search["mechanism"] = name
    for path in write_figures(made, tmp_path, formats=["svg", "png"]):
        if path.suffix == ".svg":
            assert words_of(path).count(name) >= 2


def test_a_search_without_privacy_that_differs_is_left_out(
    made: dict[str, Any], tmp_path: Path
) -> None:
    one = {**made, "searches": made["searches"][:2]}
    other = copy.deepcopy(one)
    (path,) = write_comparison({"CN": one, "Path": other}, tmp_path, formats=["svg"])
    assert "without privacy: Target" in words_of(path)
    other["searches"][0]["mean"][-1] = 121.0
    (path,) = write_comparison({"CN": one, "Path": other}, tmp_path, formats=["svg"])
    assert "without privacy" not in words_of(path)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("searches",), [], "searches is [], not a list of at least one search"),
        (("searches", 0, "private"), 1, r"searches[0].private is 1, not true or false"),
        (("searches", 1, "mean"), [1], r"searches[1].mean is [1], not a list of 21 entries"),
        (("searches", 1, "sd", 0), "x", r"searches[1].sd is ['x', "),
        (("searches", 1, "calls", 0), 500, r"not an ascending list"),
        (("searches", 1, "discoveries", 0), [1], "not a list of rows of 3 numbers"),
        (("searches", 1, "multiplier", "true", "sd"), [], "multiplier.true.sd is []"),
        (("searches", 0, "shown", 0, "found"), [1], "shown[0].found is [1]"),
        (("network", "vertices"), -1, "network.vertices is -1, not a count"),
        (("drawing", "edges", 0), [0, 6], "not a list of pairs of places below 6"),
        (("drawing", "positions", 0), [0, 2], "not a list of 6 places between 0 and 1"),
        (("drawing", "targeted"), [True], "drawing.targeted is [True]"),
        (("drawing", "searches", 0, "found", 0), 1, "not a list of true and false"),
    ],
)
def test_what_is_wrong_is_named(
    made: dict[str, Any], place: tuple[str | int, ...], value: Any, message: str
) -> None:
    inner: Any = made
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    with pytest.raises(InputError) as error:
        simulation_of(made, "a.json")
    assert message in str(error.value)
    assert str(error.value).endswith("write the file again")


def test_what_cannot_be_drawn_is_said(made: dict[str, Any], tmp_path: Path) -> None:
    plain = {**made, "searches": made["searches"][:1], "drawing": None}
    for call, message in (
        (lambda: write_figures(plain, tmp_path, formats=["pdf"]), "no figure as pdf"),
        (lambda: write_figures(plain, tmp_path, formats=[]), "no figure as nothing"),
        (lambda: write_figures(plain, tmp_path / "no", formats=["svg"]), "cannot be written"),
        (lambda: write_comparison({"a": plain}, tmp_path), "no private search to compare"),
        (
            lambda: write_comparison({str(i): made for i in range(15)}, tmp_path),
            "30 searches to compare; one figure tells 28 apart",
        ),
    ):
        with pytest.raises(InputError, match=message):
            call()
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_way_out_is_named(
    made: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("matplotlib.style", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=r'pip install "pdpaudit\[report\]"'):
        write_figures(made, tmp_path)


def test_markdown_of_a_simulation_needs_no_matplotlib(
    simulation_body: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(simulation_body), encoding="utf-8")
    program = (
        "import sys; from pathlib import Path\n"
        "import pdpaudit.report.figures\n"
        "from pdpaudit.report.rendering import render_markdown\n"
        "from pdpaudit.report.sources import read_source\n"
        "assert 'risk multiplier' in render_markdown([read_source(Path(sys.argv[1]))])\n"
        "sys.exit('matplotlib' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)
