"""The corpus of the fuzz targets in git: one archive for each target, the same bytes for the same inputs."""

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path

# All seven together stay below 400 kB.
LARGEST = 55_000


def unpack(archive: Path, folder: Path) -> None:
    """Put the inputs of an archive into a new folder, which is empty where there is no archive."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if not archive.exists():
        return
    with tarfile.open(archive) as packed:
        for member in packed:
            content = packed.extractfile(member)
            if content is None or Path(member.name).name != member.name:
                raise ValueError(f"{archive}: {member.name} is no input")
            (folder / member.name).write_bytes(content.read())


def pack(inputs: list[bytes], archive: Path) -> int:
    """Make an archive of the inputs, the smallest first, as far as they fit; how many did."""
    inputs = sorted(inputs, key=lambda one: (len(one), one))
    fit, past = 0, len(inputs) + 1
    while past - fit > 1:
        middle = (fit + past) // 2
        if len(_packed(inputs[:middle])) <= LARGEST:
            fit = middle
        else:
            past = middle
    archive.parent.mkdir(parents=True, exist_ok=True)
    archive.write_bytes(_packed(inputs[:fit]))
    return fit


def _packed(inputs: list[bytes]) -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:xz", format=tarfile.USTAR_FORMAT) as packed:
        for number, content in enumerate(inputs):
            # No time, no owner: nothing but the inputs.
            member = tarfile.TarInfo(f"{number:05}")
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    return whole.getvalue()
