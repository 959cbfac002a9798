"""The checks as somebody else's tests."""

from __future__ import annotations

import pytest

from pdpaudit.algorithms.statistics import CN
from pdpaudit.checks import Options, check_names
from pdpaudit.testing import parametrize_with_checks

pytest_plugins = ["pytester"]


@parametrize_with_checks([CN], options=Options(max_vertices=3, examples=50))
def test_each_check_is_a_test(check):
    check()


def test_failures_xfails_and_skips(pytester):
    pytester.makepyfile(
        """
        from pdpaudit.checks import Options
        from pdpaudit.testing import parametrize_with_checks
        from pdpaudit.core.statistic import statistic

        @statistic(sensitivity=0, impact_cardinality=99)
        def degree(graph, vertex, targets):
            return graph.degree(vertex)

        @statistic(sensitivity=1, impact_cardinality=99)
        def better(graph, vertex, targets):
            return graph.degree(vertex)

        @parametrize_with_checks([degree], options=Options(max_vertices=3, examples=0))
        def test_fails(check):
            check()

        @parametrize_with_checks(
            [degree, better],
            options=Options(max_vertices=3, examples=0, select=("targeted-sensitivity",)),
            expected_failures={
                "degree": {"targeted-sensitivity": "declared 0 to see it fail"},
                "better": {"targeted-sensitivity": "fixed long ago"},
            },
        )
        def test_expected(check):
            check()
        """
    )
    result = pytester.runpytest("-v", "-p", "no:cacheprovider", "-p", "no:randomly")
    # fast-path and own-network have nothing to check, nor has tightness where a bound is exceeded;
    # an xfail that passes is a failure.
    result.assert_outcomes(passed=len(check_names()) - 4, failed=2, skipped=3, xfailed=1)
    result.stdout.fnmatch_lines(
        [
            "*::test_fails[[]degree-targeted-sensitivity] FAILED*",
            "*declared 0, but vertex 0 moves by 1*",
            "*rewired: 1*",
        ]
    )
    result.stdout.no_fnmatch_line("*testing/assertion.py*")


def test_a_check_name_must_exist():
    with pytest.raises(ValueError, match="there is no check"):
        parametrize_with_checks([CN], options=Options(skip=("nonsense",)))
