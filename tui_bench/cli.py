"""The command line: finds the command, runs it, and turns every known error into one line and an exit code.

Nothing heavy is imported before the command is known: `--help` and `--version` cost little more than Python itself.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from tui_bench import __version__
from tui_bench.errors import StudyError, TuiBenchError, UsageError
from tui_bench.streams import settle

COMMANDS = {
    "run": "run a study: the screen in a terminal, plain lines elsewhere",
    "resume": "go on with an interrupted run, or run its flips again",
    "watch": "open a live or finished ledger on the screen",
    "ctl": "ask a running run: status, pause, resume, jobs, stop, cancel, rerun, rerun_flips",
    "flips": "which verdicts change with the environment, a block per agent",
    "gate": "every gate in one line each; the exit code is the verdict",
    "fsck": "integrity of a ledger and of the files it names",
    "env": "facts and capabilities of an environment, or what two differ in",
    "info": "versions, and where everything lies",
}
EPILOG = """\
examples:
  tui-bench run sample_config                 run the sample study and watch it
  tui-bench flips runs/20261129T210400Z-3f2a.jsonl
  tui-bench gate runs/20261129T210400Z-3f2a.jsonl && echo "the box is quiet"

exit codes: 0 gate open or command fine; 1 gate shut; 2 usage or configuration; 3 no evidence;
4 stopped; 5 flaky test; 130 interrupted
"""
INTERRUPTED = 130


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line with the nearest known option."""

    def error(self, message: str) -> NoReturn:
        unknown = message.removeprefix("unrecognized arguments: ").split()
        if message.startswith("unrecognized arguments: ") and unknown[0].startswith("-"):
            known = [option for action in self._actions for option in action.option_strings]
            near = difflib.get_close_matches(unknown[0].split("=")[0], known, n=1)
            message = f"unknown option {unknown[0]}" + (f"; nearest known: {near[0]}" if near else "")
        sys.stderr.write(f"tui-bench: {message} (see `{self.prog} --help`)\n")
        raise SystemExit(2)


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Entry point of `tui-bench` and `python -m tui_bench`."""
    words = list(sys.argv[1:] if argv is None else argv)
    settle()
    try:
        _check_folder()
        code = _dispatch(words)
        sys.stdout.flush()
    except TuiBenchError as error:
        code = _report(error)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except OSError as error:
        # What the system refuses outside the places that know more: a full disk, a folder without permission.
        code = _report(TuiBenchError(f"{error.filename or 'this machine'}: {error.strerror or error}"))
    raise SystemExit(code)


def _report(error: TuiBenchError) -> int:
    from tui_bench.cleaning import clean

    lines = [str(problem) for problem in error.problems] if isinstance(error, StudyError) else [str(error)]
    for line in lines:
        print(f"tui-bench: {clean(line)}", file=sys.stderr)
    return error.exit_code


def _check_folder() -> None:
    """Refuse to work in a folder that was removed: nothing relative means anything there."""
    try:
        Path.cwd()
    except FileNotFoundError:
        raise UsageError("the current folder does not exist any more; `cd` to one that does") from None


def _dispatch(words: list[str]) -> int:
    if not words and sys.stdin.isatty() and sys.stdout.isatty():
        from tui_bench.commands.home import open_home

        return open_home()
    if not words or words[0] in ("-h", "--help", "help"):
        print(_overview(), end="")
        return 0
    if words[0] in ("-V", "--version"):
        print(f"tui-bench {__version__}")
        return 0
    name = words[0]
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f"; nearest known: {near[0]}" if near else ""
        print(f"tui-bench: unknown command {name!r}{hint} (see `tui-bench --help`)", file=sys.stderr)
        return 2
    module = importlib.import_module(f"tui_bench.commands.{name}")
    parser = Parser(
        prog=f"tui-bench {name}",
        description=module.__doc__,
        epilog=module.EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    code: int = module.execute(parser.parse_args(words[1:]))
    return code


def _overview() -> str:
    lines = [f"  {name:<8} {text}" for name, text in COMMANDS.items()]
    return "\n".join(
        [
            "usage: tui-bench COMMAND [...]",
            "       tui-bench                 in a terminal: recent runs; open one, start one",
            "",
            "Compare coding agents with numbers that hold.",
            "",
            "commands:",
            *lines,
            "",
            "`tui-bench COMMAND --help` explains one command.",
            "",
            EPILOG,
        ]
    )
