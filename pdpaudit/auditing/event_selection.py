"""Discovery: which pair, and which event on it, promises the largest bound on fresh samples.

Adaptive throughout, so nothing it sees is evidence.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import special

from pdpaudit.auditing.attack_metrics import other_thresholds
from pdpaudit.auditing.candidate_pairs import (
    CandidatePair,
    Counts,
    MeasuredPair,
    by_score,
    empty_halves,
    local_moves,
    local_search,
)
from pdpaudit.auditing.claim_results import AuditContext
from pdpaudit.auditing.config import Config
from pdpaudit.auditing.discovery_runs import SEARCHING, TESTING_ENDS, DiscoveryRuns
from pdpaudit.auditing.other_claims import Weighed, weighed
from pdpaudit.auditing.power import ABOVE_UNPARTED, UNPARTED, Rehearsal, least_score, parts_surely
from pdpaudit.core.claim import DivergenceClaim
from pdpaudit.core.errors import OutOfTime
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.core.registry import loaded, the_one
from pdpaudit.inference.claim_bounds import ExpectedBound
from pdpaudit.outputs import Draws, Event, complexity
from pdpaudit.sampling import Misbehaviour, stream
from pdpaudit.sampling.backends import obstacle
from pdpaudit.sampling.surroundings import in_time

Floats = npt.NDArray[np.float64]

#: How much discovery may cost, as a multiple of the confirming samples a side: where each output
#: is a run of its own, and where many are drawn at once, for few pairs and for many.
SINGLE = 1.0
BATCHED_LEAST, BATCHED_MOST = 1.0, 10.0
PAIRS_PER_SAMPLE = 12

#: Fewest runs a side that tell pairs apart, and of a first look where there are too many: what
#: differs always is seen in a few runs.
FEWEST_RUNS, LEAST_RUNS = 200, 16

#: How sharply each round of halving cuts, where there are few pairs and where there are many, and
#: how many are left at the end.
FEW, CUT_FEW, CUT_MANY = 16, 2, 4
LEFT = 2

#: Pairs whose events are tested before one is chosen.
FINALISTS = 8

#: Rounds of local moves.
MOVES = 4

#: Share of discovery that goes into testing the finalists' events on samples of their own.
TESTING = 0.2

#: Standard errors given away when pairs are compared, when events are chosen among many, and among
#: the few that are tested, where what was learned has them taken off already.
COMPARING, CHOOSING, TESTED = 0.5, 0.75, 1.0

#: The same where no event promises more than is claimed, of one that may yet: a rare one that
#: breaks a claim with δ is known badly, and what shows less than is claimed decides nothing.
HOPEFUL = 0.25

#: Shares of the expected bound, and of what it exceeds the claim by, given up for a simple event.
SIMPLER, BEYOND = 0.05, 0.2

#: Added to counts whose ratio is taken.
SMOOTHED = 0.375

#: Decimals of a score that are compared.
DECIMALS = 9

#: Runs a side of the first look at every pair in stages, how they grow, how sharply each stage
#: cuts, and how many pairs have their events tested.
FIRST_LOOK, GROWTH, CUT_STAGED, LEFT_STAGED = 32, 4, 4, 4

#: Runs a side of the first look where the time limit would end it.
SHORT_LOOK = 8

#: Runs a side from which local moves are tried, and the most of them in one round.
MOVES_FROM, MOST_NEAR = 128, 24

#: Runs that one stage of looking may add, as a multiple of the confirming runs a side.
STAGE_RUNS = 8

#: Standard errors given away on either side where a pair is to stand out: of a hundred pairs with
#: some ten events each none does by chance, but for one audit in thirty.
CERTAIN = 4.0

#: What is ended where it takes longer than the time that is left.
CHOICE = "the choice of an event"

#: Seconds ahead that are worth a line, and of a run that is not too quick to be timed alone.
WORTH_SAYING_S, SLOW_S = 60.0, 0.2


class Choice(Protocol):
    """What the chooser of events returns: an event, what it promises, and others as good.

    ``known`` counts runs inside the event, on its side and on the other, and runs a side.
    """

    event: Event
    expected: float
    others: tuple[Choice, ...]
    known: Counts


class EventSelection:
    """The search for a pair and an event, and what it has spent."""

    def __init__(self, context: AuditContext, claims: Sequence[PrivacyClaim], alpha: float) -> None:
        self.context, self.claims, self.alpha = context, claims, alpha
        self.runs = DiscoveryRuns(context)
        self._measured, self._late = 0, False
        self._each_s = 0.0
        chooser, whose = the_one("events")
        self._choose: Any = loaded(chooser)
        if whose:
            context.remark(f"events are chosen by {whose}")
        if context.mechanism.representation:
            self._choose = partial(self._choose, exact=True)
        self._pool: Draws | None = None
        self._cuts: list[tuple[int, float]] = []
        self._standing: MeasuredPair | None = None
        self._set_aside: list[MeasuredPair] = []

    def check_repeatable(self, candidate: CandidatePair, pairs: int) -> None:
        """Refuse a mechanism that takes randomness from elsewhere: nothing could be replayed.

        Of that many pairs; where that takes long, the first run is timed and what is ahead said.
        """
        if not self.context.mechanism.repeatable:
            self.context.remark(
                "what is observed differs from run to run, whatever the seed: the command again "
                "gives other numbers, perhaps another verdict, and nothing can be replayed"
            )
            return
        config, instance = self.context.config, candidate.inputs()[0]
        first = self.runs.first(instance)
        slow = config.staged and self._say_ahead(first, pairs, SLOW_S)
        self._each_s = self.runs.check_repeatable(instance)
        if config.staged and not slow:
            self._say_ahead(self._each_s, pairs)

    def _say_ahead(self, each: float, pairs: int, least: float = 0.0) -> bool:
        """Say how long the plan takes, where a run takes at least so long and all of it is slow."""
        config = self.context.config
        runs, quick = (
            planned_runs(replace(config, budget=budget), pairs, len(self.claims))
            for budget in (config.budget, "quick")
        )
        if each < least or each * runs < WORTH_SAYING_S or self.context.mechanism.has("sample"):
            return False
        fewer = "" if config.budget == "quick" else f"; the quick plan {quick:,}"
        stuck = "" if config.jobs == 1 else obstacle(self.context.mechanism)
        alone = f"; on one core, as it cannot be sent to another process: {stuck}" if stuck else ""
        self.context.watcher.say(
            f"one run takes {each:.2g} s; the {config.budget} plan needs about {runs:,} of them "
            f"({each * runs / 60:,.0f} min){fewer}{alone}"
        )
        return True

    def expected_bound(self, claim: PrivacyClaim, caution: float) -> ExpectedBound:
        """Return what a claim will be confirmed with."""
        return ExpectedBound(
            self.context.config.size, self.alpha, claim.delta, caution, claim.family
        )

    def search(self, candidates: Sequence[CandidatePair]) -> list[MeasuredPair]:
        """Find the pairs with the best expected evidence by successive halving, then climb.

        Too many pairs for the runs that may be spent are cut short, all families alike.
        """
        if self.context.config.discovery is not None:
            return self._search_in_stages(candidates, self.context.config.discovery)
        runs = self._runs_a_side(len(candidates))
        candidates = self._wide_look(list(candidates)[: self.context.config.tries], runs)
        cut = CUT_FEW if len(candidates) <= FEW else CUT_MANY
        # The last round is for those that are left: their scores need most of the runs.
        rounds = 1 + max(0, math.ceil(math.log(len(candidates) / LEFT, cut)))
        climbs = candidates[0].near is not None
        spend = int(runs * (1 - TESTING) / (rounds + climbs))
        self.context.watcher.stage("looking for the pair that leaks most", 2 * runs)
        found, dropped = [MeasuredPair(candidate) for candidate in candidates], list[MeasuredPair]()
        for _ in range(rounds):
            pools = len({key for one in found for key in self.runs.keys(one.candidate)})
            each = max(FEWEST_RUNS, 2 * spend // pools)
            measured = by_score(one for one in found if self._measure(one, each))
            if not measured:
                break
            keep = max(LEFT, math.ceil(len(measured) / cut))
            self._stays_in(measured, keep, each)
            dropped = [*measured[keep:], *dropped]
            for one in measured[keep:]:
                one.halves = empty_halves()
            found = measured[:keep]
            self.runs.keep(one.candidate for one in found)
        self.runs.refuse_without_output(measured=any(one.score > -math.inf for one in found))
        found = self._climb(found, max(FEWEST_RUNS, spend // (MOVES * 12)))
        finalists, dropped = found[:FINALISTS], found[FINALISTS:] + dropped
        self._test_all(finalists, max(FEWEST_RUNS, int(runs * TESTING) // len(finalists)))
        return [one for one in by_score(finalists) + dropped + self._set_aside if one.runs]

    def _search_in_stages(
        self, candidates: Sequence[CandidatePair], runs: int
    ) -> list[MeasuredPair]:
        """Look at every pair in a few runs, then at fewer and fewer in more and more.

        It ends early with a pair that breaks every claim by far more than chance.
        """
        # The small networks first: a leak that stands out there needs no large one.
        tried = sorted(candidates[: self.context.config.tries], key=_vertices)
        found = [MeasuredPair(one) for one in tried]
        each, dropped, moved, last = min(FIRST_LOOK, runs), list[MeasuredPair](), False, False
        if time.monotonic() + self._each_s * 2 * each * len(found) > self.context.until(SEARCHING):
            each = min(SHORT_LOOK, each)  # all pairs in few runs, before some of them in many
        while not last:
            found = self._looked_at(found, each)
            last = each >= runs or self._late or not found
            if not moved and (last or each >= MOVES_FROM):
                found, moved = self._climbed(found, each), True
            if self._standing is not None:
                self._test_all([self._standing], each)
                others = [one for one in [*found, *dropped] if one is not self._standing]
                return [one for one in [self._standing, *others] if one.runs]
            kept, then = found[:1], runs
            if self._late or not found:
                # Where time is short there is enough for one of them alone.
                self._stays_in(found, 1, each)
            else:
                # Events are tested in as many runs again.
                least = LEFT_STAGED if last else _least_kept(len(found), each)
                kept, then = self._cut(found, each, least, 2 * runs if last else runs)
            left = {id(one) for one in kept}
            dropped = [*(one for one in found if id(one) not in left), *dropped]
            for one in dropped:
                one.halves = empty_halves()
            found, each = kept, then
            self.runs.keep(one.candidate for one in found)
        self.runs.refuse_without_output(measured=any(one.score > -math.inf for one in found))
        self._test_all(found, max(1, found[0].wanted // 2) if self._late else runs)
        return [one for one in by_score(found) + dropped if one.runs]

    def _looked_at(self, pairs: Sequence[MeasuredPair], each: int) -> list[MeasuredPair]:
        """Return the pairs in ``each`` runs a side, best first, up to one that stands out."""
        more = sum(each - one.wanted for one in pairs)
        words = f"looking at {_plural(len(pairs), 'pair')}, {each:,} runs a side"
        self.context.watcher.stage(words + _worst_words(pairs[0]), 2 * more)
        measured = list[MeasuredPair]()
        for one in pairs:
            if self._measure(one, each - one.wanted):
                measured.append(one)
                if self._stands_out(one):
                    self._standing = one
                    break
        return by_score(measured)

    def _climbed(self, found: list[MeasuredPair], each: int) -> list[MeasuredPair]:
        """Look at pairs near the best, and near the best of these, in as many runs.

        Near pairs that score differently: on the same streams, those that are alike do not. Of
        these the newest, which has moved on.
        """
        seen = {self.runs.keys(one.candidate) for one in found}
        for step in range(MOVES):
            best = {one.score: one for one in found if one.candidate.near is not None}
            starts = sorted(best.values(), key=lambda one: -one.score)[:LEFT_STAGED]
            near = {
                self.runs.keys(one): MeasuredPair(one)
                for number, start in enumerate(starts)
                for one in local_moves(start.candidate, self.context.config.seed, step, number)[
                    : MOST_NEAR // len(starts)
                ]
            }
            new = [one for keys, one in near.items() if keys not in seen]
            if self._late or self._standing is not None or not new:
                break
            seen.update(near)
            found = by_score([*found, *self._looked_at(new, each)])
        return found

    def _cut(
        self, measured: list[MeasuredPair], each: int, least: int, runs: int
    ) -> tuple[list[MeasuredPair], int]:
        """Return the pairs to look at again, at least ``least``, and in how many runs a side.

        All that score as a leak of the size asked for might, as far as one stage may go: where
        many pairs lose as much as is claimed, few runs do not tell which loses more.
        """
        config, kept, then = self.context.config, measured[:least], min(GROWTH * each, runs)
        claim = self.claims[0]
        wanted = config.wanted(claim.value)
        if wanted is None or wanted <= claim.value:
            self._stays_in(measured, least, each)
            return kept, then
        low, possible = -math.inf, measured
        if len(measured) > least:
            try:
                low = self._least_score(measured, wanted, each)
            except OutOfTime:
                self._out_of_time(measured[0])
                self._stays_in(measured, 1, each)
                return measured[:1], then
            possible = [one for one in measured if one.score >= low]
            if parts_surely(claim, wanted, each):
                possible = _unlike(possible)
        most, inputs, needed = STAGE_RUNS * config.size, set[Hashable](), list[int]()
        for one in possible:
            inputs.update(self.runs.keys(one.candidate))
            needed.append(len(inputs))
        # Fewer runs for all of them before fewer of them.
        then = min(then, each + max(most // max(needed, default=1), each))
        fitting = sum(count * (then - each) <= most for count in needed)
        if fitting < len(possible) and fitting < least:
            self._stays_in(measured, least, each)
            return kept, then
        cut = fitting < len(possible)
        self._cuts.append((each, max(possible[fitting - 1].score, ABOVE_UNPARTED) if cut else low))
        left = {id(one) for one in possible}
        others = [one for one in kept if id(one) not in left]
        return possible[:fitting] + others[: max(0, least - fitting)], then

    def _least_score(self, measured: list[MeasuredPair], wanted: float, each: int) -> float:
        """Return how low a leak of the size asked for may score in that many runs a side."""
        rng = stream(self.context.config.seed, "looking", "kept", each)
        pool = Draws()
        for half in measured[int(rng.integers(len(measured)))].halves[0]:
            pool.update(half)
        seed = int(rng.integers(2**63))
        look = partial(least_score, pool, self._scored, self.claims[0], wanted, each, seed)
        return in_time(self.context.until(SEARCHING), "the comparison of pairs", look)

    def _scored(self, left: tuple[Draws, Draws], right: tuple[Draws, Draws]) -> float:
        """Return what a pair of which these runs are known seems to promise."""
        expected_bound = self.expected_bound(self.claims[0], COMPARING)
        return float(self._choose(left, right, expected_bound, thorough=False).expected)

    def _stands_out(self, one: MeasuredPair) -> bool:
        """Whether a pair seems to break every claim by more than chance over all pairs explains."""
        if one.score <= self.claims[0].value:
            return False
        try:
            return all(
                self._quick_choice(one, claim, CERTAIN).expected > claim.value
                for claim in self.claims
            )
        except OutOfTime:
            self._out_of_time(one)
            return False

    def _climb(self, found: list[MeasuredPair], each: int) -> list[MeasuredPair]:
        """Follow local moves, with that number of runs a side for each."""

        def measure(candidate: CandidatePair) -> MeasuredPair:
            one = MeasuredPair(candidate)
            self._measure(one, each)
            return one

        return by_score(local_search(found[0], found, measure, MOVES, self.context.config.seed))

    def _test_all(self, finalists: Sequence[MeasuredPair], each: int) -> None:
        """Keep outputs to plant leaks in, and test the events of the pairs that are left."""
        # Pairs reached by local moves have fewer runs than one that stayed in from the beginning.
        longest = max(one.wanted for one in finalists)
        stayed = [one for one in finalists if one.wanted == longest]
        lucky = stayed[stream(self.context.config.seed, "power", "pair").integers(len(stayed))]
        self._pool = Draws()
        for half in lucky.halves[0]:
            self._pool.update(half)
        words = f"testing events on {_plural(len(finalists), 'pair')}"
        self.context.watcher.stage(words, 2 * each * len(finalists))
        for one in finalists:
            self._test(one, each)

    def _wide_look(self, candidates: list[CandidatePair], runs: int) -> list[CandidatePair]:
        """Return the pairs that the runs suffice for, after a short look at as many as possible."""
        if len(candidates) * FEWEST_RUNS * 2 <= runs:
            return candidates
        candidates = candidates[: max(1, runs // (2 * LEAST_RUNS))]
        each = max(LEAST_RUNS, runs // (2 * len(candidates)))
        measured = by_score(
            one for one in map(MeasuredPair, candidates) if self._measure(one, each)
        )
        keep = max(LEFT, runs // (2 * FEWEST_RUNS))
        self._stays_in(measured, keep, each)
        found, self._set_aside = measured[:keep], measured[keep:]
        for one in self._set_aside:
            one.halves = empty_halves()
        self.runs.keep(one.candidate for one in found)
        return [one.candidate for one in found] or candidates[:keep]

    def _stays_in(self, measured: Sequence[MeasuredPair], keep: int, each: int) -> None:
        """Note what it took to stay in: after the first round alone where the plan is fixed."""
        if self.context.config.staged or not self._cuts:
            needed = -math.inf
            if len(measured) > keep:
                # Of those that never part some may have been left out.
                needed = max(measured[keep - 1].score, ABOVE_UNPARTED)
            self._cuts.append((each, needed))

    def best_event(self, one: MeasuredPair, claim: PrivacyClaim) -> tuple[Event, float]:
        """Return the tested event of a pair that promises most for a claim, and what."""
        place, promised = self.pick(claim, one.events, one.tested)
        return one.events[place], promised

    def pick(
        self, claim: PrivacyClaim, events: list[Event], tested: list[Counts]
    ) -> tuple[int, float]:
        """Return the place of the event that promises most by its test, and what.

        Where none promises more than is claimed, one that may yet counts as promising that much.
        """
        place, promised = self._promising(claim, events, tested, TESTED)
        if promised <= claim.value:
            hopeful, possible = self._promising(claim, events, tested, HOPEFUL)
            if possible > claim.value:
                return hopeful, claim.value
        return place, promised

    def _promising(
        self, claim: PrivacyClaim, events: list[Event], tested: list[Counts], caution: float
    ) -> tuple[int, float]:
        """Return the place of the event that promises most by its test, and what.

        People must be able to check it, so it is the simplest that promises nearly as much, and
        nearly as much beyond the claim.
        """
        sides = [
            (x, y, runs) if event.side == "left" else (y, x, runs)
            for event, (x, y, runs) in zip(events, tested, strict=True)
        ]
        ours, theirs, runs = towards_each_other(*np.array(sides, dtype=np.float64).T)
        expected = self.expected_bound(claim, caution).expected(ours, runs, theirs, runs)
        expected = expected.round(DECIMALS)
        best = float(expected.max())
        least = best - SIMPLER * abs(best)
        if best > claim.value:
            least = max(least, best - BEYOND * (best - claim.value))
        near = [i for i in range(len(events)) if expected[i] >= least]
        place = min(near, key=lambda i: (complexity(events[i]), -expected[i], i))
        return place, float(expected[place])

    def rehearsal(self, claim: PrivacyClaim, found: Sequence[MeasuredPair]) -> Rehearsal | None:
        """Return what was done, to be done again on planted leaks."""
        tested = [one for one in found if one.tests]
        if self._pool is None or not tested:
            return None
        return Rehearsal(
            pool=self._pool,
            cuts=[cut for cut in self._cuts if cut[1] > -math.inf],
            runs=len(self._pool),
            tests=tested[0].tests,
            other=max(self.best_event(one, claim)[1] for one in tested),
            scored=self._scored,
            choose=self._choose,
            pick=partial(self.pick, claim),
            learned=learned_counts,
        )

    def _runs_a_side(self, candidates: int) -> int:
        size = self.context.config.size
        if not self.context.mechanism.has("sample"):
            return int(size * SINGLE)
        return int(size * min(max(candidates / PAIRS_PER_SAMPLE, BATCHED_LEAST), BATCHED_MOST))

    def _measure(self, one: MeasuredPair, size: int) -> bool:
        """Add about ``size`` runs a side and score anew; say whether that was possible."""
        config = self.context.config
        if time.monotonic() > self.context.until(SEARCHING) and self._measured:
            return self._out_of_time(one)
        self._measured += 1
        failed, halves = dict[str, str](), list[tuple[Draws, Draws]]()
        until = one.wanted + size
        for side, key, instance in zip(
            ("left", "right"), self.runs.keys(one.candidate), one.candidate.inputs(), strict=True
        ):
            try:
                halves.append(self.runs.halves(key, instance, until))
            except OutOfTime:
                return self._out_of_time(one)
            except Misbehaviour as error:
                failed[side] = str(error)
        if failed:
            self.context.blocked.append(_blocked(one.candidate, failed))
            one.score = -math.inf
            return False
        left, right = halves
        one.halves, one.wanted, one.runs = (left, right), until, 2 * until
        same = config.staged and all(map(Draws.same_as, left, right))
        try:
            quick = None if same else self._quick_choice(one, self.claims[0], COMPARING)
        except OutOfTime:
            return self._out_of_time(one)
        # Rounded, for last digits differ between processors.
        one.score = UNPARTED if quick is None else round(quick.expected, DECIMALS)
        one.scores.append(one.score)
        return True

    def _quick_choice(self, one: MeasuredPair, claim: PrivacyClaim, caution: float) -> Choice:
        """Return the event that a short look at a pair chooses; OutOfTime after the search."""
        expected_bound = self.expected_bound(claim, caution)
        choose: Callable[[], Choice] = partial(
            self._choose, *one.halves, expected_bound, thorough=False
        )
        return in_time(self.context.until(SEARCHING), CHOICE, choose)

    def _careful_choice(self, one: MeasuredPair, claim: PrivacyClaim) -> Choice:
        choose: Callable[[], Choice] = partial(
            self._choose, *one.halves, self.expected_bound(claim, CHOOSING)
        )
        return in_time(self.context.until(TESTING_ENDS), CHOICE, choose)

    def _out_of_time(self, one: MeasuredPair) -> bool:
        """Note that the search is over; say whether the pair has a score."""
        self._late = True
        self.context.remark("the time limit ended the search")
        return one.score > -math.inf

    def _test(self, one: MeasuredPair, size: int) -> None:
        """Choose events, and see on other samples which of them holds what it promises.

        Where much is tried, what looks best owes some of it to chance, and what is rare the most.
        """
        if one.score == -math.inf:
            return
        try:
            for kind in dict.fromkeys(claim.family for claim in self.claims):
                choice = self._careful_choice(one, kind)
                for found in (choice, *choice.others):
                    one.events.append(found.event)
                    one.learned.append(learned_counts(found))
            began = time.monotonic()
            inside = self.runs.counts(one.candidate, one.events, size)
        except (OutOfTime, Misbehaviour) as error:
            if isinstance(error, OutOfTime):
                self._out_of_time(one)
            else:
                self.context.blocked.append(f"{one.candidate.label}: {error}")
            one.score, one.events, one.halves = -math.inf, [], empty_halves()
            return
        one.seconds = (time.monotonic() - began) / size
        # What was learned from looking counts as well: it is what the runs say of the event.
        one.tested = [
            (x + left, y + right, size + runs)
            for x, y, (left, right, runs) in zip(*inside, one.learned, strict=True)
        ]
        one.tests = size
        one.runs += 2 * size
        one.thresholds = [self._ladder(one, claim) for claim in self.claims]
        one.weighed = [
            self._weighed(one, claim, ladder)
            for claim, ladder in zip(self.claims, one.thresholds, strict=True)
        ]
        one.halves = empty_halves()
        one.score = self.best_event(one, self.claims[0])[1]

    def _ladder(self, one: MeasuredPair, claim: PrivacyClaim) -> tuple[Event, ...]:
        event, _ = self.best_event(one, claim)
        ours, theirs = one.halves if event.side == "left" else one.halves[::-1]
        return other_thresholds(event, ours, theirs, ends=isinstance(claim, DivergenceClaim))

    def _weighed(
        self, one: MeasuredPair, claim: PrivacyClaim, ladder: tuple[Event, ...]
    ) -> Weighed | None:
        """Return how the thresholds of the best event are weighed, if that promises more."""
        if claim.approximate:
            return None
        event, promised = self.best_event(one, claim)
        sides = one.halves if event.side == "left" else one.halves[::-1]
        found = weighed(claim, (event, *ladder), *sides, (self.context.config.size, self.alpha))
        return found[0] if found is not None and found[1] > promised else None


def towards_each_other(ours: Floats, theirs: Floats, runs: Floats) -> tuple[Floats, Floats, Floats]:
    """Return counts of events, each log ratio moved towards those of all as far as chance explains.

    Of many rare events the luckiest would seem the best. How much the ratios differ beyond chance
    is estimated by moments, all alike (Hedges, 1983) and each weighed by what is known of it
    (DerSimonian and Laird, 1986): few that are known well and differ are not seen by the one, rare
    ones that differ not by the other. What is known of them together counts as runs.
    """
    inside, other = ours + SMOOTHED, theirs + SMOOTHED
    ratio = np.log(inside / other)
    error = np.maximum(1 / inside + 1 / other - 2 / (runs + 2 * SMOOTHED), 1e-12)
    if len(ratio) < 2:
        return ours, theirs, runs
    among_all = float(ratio.var(ddof=1) - error.mean())
    weights = 1 / error
    total, apart = float(weights.sum()), ratio - weights @ ratio / weights.sum()
    freedom, scale = len(ratio) - 1, total - float(weights @ weights) / total
    among_known = (float(weights @ apart**2) - freedom) / scale
    spread = max(among_all, among_known, 0.0)
    weights = 1 / (error + spread)
    common, doubt = float(weights @ ratio / weights.sum()), 1 / float(weights.sum())
    known = 1 / (1 / error + 1 / (spread + doubt))
    moved = known * (ratio / error + common / (spread + doubt))
    both, share = (inside + other) * error / known, special.expit(moved)
    runs = (runs + 2 * SMOOTHED) * error / known
    return np.minimum(both * share, runs), np.minimum(both * (1 - share), runs), runs


def learned_counts(choice: Choice) -> Counts:
    """Return what discovery knows of an event as counts of runs, left first."""
    ours, theirs, runs = choice.known
    return (ours, theirs, runs) if choice.event.side == "left" else (theirs, ours, runs)


def planned_runs(config: Config, pairs: int, claims: int) -> int:
    """Return about how many runs the staged plan takes where nothing is violated."""
    runs = config.discovery or config.size
    each, before, total = min(FIRST_LOOK, runs), 0, 0
    while True:
        total += 2 * (each - before) * pairs
        if each >= runs:
            break
        # Few runs leave nearly every pair in.
        if before:
            pairs = min(pairs, _least_kept(pairs, each))
        before, each = each, min(GROWTH * each, runs)
    # Events are tested on as many runs, and confirmed on about half as many more.
    return total + 2 * runs * min(pairs, LEFT_STAGED) + 3 * runs * claims


def _least_kept(pairs: int, each: int) -> int:
    """Return how many of some pairs are looked at again at least."""
    # Few runs do not tell a rare event of a large loss from a frequent one of a small.
    return max(FEW if each < FEWEST_RUNS else LEFT_STAGED, math.ceil(pairs / CUT_STAGED))


def _unlike(pairs: Iterable[MeasuredPair]) -> list[MeasuredPair]:
    """Return one of the pairs that scored the same at their last looks, on the same streams.

    What shows nothing is in no order, and may differ.
    """
    seen: dict[Hashable, MeasuredPair] = {}
    for one in pairs:
        seen.setdefault(tuple(one.scores[-2:]) if one.score > 0 else id(one), one)
    return list(seen.values())


def _blocked(candidate: CandidatePair, failed: dict[str, str]) -> str:
    """Say why a pair could not be measured, and whether that alone tells its sides apart."""
    failures = [f"{candidate.label}, on the {side}: {words}" for side, words in failed.items()]
    if len(failed) == 1:
        failures.append("not so on the other side, which anyone who waits can see")
    return "; ".join(failures)


def _vertices(candidate: CandidatePair) -> int:
    """Return the size of the network of a pair, 0 of what is no network."""
    return 0 if candidate.pair is None else candidate.pair.network.n


def _worst_words(one: MeasuredPair) -> str:
    """Say what the worst pair so far seems to lose, where that is anything."""
    return f"; worst so far about {one.score:.2g}, {one.candidate.label}" if one.score > 0 else ""


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
