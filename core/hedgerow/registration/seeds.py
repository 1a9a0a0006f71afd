"""Seeds as caches keep them.

Source: controller-registration §2.7, §4.1.
"""

from typing import Final

from hedgerow.machinery.reading import keeping

transform_seed: Final = keeping(
    *(
        f"metadata.{name}"
        for name in ("name", "uid", "resourceVersion", "generation", "deletionTimestamp", "finalizers")
    ),
    "metadata.labels",
    "metadata.annotations",
    "spec",
)
"""What decides about the installations of a Seed: all but its status."""
