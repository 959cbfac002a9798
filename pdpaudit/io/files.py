"""Opening what a person names: a file, never a device or a pipe that nobody writes to."""

from __future__ import annotations

import os
import select
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from pdpaudit.core.errors import InputError

#: Seconds that the writer of a pipe is waited for.
PATIENCE_S = 0.5


def open_file(path: Path) -> BinaryIO:
    """Open a file, or a pipe with a writer such as ``<(zcat FILE)``, to read its bytes."""
    # Opening a pipe waits for a writer, which may never come.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(21, "Is a directory")
        if stat.S_ISFIFO(mode):
            _await_writer(path, handle)
        elif not stat.S_ISREG(mode):
            raise InputError(f"{path}: is a device, which never ends; give a file")
        with suppress(AttributeError):  # Windows has no such mode
            os.set_blocking(handle, True)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def _await_writer(path: Path, handle: int) -> None:
    """Refuse a pipe that has no writer, or one that is silent."""
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    if not any(event & select.POLLIN for _, event in waiting.poll(1000 * PATIENCE_S)):
        raise InputError(f"{path}: is a pipe into which nothing is written; give a file")
