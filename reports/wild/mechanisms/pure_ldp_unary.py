"""Unary encoding of one value out of four, as the client of pure-ldp sends it."""

from itertools import permutations

from pure_ldp.frequency_oracles.unary_encoding import UEClient


class Unary:
    claim = 1.0

    def __init__(self, optimised=False, epsilon=1.0):
        self.claim = epsilon
        self.client = UEClient(epsilon=epsilon, d=4, use_oue=optimised)

    def pairs(self):
        return list(permutations(range(1, 5), 2))  # every two values of the domain

    def run(self, x, rng):
        return tuple(int(bit) for bit in self.client.privatise(x))
