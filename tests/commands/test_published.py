"""The published flip table, cut out of the article at test time, agrees with ours."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from small_studies import Bench

FOLDER = os.environ.get("TUI_BENCH_PUBLISHED")


@pytest.fixture
def flip_table(tmp_path: Path) -> Path:
    if not FOLDER:
        pytest.skip("TUI_BENCH_PUBLISHED does not name the folder with the articles")
    text = next(Path(FOLDER).glob("0_*.txt")).read_text("utf-8")
    begin = text.index("#!/usr/bin/env python3\n# bench/flip_table.py")
    end = re.compile(r"^    main\(sys\.argv\[1\].*$", re.MULTILINE).search(text, begin)
    assert end is not None
    script = tmp_path / "flip_table.py"
    script.write_text(text[begin : end.end()] + "\n", "utf-8")
    return script


@pytest.mark.published
@pytest.mark.parametrize(("flips", "code"), [(0, 0), (1, 1)])
def test_the_published_script_counts_as_flips_does(bench: Bench, flip_table: Path, flips: int, code: int) -> None:
    for number in range(3):
        bench.task(f"t{number}", verify="test -f fixed")
    bench.task("touchy", verify='test -f fixed && { [ "$SIDE" != b ] || [ ! -e only_a ]; }', prompt="touchy\n")
    once = "touch fixed; grep -q touchy \"$PROMPT_FILE\" && touch only_a" if flips else "touch fixed"
    bench.environments({"name": "a", "env.SIDE": "a"}, {"name": "b", "env.SIDE": "b"})
    bench.agents({"name": "fixer", "command": once + "; true"})
    bench.save(attempts=2)
    ran = bench.run("--headless")
    theirs = subprocess.run(
        [sys.executable, str(flip_table), str(ran.ledger), "a", "b"], capture_output=True, text=True, check=False
    )
    ours = bench.cli("flips", str(ran.ledger))
    assert theirs.stderr == ""
    summary = theirs.stdout.splitlines()[-1]
    assert summary == f"tasks=4 flips={flips} flip_rate={flips / 4:.3f} gate=0.10"
    assert summary in ours.out.splitlines()
    assert theirs.returncode == ours.code == code
