"""Definitions of custom resources, and the kinds that each of them makes a server serve.

Schemas are stored and not looked at: a custom resource may have any fields. Versions differ in nothing but their name.

Source: Kubernetes API, CustomResourceDefinition of apiextensions.k8s.io/v1.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from hedgerow.api import kubernetes
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.memory.field_errors import FieldError, invalid, required
from hedgerow_adapters.memory.kinds.kind import Fields, Kind, fill, no_defaults
from hedgerow_adapters.memory.shapes import (
    anything,
    flag,
    list_of,
    open_structure,
    optional_text,
    structure,
    text,
    texts,
)

_NAMES: Final = structure(
    {
        **dict.fromkeys(("plural", "singular", "kind", "listKind"), text),
        **dict.fromkeys(("shortNames", "categories"), texts),
    }
)
_VERSION: Final = open_structure(
    {"name": text, **dict.fromkeys(("served", "storage"), flag), "subresources": open_structure({})}
)
_SPEC: Final = open_structure(
    {"group": optional_text, "names": _NAMES, "scope": optional_text, "versions": list_of(_VERSION)}
)


def complete(definition: Fields, old: Manifest | None) -> None:
    """Names follow from the kind, and nothing is converted; a definition takes effect at once."""
    kind = definition.get("spec", {}).get("names", {}).get("kind", "")
    names = {"singular": kind.lower(), "listKind": f"{kind}List"}
    fill(definition, {"spec": {"conversion": {"strategy": "None"}, "names": names}})
    spec = definition["spec"]
    if old is None:
        conditions = [{"type": name, "status": "True"} for name in ("NamesAccepted", "Established")]
        stored = [version.get("name", "") for version in _versions(spec) if version.get("storage")]
        definition["status"] = {"conditions": conditions, "acceptedNames": spec["names"], "storedVersions": stored}


def errors(definition: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
    """The name says what is defined, and exactly one version is stored."""
    spec, name = definition["spec"], definition["metadata"].get("name", "")
    expected = f"{spec['names'].get('plural', '')}.{spec.get('group', '')}"
    if "kind" not in spec["names"]:
        yield required("spec.names.kind")
    for index, version in enumerate(_versions(spec)):
        if "name" not in version:
            yield required(f"spec.versions[{index}].name")
    if name != expected:
        yield invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
    if sum(bool(version.get("storage")) for version in _versions(spec)) != 1:
        yield invalid("spec.versions", [], "must have exactly one version marked as storage version")


def kinds_of(definition: Manifest) -> list[Kind]:
    """The kinds that a definition makes a server serve, one for each version."""
    spec = definition["spec"]
    storage = next(_resource(spec, version) for version in _versions(spec) if version.get("storage"))
    return [_kind(_resource(spec, version), storage, version) for version in _versions(spec) if version.get("served")]


def _versions(spec: Manifest) -> list[Manifest]:
    versions: list[Manifest] = spec.get("versions", [])
    return versions


def _resource(spec: Manifest, version: Manifest) -> Resource:
    names = spec["names"]
    return Resource(
        spec["group"], version["name"], names["plural"], names["kind"], namespaced=spec.get("scope") == "Namespaced"
    )


def _kind(resource: Resource, storage: Resource, version: Manifest) -> Kind:
    has_status = "status" in (version.get("subresources") or {})
    return Kind(
        resource,
        fields=None,
        defaults=_forget_given_status if has_status else no_defaults,
        has_status=has_status,
        has_generation=True,
        spec_differs=_differs_beside("apiVersion", "metadata", *(["status"] if has_status else [])),
        unconditional_update=False,
        storage=None if resource == storage else storage,
        to_stored=_said_to_be(storage),
        from_stored=_said_to_be(resource),
    )


def _said_to_be(resource: Resource) -> Callable[[Manifest], Manifest]:
    """A conversion that changes the version alone."""
    return lambda manifest: {**manifest, "apiVersion": resource.api_version}


def _forget_given_status(custom: Fields, old: Manifest | None) -> None:
    """A new object has no status, whatever its creator says."""
    if old is None:
        custom.pop("status", None)


def _differs_beside(*names: str) -> Callable[[Any, Manifest, Manifest], bool]:
    """What counts as a change of the spec: that of any field but these."""

    def differs(_given: Any, new: Manifest, old: Manifest) -> bool:
        return any(new.get(name) != old.get(name) for name in (new.keys() | old.keys()).difference(names))

    return differs


CUSTOM_RESOURCE_DEFINITIONS: Final = Kind(
    kubernetes.CUSTOM_RESOURCE_DEFINITIONS,
    fields={"spec": _SPEC, "status": anything},
    defaults=complete,
    rules=errors,
    has_status=True,
    has_generation=True,
)
