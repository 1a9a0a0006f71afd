"""EndpointSlices: what they consist of, and that they never change the type of their addresses.

Source: Kubernetes API, EndpointSlice of discovery.k8s.io/v1.
"""

from collections.abc import Iterator
from typing import Any, Final

from hedgerow.api import kubernetes
from hedgerow.machinery.objects import Manifest, labels_of
from hedgerow_adapters.memory.field_errors import FieldError, invalid, not_supported, required
from hedgerow_adapters.memory.kinds.kind import Fields, Kind
from hedgerow_adapters.memory.shapes import (
    anything,
    flag,
    list_of,
    number,
    optional_text,
    structure,
    text_map,
    texts,
)

ADDRESS_TYPES: Final = ("FQDN", "IPv4", "IPv6")

_HINTS: Final = structure(dict.fromkeys(("forZones", "forNodes"), list_of(structure({"name": optional_text}))))
_ENDPOINT: Final = structure(
    {
        "addresses": texts,
        "conditions": structure(dict.fromkeys(("ready", "serving", "terminating"), flag)),
        "deprecatedTopology": text_map,
        **dict.fromkeys(("hostname", "nodeName", "zone"), optional_text),
        "targetRef": anything,
        "hints": _HINTS,
    }
)
_PORT: Final = structure(
    {**dict.fromkeys(("name", "protocol", "appProtocol"), optional_text), "port": number},
)
_PARTS: Final = ("addressType", "endpoints", "ports")


def complete(endpoint_slice: Fields, _old: Manifest | None) -> None:
    """The one port without a name has the empty one, and all are TCP."""
    endpoint_slice.setdefault("endpoints", None)
    endpoint_slice.setdefault("ports", None)
    for endpoint in endpoint_slice["endpoints"] or ():
        endpoint.setdefault("conditions", {})
    for port in endpoint_slice["ports"] or ():
        port.setdefault("name", "")
        port.setdefault("protocol", "TCP")


def errors(endpoint_slice: Manifest, old: Manifest | None) -> Iterator[FieldError]:
    """The type of the addresses is one that exists, and stays."""
    address_type = endpoint_slice.get("addressType", "")
    if not address_type:
        yield required("addressType")
    elif address_type not in ADDRESS_TYPES:
        yield not_supported("addressType", address_type, ADDRESS_TYPES)
    if old is not None and address_type != old["addressType"]:
        yield invalid("addressType", address_type, "field is immutable")


def _differs(_given: Any, new: Manifest, old: Manifest) -> bool:
    """An EndpointSlice has no spec: everything beside its metadata counts, and its labels do."""
    return labels_of(new) != labels_of(old) or any(new.get(part) != old.get(part) for part in _PARTS)


ENDPOINT_SLICES: Final = Kind(
    kubernetes.ENDPOINT_SLICES,
    fields={"addressType": optional_text, "endpoints": list_of(_ENDPOINT), "ports": list_of(_PORT)},
    defaults=complete,
    rules=errors,
    has_generation=True,
    spec_differs=_differs,
)
