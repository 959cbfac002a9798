"""Searches simulated many times, call by call, on given and on generated networks."""
