"""The version of the distribution, read by the build and shown by the command."""

__version__ = "0.1.0"
