"""The version of the distribution, read by the build and shown by the command."""

from typing import Final

__version__: Final = "0.1.0"
