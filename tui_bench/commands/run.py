"""Run a study: tasks x environments x agents x attempts, every attempt in a fresh workspace, one ledger row each.

STUDY is a folder with bench.yaml, the file itself, or a bare folder with envs.tsv and tasks/. In a terminal the runner
starts in the background and the screen opens on its ledger; leaving the screen never loses a run. Without a terminal,
or with --headless, progress goes to stderr and the banner to stdout, and the exit code is the gate's.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tui_bench.commands import headless, screen
from tui_bench.commands.places import whole_number
from tui_bench.engine.plan import Selection
from tui_bench.engine.selection import load_selected
from tui_bench.errors import UsageError
from tui_bench.ledger.runs import Layout, default_ledger, new_run_id
from tui_bench.recent import remember

EXAMPLES = """\
examples:
  tui-bench run sample_config
  tui-bench run sample_config --headless --out /tmp/box.jsonl
  tui-bench run sample_config --task 't0*' --agent strong --attempts 1
  tui-bench run bench/ --agent-cmd 'my-agent --prompt-file "$PROMPT_FILE"'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", metavar="STUDY", help="bench.yaml, its folder, or a bare folder")
    parser.add_argument("--attempts", type=whole_number, metavar="N", help="attempts in each cell")
    parser.add_argument("--jobs", type=whole_number, metavar="N", help="attempts at once")
    parser.add_argument("--task", action="append", default=[], metavar="GLOB", help="only these tasks (repeatable)")
    parser.add_argument("--env", action="append", default=[], metavar="NAME", help="only this environment (repeatable)")
    parser.add_argument("--agent", action="append", default=[], metavar="NAME", help="only this agent (repeatable)")
    parser.add_argument("--agent-cmd", metavar="CMD", help="agent of a bare folder: a shell command")
    parser.add_argument("--subject", choices=("clean", "reference", "agent"), help="what is verified")
    parser.add_argument("--out", metavar="LEDGER", help="ledger to write (new); files go to the folder of that name")
    parser.add_argument("--headless", action="store_true", help="no screen; ends with banner, summary and ledger head")
    parser.add_argument("--plain", action="store_true", help="no screen; one line an event on stdout")
    parser.add_argument("--detach", action="store_true", help="start the runner in the background and return")
    parser.add_argument("--ascii", action="store_true", help="ASCII glyphs on the screen")
    parser.add_argument("--strict", action="store_true", help="an undecided or confounded gate is exit 3")


def execute(args: argparse.Namespace) -> int:
    selection = selection_of(args)
    study = load_selected(selection, jobs=args.jobs)
    run_id = new_run_id(os.environ)
    layout = _fresh_layout(args.out, run_id)
    in_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if args.detach or (in_terminal and not args.headless and not args.plain):
        started = screen.start_runner(run_words(args, layout), layout, run_id)
        remember(layout.ledger, Path(args.study))
        if args.detach:
            print(f"started: runner {started.pid}; `tui-bench watch {layout.ledger}` opens it")
            return 0
        return screen.watch_run(layout, started, ascii_glyphs=args.ascii, strict=args.strict)
    return headless.run_new(study, selection, layout, run_id, plain=args.plain, strict=args.strict)


def _fresh_layout(out: str | None, run_id: str) -> Layout:
    """Where the run will lie; nothing of another run or of the user's may be there. Raises UsageError."""
    if out == "":
        raise UsageError("--out is empty: name a ledger, or leave the option away for runs/<run id>.jsonl")
    layout = Layout(Path(out).absolute() if out is not None else default_ledger(run_id, Path.cwd()))
    if layout.ledger.is_dir() or (layout.ledger.exists() and layout.ledger.stat().st_size > 0):
        raise UsageError(f"{layout.ledger}: exists; `tui-bench resume` goes on with it, or name another --out")
    if layout.files.exists() and not layout.files.is_dir():
        raise UsageError(f"{layout.files}: a file stands where this run's files are to go; name another --out")
    # A runner started by the screen finds its own log there.
    found = [path.name for path in layout.files.iterdir()] if layout.files.is_dir() else []
    if set(found) - {layout.runner_log.name}:
        raise UsageError(f"{layout.files}: is not empty, and this run's files are to go there; name another --out")
    return layout


def selection_of(args: argparse.Namespace) -> Selection:
    return Selection(
        study=str(Path(args.study).absolute()),
        agent_cmd=args.agent_cmd,
        tasks=tuple(args.task),
        environments=tuple(args.env),
        agents=tuple(args.agent),
        attempts=args.attempts,
        subject=args.subject,
    )


def run_words(args: argparse.Namespace, layout: Layout) -> list[str]:
    """The same command for the runner's own process, with the ledger fixed."""
    words = ["run", args.study, "--headless", "--out", str(layout.ledger)]
    for option, value in (("--attempts", args.attempts), ("--jobs", args.jobs), ("--subject", args.subject)):
        words += [option, str(value)] if value is not None else []
    words += [f"--agent-cmd={args.agent_cmd}"] if args.agent_cmd is not None else []
    for option, values in (("--task", args.task), ("--env", args.env), ("--agent", args.agent)):
        words += [f"{option}={value}" for value in values]
    return words
