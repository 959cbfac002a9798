"""The words of a report, for a reader whose field is another."""

from __future__ import annotations

from pdpaudit.results.results import Status

__all__ = ["AUDIT_TERMS", "CHECK_TERMS", "EXPOSURE_TERMS", "SIMULATION_TERMS", "STATUS_TERMS"]

STATUS_TERMS: dict[Status, str] = {
    "violated": "The promise is broken: what was measured exceeds what was declared, by exact "
    "computation or with the stated confidence. The case that shows it can be run again.",
    "error": "The computation failed; nothing can be said.",
    "inconclusive": "No violation was found, but this run could hardly have found one. It says "
    "nothing for the promise: run it with more samples.",
    "not_rejected": "No violation was found, and one of a stated size would probably have been. "
    "That is not a proof of privacy: another test might still find one.",
    "certified": "The promise holds in every case of a stated, finite range. Nothing is said of "
    "cases outside it.",
    "skipped": "Not looked at, for the reason given.",
}

AUDIT_TERMS: dict[str, str] = {
    "Targeted and protected": "The two kinds of people in a network. The search is meant to find "
    "targeted people; privacy is promised to the protected ones only.",
    "Neighbouring pair": "Two networks that differ only in the contacts of one protected person. "
    "Whoever sees the output should hardly be able to tell which of the two was searched.",
    "Rewired": "Given other contacts: what is done to the one protected person in whom the two "
    "networks of a pair differ.",
    "Privacy loss ε (epsilon)": "How much likelier any outcome may become when a protected person "
    "is rewired: at most e to the power ε times. ε = 0 means not at all, 0.1 about 1.1 times, "
    "1 about 2.7 times, 5 about 148 times. In nats.",
    "Slack δ (delta)": "A small probability by which the bound of ε may be exceeded. 0 means "
    "never.",
    "Protected differential privacy": "The promise itself: for every neighbouring pair and every "
    "event, the chance on one network is at most e^ε times that on the other, plus δ.",
    "Event": "Something an observer can see in the output, for instance that a certain person is "
    "found first. An audit looks for the event that tells the two networks apart best.",
    "Lower bound": "A loss that the mechanism is shown to have at least. If it exceeds the claim, "
    "the claim is false. With sampling it holds with the stated confidence; computed from exact "
    "probabilities it is certain.",
    "Observed": "The ratio seen in the draws. It is the best guess for this event, without "
    "allowance for chance; the interval around it is what chance leaves open. The loss of the "
    "mechanism may be larger than that of this event.",
    "Confidence": "The probability that no true claim is called violated, over everything the "
    "command looked at.",
    "Discovery and confirmation": "Pair and event are chosen on one set of draws and judged on "
    "fresh ones, so that a search among many cannot mistake luck for a violation.",
    "Would have been detected": "The power of the run: the smallest true loss that would have been "
    "called a violation with probability 0.95. Without it, finding nothing means nothing.",
    "Trade-off curve": "An observer who decides by the output which network it was errs in two "
    "ways: false alarms and misses. A claim forbids being good at both at once; the curve is its "
    "limit. A point below the curve breaks the claim.",
    "Composition": "What several rounds of search cost together. The plain sum is always a bound; "
    "for many rounds there are better ones.",
    "Witness": "Everything needed to run a finding again: mechanism, pair, event and seed.",
    "Seed": "The number all randomness came from. The same seed gives the same result.",
}

CHECK_TERMS: dict[str, str] = {
    "Statistic of proximity": "The score a search ranks people by: how near somebody is to the "
    "targeted people found so far, the set S.",
    "Targeted sensitivity Δ": "The most by which rewiring one protected person can change the "
    "score of a targeted one. Noise is scaled to it: declared too small, privacy breaks; too "
    "large, noise is wasted.",
    "Impact cardinality IC": "The most people whose score can change when one protected person is "
    "rewired.",
    "Degree bound d": "The most contacts anybody may have; a public promise about all networks.",
    "Declared, exact": "What the author of the statistic states, and what an exhaustive search "
    "over all small networks found.",
    "Attained": "A declaration is attained where some network reaches it. Where none of those "
    "looked at does, either a larger network would, or the declaration is loose and noise is "
    "wasted.",
}

SIMULATION_TERMS: dict[str, str] = {
    "Oracle call": "The investigation of one person: the search learns whether that person is "
    "targeted. Calls are what a search spends.",
    "Component": "Targeted people who are joined to each other through targeted people alone. From "
    "the first one it meets, a search finds the whole of it; only to meet the next one does it "
    "need noise, and pay for it.",
    "Risk multiplier e^ε": "How many times likelier or less likely any outcome may become for one "
    "protected person's contacts, over all rounds so far. 1 means not at all.",
    "Claimed, true": "What the published claim promises, against what is known of the mechanism: "
    "by exact computation or by proof.",
    "Standard deviation": "How far the runs lie from their mean. It tells of single runs, not of "
    "how well the mean is known.",
}

EXPOSURE_TERMS: dict[str, str] = {
    "Exposure": "What the next round of the search can tell of one protected person: its exact "
    "privacy loss when this person loses all contacts, or gets the worst others that were tried.",
}
