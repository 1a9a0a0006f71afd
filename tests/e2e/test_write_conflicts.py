"""A person who keeps changing back what the process writes: who it is and how long the process waits is told."""

import http.client

from tests.e2e.resource_manager import ResourceManager
from tests.e2e.sandbox import Sandbox, pair, path_of, service

POLICY = "ingress-to-cart-tcp-8080"
RIVAL = "kubectl-rival"
CHANGE = {"spec": {"podSelector": {"matchLabels": {"app": "other"}}}}
UNTIL_A_CONFLICT = 6


def test_an_event_names_who_undoes_what_was_written_and_the_pause_until_the_next_write(sandbox: Sandbox) -> None:
    shop = sandbox.namespace("shop")
    sandbox.create(service(shop, "cart"))
    path = f"{path_of('NetworkPolicy', shop, POLICY)}?fieldManager={RIVAL}"

    def is_whole() -> bool:
        return bool(sandbox.get("NetworkPolicy", shop, POLICY)["spec"]["podSelector"] != CHANGE["spec"]["podSelector"])

    with ResourceManager(sandbox.folder, sandbox.configuration()) as process:
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
        # Its creation is the first of six equal writes.
        for _ in range(UNTIL_A_CONFLICT - 1):
            assert sandbox.control_plane.request("PATCH", path, CHANGE)[0] == http.client.OK
            process.wait_for(is_whole, "has not put the policy right")
        line = process.wait_for_line("Write conflict")
        process.wait_for(lambda: conflicts_of(sandbox), "has recorded no event")

    (note,) = conflicts_of(sandbox)
    assert note.startswith(f"NetworkPolicy {shop}/{POLICY} was corrected 6 times within ")
    assert note.endswith(f": {RIVAL} undoes it; the next write follows in 30s, later ones after pauses of up to 10m0s")
    assert (line["managers"], line["wait"], line["key"]) == ([RIVAL], 30, f"{shop}/{POLICY}")


def conflicts_of(sandbox: Sandbox) -> list[str]:
    return [event["note"] for event in sandbox.objects("Event").values() if event["reason"] == "WriteConflict"]
