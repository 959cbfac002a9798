"""The geometry of the report's pictures: pure functions from results to places on a page."""
