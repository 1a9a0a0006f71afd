"""Shapes of what statuses report: conditions, and the addresses of load balancers."""

from typing import Final

from hedgerow_adapters.memory.shapes import (
    list_of,
    long_number,
    number,
    optional_text,
    structure,
    text,
    time,
)

CONDITIONS: Final = list_of(
    structure(
        {
            **dict.fromkeys(("type", "status"), optional_text),
            **dict.fromkeys(("reason", "message"), text),
            "lastTransitionTime": time,
            "observedGeneration": long_number,
        }
    )
)
_PORTS: Final = list_of(structure({"port": number, "protocol": optional_text, "error": optional_text}))
_ADDRESS: Final = {"ip": text, "hostname": text, "ports": _PORTS}
LOAD_BALANCER_OF_AN_INGRESS: Final = structure({"ingress": list_of(structure(_ADDRESS))})
LOAD_BALANCER_OF_A_SERVICE: Final = structure({"ingress": list_of(structure({**_ADDRESS, "ipMode": optional_text}))})
