"""What goes with its owner goes at once; what looks like a mistake stays."""

from hedgerow_adapters.runtime.deletions import STOPPED_FOR
from tests.e2e.landscapes import controller_settings, landscape, simulated
from tests.e2e.resource_manager import ResourceManager, errors_of
from tests.e2e.territory import LABEL, Territory, cross_pair, pair, service


def test_selectors_that_match_nothing_delete_nothing(territory: Territory) -> None:
    manifests = landscape(territory, shoots=1)
    territory.create(*manifests)
    with ResourceManager(territory.folder, territory.configuration(controller_settings(territory))) as process:
        territory.wait_for_policies(simulated(territory, manifests, process.config_file))
    before = territory.objects("NetworkPolicy")
    assert len(before) > 20
    position = territory.control_plane.audit_position()

    mistaken = territory.configuration({"namespaceSelectors": [{"matchLabels": {LABEL: "of-nobody"}}]})
    with ResourceManager(territory.folder, mistaken, name="mistaken") as process:
        line = process.wait_for_line("Held deletions back")
        process.wait_for(lambda: territory.objects("Event"), "has not recorded the event")
        process.wait_until_idle()

        assert line["level"] == "error"
        assert process.metric("hedgerow_deletion_guard_stops_total", controller="networkpolicy") >= 1
        assert process.probe("/readyz") == (200, "ok")

    events = territory.objects("Event").values()
    assert {(event["type"], event["reason"]) for event in events} == {("Warning", "DeletionsHeld")}
    said = f"deletions are held back: {len(before)} of {len(before)} owned objects would be deleted"
    assert {event["note"].partition(";")[0] for event in events} == {said}
    assert set(territory.writes(position)) == {"create events"}
    assert territory.objects("NetworkPolicy") == before


def test_a_few_policies_of_a_namespace_that_is_no_longer_looked_after_go(
    territory: Territory, resource_manager: ResourceManager
) -> None:
    shop, till = territory.namespace("shop"), territory.namespace("till")
    territory.create(service(shop, "cart"), service(till, "till"))
    territory.wait_for_policies(pair("shop", "cart-tcp-8080") | pair("till", "till-tcp-8080"))

    territory.label_namespace(shop, {LABEL: None})

    territory.wait_for_policies(pair("till", "till-tcp-8080"))


def test_the_policies_of_a_namespace_that_is_deleted_go_without_a_storm_of_errors(
    territory: Territory, resource_manager: ResourceManager, controller_manager: None
) -> None:
    doomed, shop = territory.namespace("doomed"), territory.namespace("shop")
    selectors = f'[{{"matchLabels": {{"{LABEL}": "{territory.prefix}"}}}}]'
    names = [f"s{number}" for number in range(15)]
    everywhere = {"namespace-selectors": selectors}
    territory.create(*(service(doomed, name, annotations=everywhere) for name in names))
    territory.create(service(shop, "cart", annotations=everywhere))
    # Without them nearly all there is would go, which is not believed until the Services are seen to go.
    others = [f"other{number}" for number in range(8)]
    territory.create(*(service(shop, name) for name in others))
    stays = {each for name in ("cart", *others) for each in pair("shop", f"{name}-tcp-8080")}
    goes = {
        each
        for name in names
        for each in pair("doomed", f"{name}-tcp-8080") | cross_pair("doomed", f"{name}-tcp-8080", "shop")
    }
    territory.wait_for_policies(stays | cross_pair("shop", "cart-tcp-8080", "doomed") | goes)

    territory.delete("Namespace", "", doomed)

    territory.wait_for_policies(stays)
    path = f"/api/v1/namespaces/{doomed}"
    resource_manager.wait_for(lambda: territory.control_plane.request("GET", path)[0] == 404, "the namespace stays")
    assert resource_manager.probe("/healthz") == (200, "ok")
    assert errors_of(resource_manager.log_lines()) == []


def test_a_namespace_that_holds_nearly_all_there_is_may_go_too(
    territory: Territory, resource_manager: ResourceManager, controller_manager: None
) -> None:
    nearly, shop = territory.namespace("nearly"), territory.namespace("shop")
    selectors = f'[{{"matchLabels": {{"{LABEL}": "{territory.prefix}"}}}}]'
    names = [f"s{number}" for number in range(15)]
    territory.create(*(service(nearly, name) for name in names))
    territory.create(service(shop, "cart", annotations={"namespace-selectors": selectors}))
    stays = pair("shop", "cart-tcp-8080")
    goes = {each for name in names for each in pair("nearly", f"{name}-tcp-8080")}
    territory.wait_for_policies(stays | cross_pair("shop", "cart-tcp-8080", "nearly") | goes)

    territory.delete("Namespace", "", nearly)

    path = f"/api/v1/namespaces/{nearly}"
    resource_manager.wait_for(lambda: territory.control_plane.request("GET", path)[0] == 404, "the namespace stays")
    # What others had opened to it does not wait until the refusal of before has run out.
    territory.wait_for_policies(stays, timeout=STOPPED_FOR / 2)
    assert resource_manager.probe("/healthz") == (200, "ok")
    # That nearly all is to go at once is not believed, until the Services are seen to go.
    assert {line["msg"] for line in resource_manager.log_lines(level="error")} <= {"Held deletions back"}
