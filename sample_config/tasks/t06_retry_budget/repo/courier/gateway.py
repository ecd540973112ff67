"""The gateway: a spool folder that is locked while another program empties it."""

import shutil
from pathlib import Path

from courier.batch import TryLater


def spooler(folder):
    """A `send` that copies a file into the folder, unless the folder holds a file named `lock`."""
    folder = Path(folder)

    def send(parcel):
        if (folder / "lock").exists():
            raise TryLater(f"{folder} is locked")
        shutil.copy(parcel, folder)

    return send
