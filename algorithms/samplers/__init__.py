"""Many runs of a search at once: outputs equal in law, at the cost of the score levels."""
