"""Exact output laws of the searches: scores in, probabilities or enclosures out."""
