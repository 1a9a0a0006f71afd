"""What OperatingSystemConfigs must fulfil.

Source: webhooks-and-tokens §9.6.
"""

from collections.abc import Iterator
from typing import Final

from hedgerow.admission.extension_validation.checks import (
    Check,
    all_of,
    below,
    each,
    immutable,
    one_of,
    required,
    required_one_of,
    value_at,
)
from hedgerow.admission.extension_validation.kind import Kind, extension
from hedgerow.admission.extension_validation.shape import TEXT
from hedgerow.machinery.failures import Problem, duplicate, invalid_unshown
from hedgerow.machinery.failures import required as missing
from hedgerow.machinery.objects import Manifest

PURPOSES: Final = ("provision", "reconcile")
ENCODINGS: Final = ("", "b64", "gzip", "gzip+b64")

OF_SECRET_REF: Final = (required("content.secretRef.name"), required("content.secretRef.dataKey"))
OF_INLINE: Final = (one_of("content.inline.encoding", ENCODINGS), required("content.inline.data"))


def content(file: Manifest, where: str) -> Iterator[Problem]:
    """The content of a file comes from exactly one of two sources, which is complete."""
    from_secret = value_at(file, "content.secretRef") is not None
    from_inline = value_at(file, "content.inline") is not None
    path, detail = below(where, "content"), "either 'secretRef' or 'inline' must be provided"
    if from_secret and from_inline:
        yield invalid_unshown(path, f"{detail}, not both at the same time")
    elif not from_secret and not from_inline:
        yield missing(path, detail)
    else:
        yield from all_of(OF_SECRET_REF if from_secret else OF_INLINE, file, where)


OF_FILE: Final[tuple[Check, ...]] = (required("path"), content)


def files(config: Manifest, _where: str) -> Iterator[Problem]:
    """Every file is complete, and none is written twice."""
    paths: set[str] = set()
    for index, item in enumerate(value_at(config, "spec.files") or ()):
        file, where = item or {}, f"spec.files[{index}]"
        path = value_at(file, "path")
        if path in paths:
            yield duplicate(below(where, "path"), path)
        yield from all_of(OF_FILE, file, where)
        if path:
            paths.add(path)


OPERATING_SYSTEM_CONFIG: Final[Kind] = extension(
    "operatingsystemconfigs",
    "OperatingSystemConfig",
    required("spec.type"),
    required_one_of("spec.purpose", PURPOSES),
    each("spec.units", required("name"), each("dropIns", required("name"), required("content"))),
    files,
    fields={
        "spec.purpose": TEXT,
        "spec.units[].name": TEXT,
        "spec.units[].dropIns[].name": TEXT,
        "spec.units[].dropIns[].content": TEXT,
        "spec.files[].path": TEXT,
        "spec.files[].content.secretRef.name": TEXT,
        "spec.files[].content.secretRef.dataKey": TEXT,
        "spec.files[].content.inline.encoding": TEXT,
        "spec.files[].content.inline.data": TEXT,
    },
    immutable_fields=(immutable("spec.purpose"),),
)
