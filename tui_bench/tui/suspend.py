"""The terminal lent to another program: an editor, a pager, a shell. The only place of the screen that starts one.

The app goes on meanwhile, so a run is still followed. An interrupt typed into the other program is its own affair.
Whatever the program did to the terminal, the screen gets it back.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
import sys
import termios
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from tui_bench.errors import UsageError

QUIET = (signal.SIGINT, signal.SIGQUIT)
END_S = 2.0


def program(variables: Sequence[str], fallbacks: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """Words of the program that the first of these variables names, else the first fallback there is.

    Raises UsageError where there is none.
    """
    for name in variables:
        with contextlib.suppress(ValueError):
            words = shlex.split(environ.get(name, ""))
            if words and shutil.which(words[0], path=environ.get("PATH")):
                return words
    for name in fallbacks:
        if found := shutil.which(name, path=environ.get("PATH")):
            return [found]
    raise UsageError(f"no {' or '.join(fallbacks)} here: set {variables[0]}")


async def lend(
    app: App[Any],
    words: Sequence[str],
    again: Callable[[], None],
    *,
    folder: Path | None = None,
    environ: Mapping[str, str] | None = None,
    said: Sequence[str] = (),
    text: AsyncIterator[bytes] | None = None,
) -> int:
    """Run a program on the terminal until it ends; its exit code. `said` is printed before it, `text` is its input.

    `again` sets the app's own signal handlers afterwards. Raises UsageError where the terminal cannot be lent or the
    program cannot be started.
    """
    ended: int | Exception = 0
    try:
        # While the terminal is lent nobody takes the app's output away: a screen that drew on would fill the queue in
        # between and then wait in it for ever. In a batch nothing is drawn.
        with app.batch_update(), app.suspend():
            # No error may leave this block: the screen would not get its terminal back. Only the end of the app may,
            # since the screen has no use for it then.
            try:
                with _signals_left_alone(again), _terminal_kept():
                    for line in said:
                        print(line, flush=True)  # noqa: T201
                    ended = await _run(words, folder, environ, text)
            except (UsageError, OSError) as error:
                ended = error
    except SuspendNotSupported:
        raise UsageError("this terminal cannot be lent to another program") from None
    if isinstance(ended, Exception):
        raise ended
    return ended


async def _run(
    words: Sequence[str], folder: Path | None, environ: Mapping[str, str] | None, text: AsyncIterator[bytes] | None
) -> int:
    try:
        process = await asyncio.create_subprocess_exec(
            *words, cwd=folder, env=environ, stdin=asyncio.subprocess.PIPE if text is not None else None
        )
    except OSError as error:
        raise UsageError(f"{words[0]}: cannot be started: {error.strerror}") from None
    feeding = asyncio.create_task(_feed(process.stdin, text)) if process.stdin is not None and text else None
    try:
        return await process.wait()
    finally:
        if feeding is not None:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)
        if process.returncode is None:
            # What a closed terminal sends: interactive shells do not end at SIGTERM.
            process.send_signal(signal.SIGHUP)
            process.send_signal(signal.SIGCONT)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), END_S)


async def _feed(pipe: asyncio.StreamWriter, text: AsyncIterator[bytes]) -> None:
    """Give the program its input as fast as it takes it; one that has seen enough ends it."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        async for piece in text:
            pipe.write(piece)
            await pipe.drain()
    pipe.close()


@contextlib.contextmanager
def _signals_left_alone(again: Callable[[], None]) -> Iterator[None]:
    """A key typed into the other program reaches this process too; here it means nothing. `again` undoes this.

    The loop's handlers are used, since it is told of signals whatever handler stands beside it; ignoring them would
    be inherited by the program.
    """
    loop = asyncio.get_running_loop()
    for number in QUIET:
        loop.add_signal_handler(number, _nothing)
    try:
        yield
    finally:
        for number in QUIET:
            loop.remove_signal_handler(number)
        again()


def _nothing() -> None:
    """What an interrupt does to the screen while another program has the terminal."""


@contextlib.contextmanager
def _terminal_kept() -> Iterator[None]:
    """Settings and foreground of the terminal are given back, also by a shell that took them and died."""
    try:
        terminal = sys.__stdin__.fileno() if sys.__stdin__ is not None else -1
        settings = termios.tcgetattr(terminal)
    except (OSError, ValueError, termios.error):
        yield
        return
    try:
        yield
    finally:
        before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        with contextlib.suppress(OSError, termios.error):
            os.tcsetpgrp(terminal, os.getpgrp())
            termios.tcsetattr(terminal, termios.TCSADRAIN, settings)
        signal.signal(signal.SIGTTOU, before)
