"""Charts, rendered by the real `helm template`: a few at a time, within limits, each of them once.

Source: controller-registration §8.7.
"""

from typing import NamedTuple


class HelmCommand(NamedTuple):
    """How Helm is run."""

    binary: str = "helm"
    """The command, or its path."""
    timeout: float = 60.0
    """Seconds for one chart."""
