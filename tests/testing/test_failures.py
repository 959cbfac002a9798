"""What a person sees when a test fails."""

from __future__ import annotations

import shlex

import pytest

from .conftest import Project, out


def shown(result: pytest.RunResult) -> list[str]:
    """Return the lines that pytest marks as the error."""
    return [line[1:].strip() for line in result.outlines if line.startswith("E ")]


def test_it_is_short_and_says_all(project: Project) -> None:
    it = project("def test_leaks():\n    assert_private(Coin(1.0, real=2.0), samples=2000)")
    result = it.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    lines = shown(result)
    assert [line.split()[0] for line in lines[1:]] == [
        *("claim", "bound", "pair", "event", "line", "replay")
    ]
    assert "coins.py:Coin is not private as claimed" in lines[0]
    assert "1-DP (its author): no outcome more than 2.7 times as likely" in lines[1]
    assert "flip" in lines[3]
    assert "of 2,000 runs" in lines[4]
    assert "first value that differs: coins.py:" in lines[5]
    # Nothing of how the audit works: the test's own lines are the whole traceback.
    assert "assertion.py" not in out(result)
    assert "testing.py" not in out(result)
    assert "test_it.py:6: AuditFailed" in out(result)


def test_the_bound_is_below_the_truth_and_above_the_claim(project: Project) -> None:
    it = project("def test_leaks():\n    assert_private(Coin(1.0, real=2.0), samples=2000)")
    bound = next(line for line in shown(it.runpytest_inprocess()) if line.startswith("bound"))
    # One bound at confidence 0.975: wrong for one seed in forty; the seed is the test's name.
    assert 1.6 < float(bound.split()[4]) < 2.0


def test_the_replay_command_replays(project: Project) -> None:
    it = project("def test_leaks():\n    assert_private(Coin(1.0, real=2.0), samples=2000)")
    command = shlex.split(shown(it.runpytest_inprocess())[-1])[1:]
    assert command[:2] == ["pdpaudit", "replay"]
    replayed = it.runpython_c(f"from pdpaudit.cli import main; main({command[1:]!r})")
    assert replayed.ret == 0
    assert "reproduced" in out(replayed)


def test_what_cannot_be_made_again_is_replayed_by_its_test(project: Project) -> None:
    it = project(
        """
        def test_other(pdp): pass

        def test_leaks():
            class Inner(Coin): pass
            assert_private(Inner(1.0, 2.0))
        """
    )
    first = shown(it.runpytest_inprocess("--pdp-samples", "2000", "--pdp-seed", "3"))
    command = shlex.split(first[-1])[1:]
    assert command == shlex.split("pytest test_it.py::test_leaks --pdp-samples 2000 --pdp-seed 3")
    assert shown(it.runpytest_inprocess(*command[1:])) == first


def test_an_exact_loss_says_so(project: Project) -> None:
    it = project("def test_leaks():\n    assert_private(ExactCoin(1.0, real=2.0))")
    lines = shown(it.runpytest_inprocess())
    assert lines[2].startswith("bound   loss 2, computed exactly")
    assert "probability 0.8808 against 0.1192" in lines[4]


def test_relation_and_domain_come_from_the_call(project: Project) -> None:
    it = project(
        """
        from pdpaudit.relations import Records

        ANSWERS = Records(["yes", "no"], sizes=(0, 3))

        def balance(rows, rng):
            return rows.count("yes") - rows.count("no") + rng.laplace()

        def test_one_more():
            result = assert_private(balance, epsilon=1, domain=ANSWERS, samples=500)
            assert result.claims[0].statement == "1-DP, add-remove"

        def test_one_instead():
            with pytest.raises(AssertionError, match="yes → no|no → yes"):
                assert_private(
                    balance, epsilon=1, domain=ANSWERS, relation="replace", samples=2000
                )
        """
    )
    it.runpytest_inprocess().assert_outcomes(passed=2)


def test_a_claim_comes_from_the_call_then_the_marker_then_the_mechanism(project: Project) -> None:
    it = project(
        """
        @pytest.mark.pdp_audit(epsilon=0.5)
        def test_marked(pdp):
            with pytest.raises(AssertionError, match="0.5-DP"):
                pdp.assert_private(ExactCoin(1.0))

        @pytest.mark.pdp_audit(epsilon=0.5)
        def test_called():
            assert_private(ExactCoin(1.0), epsilon=1.5)

        @pytest.mark.pdp_audit(epsilon=0.5, delta=0.3)
        def test_slack(pdp):
            assert pdp.assert_private(ExactCoin(1.0)).claims[0].promise.delta == 0.3

        @pytest.mark.pdp_audit(delta=0.3)
        def test_slack_alone(pdp):
            claimed = pdp.assert_private(ExactCoin(1.0)).claims[0].promise
            assert (claimed.epsilon, claimed.delta) == (1.0, 0.3)

        def test_own():
            assert_private(ExactCoin)

        def test_named():
            assert_private("coins:ExactCoin")
        """
    )
    it.runpytest_inprocess().assert_outcomes(passed=6)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("assert_private(object())", "object: not a mechanism, it has no run"),
        ("assert_private('no-such')", "unknown mechanism 'no-such'"),
        ("assert_private(Coin, epsilon=-1)", "a claim needs epsilon >= 0"),
        ("assert_private(Coin, samples=-5)", "must be at least 1"),
        ("assert_private(Coin, samples=0)", "samples = 0: must be at least 1"),
        ("assert_private(Coin, time_limit=0)", "time_limit = 0: give seconds above 0"),
        ("assert_private(Coin, seed=-1)", "seed = -1: a seed is a whole number >= 0"),
        ("assert_private(Coin, max_degree=3)", "`max_degree`: the mechanism or its domain brings"),
        ("assert_private(Coin, networks=[])", "`networks`: the mechanism or its domain brings"),
        ("assert_private(Coin, pairs=[(0, 1)])", "has no argument 'pairs'; it has d_in, domain"),
        ("assert_statistic(object())", "object is not a statistic"),
    ],
)
def test_a_wrong_request_is_refused_in_a_line(project: Project, body: str, found: str) -> None:
    result = project(f"def test_wrong():\n    {body}").runpytest_inprocess("--tb=short")
    result.assert_outcomes(failed=1)
    assert any(found in line for line in shown(result)), out(result)


def test_what_misbehaves_cannot_be_judged(project: Project) -> None:
    it = project(
        """
        class Forgetful(Coin):
            def sample(self, instance, size, rng):
                import secrets
                return [secrets.randbelow(9) for _ in range(size)]

        def test_it():
            assert_private(Forgetful(), samples=500)
        """
    )
    lines = shown(it.runpytest_inprocess())
    assert "cannot be judged" in lines[0]
    assert any("takes randomness from elsewhere" in line for line in lines)


def test_a_test_may_audit_as_often_as_it_likes(project: Project) -> None:
    it = project("def test_all():\n    for _ in range(60):\n        assert_private(ExactCoin())")
    it.runpytest_inprocess().assert_outcomes(passed=1)


def test_a_failing_test_ends_in_its_time(project: Project) -> None:
    """To say which line leaks takes more runs, which are made only while there is time."""
    it = project(
        """
        import time
        from pdpaudit.testing import assertion

        @pytest.mark.parametrize(("limit", "least", "most"), [(60, 30, 60), (None, 1e9, 1e999)])
        def test_it(limit, least, most, monkeypatch):
            ends = []

            def explained(result, *others, until, **more):
                ends.append(until - time.monotonic())
                return result

            monkeypatch.setattr(assertion, "explained_result", explained)
            assert_private(ExactCoin(), time_limit=limit)
            assert least < ends[0] <= most
        """
    )
    it.runpytest_inprocess().assert_outcomes(passed=2)


def test_a_blind_test_warns(project: Project) -> None:
    it = project("def test_blind(pdp):\n    pdp.assert_private(Coin(1.0), samples=20)")
    result = it.runpytest_inprocess()
    result.assert_outcomes(passed=1)
    assert "test_it.py:6: PoorPower" in out(result)
    assert "draw more samples" in out(result)
    strict = it.runpytest_inprocess("-W", "error::pdpaudit.testing.PoorPower")
    strict.assert_outcomes(failed=1)


STATISTIC = """
from pdpaudit.checks import Options
from pdpaudit.core.statistic import statistic

few = Options(max_vertices=3, examples=0, select=("targeted-sensitivity", "finite"))

@statistic(sensitivity=0, impact_cardinality=99)
def degree(graph, vertex, targets):
    return graph.degree(vertex)
"""


def test_a_statistic_that_is_not_what_it_declares(project: Project) -> None:
    it = project(STATISTIC + "\ndef test_sop(pdp):\n    pdp.assert_statistic(degree, options=few)")
    result = it.runpytest_inprocess()
    lines = shown(result)
    assert lines[0].endswith("test_it.py:degree is not what it declares")
    assert "declared 0, but vertex 0 moves by 1" in lines[1]
    assert lines[-1].split(maxsplit=1)[1] == (
        "pdpaudit check test_it.py:degree --select targeted-sensitivity --seed 0"
    )
    assert "2 checks of statistics: 1 violated, 1 certified" in out(result)


def test_the_time_for_checks_begins_with_the_first(project: Project) -> None:
    """A limit that ran from collection would be used up by the tests before."""
    it = project(
        STATISTIC
        + """
@parametrize_with_checks([degree])
def test_c(check):
    examination = check.check.examination
    examination.start -= 3600
    check.start(pytest.pdp_gate)
    assert examination.deadline - __import__("time").time() == pytest.approx(7, abs=2)
    assert examination.options.seed == 5

@pytest.fixture(autouse=True)
def remembered(pdp):
    pytest.pdp_gate = pdp
"""
    )
    result = it.runpytest_inprocess(
        "-k", "finite", "--pdp-time-limit", "7", "--pdp-seed", "5", "--pdp-audits", "11"
    )
    result.assert_outcomes(passed=1, deselected=10)
