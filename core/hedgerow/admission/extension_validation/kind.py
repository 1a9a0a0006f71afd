"""What is declared of one kind: its resource, the fields that its rules read, and the rules.

Source: webhooks-and-tokens §9.2.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from hedgerow.admission.extension_validation import metadata
from hedgerow.admission.extension_validation.checks import ChangeCheck, Check, all_of, immutable, value_at
from hedgerow.admission.extension_validation.comparison import differences
from hedgerow.admission.extension_validation.shape import TEXT, JsonType, Shape, misfits, shape
from hedgerow.api.gardener import extension_resource
from hedgerow.machinery.failures import Problem, forbidden
from hedgerow.machinery.objects import Manifest, Resource, is_terminating

MOST_DIFFERENCES: Final = 10


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind, complete."""

    resource: Resource
    shape: Shape
    """Which types the fields must have that the checks read; metadata included."""
    checks: tuple[Check, ...]
    """What must hold for every object, metadata included, in the order in which errors are told."""
    change_checks: tuple[ChangeCheck, ...]
    """What must hold for every update beside that."""

    def misfits(self, manifest: Any) -> tuple[Problem, ...]:
        """The fields that have another type than the kind gives them; checks must not see such an object."""
        return misfits(manifest, self.shape)

    def errors(self, manifest: Manifest) -> Iterator[Problem]:
        """What the checks find wrong with an object that is to be created."""
        return all_of(self.checks, manifest)

    def update_errors(self, new: Manifest, old: Manifest) -> Iterator[Problem]:
        """What the checks find wrong with an update: first with the change, then with the new object."""
        for check in self.change_checks:
            yield from check(new, old)
        yield from self.errors(new)


def declared(
    resource: Resource, fields: Mapping[str, JsonType], checks: tuple[Check, ...], change_check: ChangeCheck
) -> Kind:
    """A kind whose rules for metadata are those of its scope.

    Args:
        resource: what the objects are.
        fields: types of the fields outside of metadata that the checks read.
        checks: what must hold for the spec.
        change_check: what must hold for a change of the spec.
    """
    of_metadata = metadata.NAMESPACED if resource.namespaced else metadata.CLUSTER_SCOPED
    return Kind(
        resource,
        shape({**metadata.FIELDS, **fields}),
        (*of_metadata, *checks),
        (*metadata.UPDATE, change_check),
    )


def extension(
    plural: str,
    kind: str,
    *checks: Check,
    fields: Mapping[str, JsonType],
    immutable_fields: tuple[ChangeCheck, ...] = (),
    namespaced: bool = True,
) -> Kind:
    """A kind of Gardener's extension API: its specs have a type, which never changes."""
    fields = {"spec.type": TEXT, **fields}
    return declared(
        extension_resource(plural, kind, namespaced=namespaced),
        fields,
        checks,
        spec_change(spec_shape(fields), immutable("spec.type"), *immutable_fields),
    )


def spec_shape(fields: Mapping[str, JsonType]) -> Shape:
    """The shape of the spec alone."""
    return shape(fields).inside["spec"]


def spec_change(expected: Shape, *checks: ChangeCheck) -> ChangeCheck:
    """The spec of an object in deletion stays as it is; that of another one passes the checks.

    Args:
        expected: the shape of the spec.
        checks: what must hold for a change of an object that is not in deletion.
    """

    def check(new: Manifest, old: Manifest) -> Iterator[Problem]:
        if not is_terminating(new):
            for single in checks:
                yield from single(new, old)
            return
        changes = islice(differences(value_at(new, "spec"), value_at(old, "spec"), expected), MOST_DIFFERENCES)
        if listed := ",".join(map(str, changes)):
            yield forbidden("spec", listed)

    return check
