"""Definitions of custom resources, and the kinds that each of them makes a server serve.

Schemas are stored and not looked at: a custom resource may have any fields. Versions differ in nothing but their name.

Source: Kubernetes API, CustomResourceDefinition of apiextensions.k8s.io/v1.
"""

from collections.abc import Callable, Iterator
from typing import Final

from hedgerow.api import kubernetes
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.memory.field_errors import FieldError, invalid
from hedgerow_adapters.memory.field_rules import needed
from hedgerow_adapters.memory.kinds.kind import Fields, Kind, fill
from hedgerow_adapters.memory.shapes import OTHERS, anything, flag, optional_text, text, texts

_ANY: Final = {OTHERS: anything}
_SPEC: Final = {
    "group": optional_text,
    "names": {
        **dict.fromkeys(("plural", "singular", "kind", "listKind"), text),
        **dict.fromkeys(("shortNames", "categories"), texts),
    },
    "scope": optional_text,
    "versions": [{"name": text, **dict.fromkeys(("served", "storage"), flag), "subresources": _ANY, **_ANY}],
    **_ANY,
}


def _complete(definition: Fields, old: Manifest | None) -> None:
    """Names follow from the kind, and nothing is converted; a definition takes effect at once."""
    spec = definition["spec"]
    kind = spec["names"].get("kind", "")
    fill(spec["names"], {"singular": kind.lower(), "listKind": f"{kind}List"})
    if old is None:
        conditions = [{"type": name, "status": "True"} for name in ("NamesAccepted", "Established")]
        stored = [version.get("name", "") for version in spec.get("versions", ()) if version.get("storage")]
        definition["status"] = {"conditions": conditions, "acceptedNames": spec["names"], "storedVersions": stored}


def _errors(definition: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
    """The name says what is defined, and exactly one version is stored."""
    spec, name = definition["spec"], definition["metadata"].get("name", "")
    if name != f"{spec['names'].get('plural', '')}.{spec.get('group', '')}":
        yield invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
    if sum(bool(version.get("storage")) for version in spec.get("versions", ())) != 1:
        yield invalid("spec.versions", [], "must have exactly one version marked as storage version")


def kinds_of(definition: Manifest) -> list[Kind]:
    """The kinds that a definition makes a server serve, one for each version."""
    spec = definition["spec"]
    storage = next(_resource(spec, version) for version in spec["versions"] if version.get("storage"))
    return [_kind(_resource(spec, version), storage, version) for version in spec["versions"] if version.get("served")]


def _resource(spec: Manifest, version: Manifest) -> Resource:
    names = spec["names"]
    return Resource(
        spec["group"], version["name"], names["plural"], names["kind"], namespaced=spec.get("scope") == "Namespaced"
    )


def _kind(resource: Resource, storage: Resource, version: Manifest) -> Kind:
    has_status = "status" in (version.get("subresources") or {})
    beside = {"apiVersion", "metadata", *(["status"] if has_status else [])}

    def forget_given_status(custom: Fields, old: Manifest | None) -> None:
        if old is None and has_status:
            custom.pop("status", None)

    return Kind(
        resource,
        fields=None,
        completion=forget_given_status,
        has_status=has_status,
        has_generation=True,
        spec_differs=lambda _given, new, old: any(
            new.get(name) != old.get(name) for name in (new.keys() | old.keys()) - beside
        ),
        unconditional_update=False,
        storage=None if resource == storage else storage,
        to_stored=_said_to_be(storage),
        from_stored=_said_to_be(resource),
    )


def _said_to_be(resource: Resource) -> Callable[[Manifest], Manifest]:
    """A conversion that changes the version alone."""
    return lambda manifest: {**manifest, "apiVersion": resource.api_version}


CUSTOM_RESOURCE_DEFINITIONS: Final = Kind(
    kubernetes.CUSTOM_RESOURCE_DEFINITIONS,
    fields={"spec": _SPEC, "status": anything},
    defaults={"spec": {"conversion": {"strategy": "None"}, "names": {}}},
    completion=_complete,
    field_rules={"spec.names.kind": needed, "spec.versions[].name": needed},
    rules=_errors,
    has_status=True,
    has_generation=True,
)
