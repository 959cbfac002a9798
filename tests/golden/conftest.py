"""These files are a tool, and no tests."""

collect_ignore_glob = ["*.py"]
