"""The adversary."""
