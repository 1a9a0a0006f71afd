"""How programs of the machine are run: what they say is shown only if they fail."""

import subprocess
from collections.abc import Mapping
from pathlib import Path


class ImageError(Exception):
    """The image cannot be built here; the message says why and what would help."""


class UnavailableError(ImageError):
    """What is pinned cannot be had from here."""


def output_of(
    *command: str | Path, doing: str, folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> str:
    """What a program prints; a failure ends the build with all that it said."""
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ImageError(f"{doing}: {error}") from error
    if done.returncode:
        raise ImageError(f"{doing} failed:\n{done.stdout}{done.stderr}")
    return done.stdout
