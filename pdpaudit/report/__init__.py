"""What a person reads: pure functions of results."""
