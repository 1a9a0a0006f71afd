"""How producers collect objects and write each of them to a file of its own, as the data of a Secret.

How an object is written is told to the registry. It has to write equal objects as equal bytes, with sorted keys: the
bytes make the name of the Secret, and another name is another roll-out.

Source: managed-resources §17.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from returns.result import Failure, Result, Success

from hedgerow.machinery.objects import Manifest, key_of

Encode: TypeAlias = Callable[[Manifest], bytes]


def file_name(manifest: Manifest) -> str:
    """The file that an object is written to; the namespace in it is empty for an object without one.

    Example:
        `rolebinding__bar__system_reader.yaml` for the RoleBinding `system:reader` in `bar`
    """
    key = key_of(manifest)
    return f"{str(manifest.get('kind') or '').lower()}__{key.namespace}__{key.name.replace(':', '_')}.yaml"


class _File(NamedTuple):
    """What is written to a file, and the object that it came from; none for what was added as it is."""

    content: bytes
    manifest: Manifest | None


@dataclass(frozen=True, slots=True)
class Registry:
    """Objects and what has been written already, by file; adding makes another registry."""

    encode: Encode
    _files: Mapping[str, _File] = field(default_factory=dict)

    def add(self, *objects: Manifest | None) -> Result["Registry", str]:
        """The registry with further objects, or why they cannot be added: two share a file. None is skipped."""
        files = dict(self._files)
        for manifest in objects:
            if manifest is None:
                continue
            file = file_name(manifest)
            if file in files:
                return Failure(f'duplicate filename in registry: "{file}"')
            files[file] = _File(self.encode(manifest), manifest)
        return Success(Registry(self.encode, files))

    def add_serialized(self, file: str, content: bytes) -> "Registry":
        """The registry with a file as it is, in place of one by that name."""
        return Registry(self.encode, {**self._files, file: _File(content, None)})

    def objects(self) -> dict[str, Manifest]:
        """The objects by file; none for files that were added as they are."""
        return {name: file.manifest for name, file in self._files.items() if file.manifest is not None}

    def serialized(self) -> dict[str, bytes]:
        """The files, as the data of a Secret."""
        return {name: file.content for name, file in self._files.items()}

    def __str__(self) -> str:
        """Every file with its content, for people, by name."""
        files = sorted(self.serialized().items())
        return "\n\n".join(f"* {name}:\n{content.decode(errors='replace')}" for name, content in files)
