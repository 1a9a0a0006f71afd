"""What goes with its owner goes at once; what looks like a mistake stays."""

from hedgerow_adapters.runtime.deletions import STOPPED_FOR
from tests.e2e.landscapes import landscape, offline_settings, simulated
from tests.e2e.resource_manager import NETWORK_POLICIES, ResourceManager, errors_of
from tests.e2e.sandbox import LABEL, Manifest, Sandbox, cross_pair, pair, service


def test_selectors_that_match_nothing_delete_nothing(sandbox: Sandbox) -> None:
    manifests = landscape(sandbox, shoots=1)
    sandbox.create(*manifests)
    with ResourceManager(sandbox.folder, sandbox.configuration(offline_settings(sandbox))) as process:
        sandbox.wait_for_policies(simulated(sandbox, manifests, process.config_file))
        assert process.terminate() == 0
    sandbox.wait_for_the_audit_log()
    before = sandbox.objects("NetworkPolicy")
    assert len(before) > 20
    sandbox.create(repair(manifests))
    position = sandbox.control_plane.audit_position()

    mistaken = sandbox.configuration({"namespaceSelectors": [{"matchLabels": {LABEL: "of-nobody"}}]})
    with ResourceManager(sandbox.folder, mistaken, name="mistaken") as process:
        line = process.wait_for_line("Held deletions back")
        process.wait_for(lambda: sandbox.events_of(NETWORK_POLICIES), "has not recorded the event")
        process.wait_until_idle()

        assert line["level"] == "error"
        assert process.metric("hedgerow_deletion_guard_stops_total", controller="networkpolicy") >= 1
        assert process.probe("/readyz") == (200, "ok")

    events = sandbox.events_of(NETWORK_POLICIES)
    assert {(event["type"], event["reason"]) for event in events} == {("Warning", "DeletionsHeld")}
    said = f"deletions are held back: {len(before)} of {len(before)} owned objects would be deleted"
    assert {event["note"].partition(";")[0] for event in events} == {said}
    assert set(sandbox.writes(position)) == {"create events"}
    assert sandbox.objects("NetworkPolicy") == before


def repair(manifests: list[Manifest]) -> Manifest:
    """The Event that the API server records of one in a hundred Services with an address, when its caches lag."""
    (gateway,) = (each["metadata"] for each in manifests if each.get("spec", {}).get("type") == "ClusterIP")
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"namespace": gateway["namespace"], "name": "repair"},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "type": "Warning",
        "reason": "ClusterIPNotAllocated",
        "action": "ClusterIPAllocation",
        "note": "Cluster IP [IPv4]: 10.0.0.162 is not allocated; repairing",
        "regarding": {
            "apiVersion": "v1",
            "kind": "Service",
            "namespace": gateway["namespace"],
            "name": gateway["name"],
        },
        "reportingController": "ipallocator-repair-controller",
        "reportingInstance": "ipallocator-repair-controller-vm",
    }


def test_a_few_policies_of_a_namespace_that_is_no_longer_looked_after_go(
    sandbox: Sandbox, resource_manager: ResourceManager
) -> None:
    shop, till = sandbox.namespace("shop"), sandbox.namespace("till")
    sandbox.create(service(shop, "cart"), service(till, "till"))
    sandbox.wait_for_policies(pair("shop", "cart-tcp-8080") | pair("till", "till-tcp-8080"))

    sandbox.label_namespace(shop, {LABEL: None})

    sandbox.wait_for_policies(pair("till", "till-tcp-8080"))


def test_the_policies_of_a_namespace_that_is_deleted_go_without_a_storm_of_errors(
    sandbox: Sandbox, resource_manager: ResourceManager, controller_manager: None
) -> None:
    doomed, shop = sandbox.namespace("doomed"), sandbox.namespace("shop")
    selectors = f'[{{"matchLabels": {{"{LABEL}": "{sandbox.prefix}"}}}}]'
    names = [f"s{number}" for number in range(15)]
    everywhere = {"namespace-selectors": selectors}
    sandbox.create(*(service(doomed, name, annotations=everywhere) for name in names))
    sandbox.create(service(shop, "cart", annotations=everywhere))
    # Without them nearly all there is would go, which is not believed until the Services are seen to go.
    others = [f"other{number}" for number in range(8)]
    sandbox.create(*(service(shop, name) for name in others))
    stays = {each for name in ("cart", *others) for each in pair("shop", f"{name}-tcp-8080")}
    goes = {
        each
        for name in names
        for each in pair("doomed", f"{name}-tcp-8080") | cross_pair("doomed", f"{name}-tcp-8080", "shop")
    }
    sandbox.wait_for_policies(stays | cross_pair("shop", "cart-tcp-8080", "doomed") | goes)

    sandbox.delete("Namespace", "", doomed)

    sandbox.wait_for_policies(stays)
    path = f"/api/v1/namespaces/{doomed}"
    resource_manager.wait_for(lambda: sandbox.control_plane.request("GET", path)[0] == 404, "the namespace stays")
    assert resource_manager.probe("/healthz") == (200, "ok")
    assert errors_of(resource_manager.log_lines()) == []


def test_a_namespace_that_holds_nearly_all_there_is_may_go_too(
    sandbox: Sandbox, resource_manager: ResourceManager, controller_manager: None
) -> None:
    nearly, shop = sandbox.namespace("nearly"), sandbox.namespace("shop")
    selectors = f'[{{"matchLabels": {{"{LABEL}": "{sandbox.prefix}"}}}}]'
    names = [f"s{number}" for number in range(15)]
    sandbox.create(*(service(nearly, name) for name in names))
    sandbox.create(service(shop, "cart", annotations={"namespace-selectors": selectors}))
    stays = pair("shop", "cart-tcp-8080")
    goes = {each for name in names for each in pair("nearly", f"{name}-tcp-8080")}
    sandbox.wait_for_policies(stays | cross_pair("shop", "cart-tcp-8080", "nearly") | goes)

    sandbox.delete("Namespace", "", nearly)

    path = f"/api/v1/namespaces/{nearly}"
    resource_manager.wait_for(lambda: sandbox.control_plane.request("GET", path)[0] == 404, "the namespace stays")
    # What others had opened to it does not wait until the refusal of before has run out.
    sandbox.wait_for_policies(stays, timeout=STOPPED_FOR / 2)
    assert resource_manager.probe("/healthz") == (200, "ok")
    # That nearly all is to go at once is not believed, until the Services are seen to go.
    assert {line["msg"] for line in resource_manager.log_lines(level="error")} <= {"Held deletions back"}
