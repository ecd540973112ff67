"""Owns a slot that runs a command, until it is killed. Arguments: kind, folder, shell text, mark."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from conftest_environments import BWRAP, Bench

from tui_bench.environments.supervisor import SupervisorSlot
from tui_bench.environments.transports import Local, Sandbox


async def main() -> None:
    kind, folder, text, mark = sys.argv[1:]
    slot = SupervisorSlot()
    await slot.start()
    print(slot.pid, flush=True)
    transport = Local() if kind == "local" else Sandbox(BWRAP or "bwrap")
    await Bench(Path(folder), slot, transport, mark).run(text, wall_s=300)


asyncio.run(main())
