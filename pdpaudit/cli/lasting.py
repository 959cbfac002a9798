"""A store and workers for the length of a command, and what is said when it is interrupted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from pdpaudit.auditing.provenance import store_settings
from pdpaudit.cli.options import WorkerOptions
from pdpaudit.core.errors import InputError
from pdpaudit.sampling import Store, backend

__all__ = ["keeping", "workers_for"]

INTERRUPTED = 130


@contextmanager
def keeping(
    path: Path | None, mechanism: object, spec: Mapping[str, object], seed: int, **settings: Any
) -> Iterator[Store | None]:
    """Open the store asked for, if any; commit and close it whatever happens."""
    if path is None:
        yield None
        return
    store = Store(path, store_settings(mechanism, spec, seed, **settings))
    try:
        with store:
            yield store
    except KeyboardInterrupt:
        runs = store.found + store.added
        typer.echo(
            f"pdpaudit: interrupted before anything was confirmed; {runs:,} runs are kept in "
            f"{path}, the same command with --seed {seed} goes on from there",
            err=True,
        )
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def workers_for(options: WorkerOptions) -> Iterator[str]:
    """Draw in the workers asked for; yields what is to be said of them."""
    if options.backend == "dask" and options.jobs != -1:
        raise InputError("--backend dask uses all workers of its scheduler; leave --jobs out")
    with backend(options.backend, options.scheduler) as words:
        yield words
