"""Verdicts on requests of kubelets, in clusters that answer, refuse, and change."""

from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.api.gardener import MACHINES
from hedgerow.api.kubernetes import CERTIFICATE_SIGNING_REQUESTS, NODES, SERVICES
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Change, Controller, concerned_keys
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import ApiError, Update
from hedgerow.machinery.questions import ListQuestion, NotAnswered, ObjectQuestion, Question
from hedgerow.resource_manager.kubelet_certificates import KubeletCertificateConfig, kubelet_csr_approver
from hedgerow_adapters.cache import StoreSnapshot
from tests.unit.core.resource_manager.kubelet_certificates.requests import (
    API_SERVER,
    APPROVED,
    CONTROLLER,
    KEY,
    NODE,
    SHOOT,
    asked,
    clusters,
    condition,
    conditions,
    csr,
    decode,
    machine,
    node,
)
from tests.unit.core.resource_manager.turns import Clusters, Course, take_turn

WATCH, MACHINE_WATCH, NODE_WATCH = CONTROLLER.watches
REACHABLE = node(
    ("Hostname", "foo.bar"),
    ("InternalIP", "1.2.3.4"),
    ("InternalDNS", "foo.internal"),
    ("ExternalDNS", "foo.ext"),
    ("ExternalIP", "9.9.9.9"),
)
NO_HOSTNAME = "DNS names in CSR do not contain all addresses of type 'Hostname' in node object"
OTHER_DNS = (
    "DNS names in CSR do not match addresses of type 'Hostname' or 'InternalDNS' or 'ExternalDNS' in node object"
)
NO_ADDRESS = "IP addresses in CSR do not contain all addresses of type 'InternalIP' in node object"
OTHER_IPS = "IP addresses in CSR do not match addresses of type 'InternalIP' or 'ExternalIP' in node object"
NO_ORGANIZATION = "organization in CSR does not match nodes group"


MACHINE = ObjectKey(SHOOT, "m0")
THE_NODE = ObjectQuestion(NODES, ObjectKey("", "node-1"), Cluster.TARGET)
THE_SERVICE = ObjectQuestion(SERVICES, ObjectKey("default", "kubernetes"), Cluster.TARGET)
THE_MACHINES = ListQuestion(MACHINES, Cluster.SOURCE, SHOOT, label_selector="node=node-1", metadata_only=True)


class Outdated(Clusters):
    """Clusters of which what is at hand still shows one Machine, whatever there is."""

    def snapshot(self, controller: Controller[Any]) -> StoreSnapshot:
        return Clusters.of(target=values(self.target), source={MACHINES: [machine()]}).snapshot(controller)


def values(objects: Mapping[Resource, Mapping[ObjectKey, Manifest]]) -> dict[Resource, Sequence[Manifest]]:
    return {resource: [*stored.values()] for resource, stored in objects.items()}


def turn(world: Clusters) -> Course:
    return take_turn(world, CONTROLLER, KEY)


def verdict(world: Clusters) -> str:
    """The message of the condition that a turn adds, if that is all that it does; it is settled then."""
    course = turn(world)
    assert not course.end.failures
    (said,) = conditions(world)
    (action,) = course.actions
    assert (action.cluster, action.key) == (Cluster.TARGET, KEY)
    assert isinstance(action, Update)
    assert action.subresource == "approval"
    assert turn(world).actions == []
    kind, reason = ("Approved", "RequestApproved") if said["message"] == APPROVED else ("Denied", "RequestDenied")
    assert said == {"type": kind, "status": "True", "reason": reason, "message": said["message"]}
    return str(said["message"])


def machines_found(count: int) -> str:
    return f'Expected exactly one machine in namespace "{SHOOT}" for node "node-1" but found {count}'


@pytest.mark.parametrize(
    "world",
    [
        pytest.param(clusters(), id="C1"),
        pytest.param(
            clusters(
                csr(asked(dns=["foo.bar", "foo.internal", "foo.ext"], ips=["9.9.9.9", "1.2.3.4"])), nodes=[REACHABLE]
            ),
            id="C14",
        ),
        pytest.param(clusters(nodes=[REACHABLE]), id="C15"),
        pytest.param(
            clusters(csr(asked(dns=["x"], ips=[])), nodes=[node(("Hostname", "x"), ("InternalDNS", "x"))]), id="C16"
        ),
        pytest.param(
            clusters(csr(asked(dns=["b", "a", "b"], ips=[])), nodes=[node(("Hostname", "a"), ("Hostname", "b"))]),
            id="C17",
        ),
        pytest.param(clusters(csr(asked(dns=[])), nodes=[node(("InternalIP", "1.2.3.4"))]), id="C18"),
        pytest.param(
            clusters(csr(asked(dns=[], ips=["2001:db8::1"])), nodes=[node(("InternalIP", "2001:DB8::0:1"))]), id="C19"
        ),
        pytest.param(
            clusters(
                csr(asked(dns=["foo.bar"], ips=["1.2.3.4", "5.6.7.8"])),
                nodes=[node(("Hostname", "foo.bar"), ("Hostname", "5.6.7.8"), ("InternalIP", "1.2.3.4"))],
            ),
            id="a Hostname that is an IP address",
        ),
        pytest.param(
            clusters(csr(asked(dns=[], ips=["::ffff:1.2.3.4"])), nodes=[node(("InternalIP", "1.2.3.4"))]),
            id="an address in the spelling of the other family",
        ),
        pytest.param(
            clusters(machines=[machine(), machine("m1", of="node-2"), machine("m2", namespace="other")]),
            id="Machines of others",
        ),
    ],
)
def test_a_kubelet_gets_the_certificate_of_its_node(world: Clusters) -> None:
    assert verdict(world) == APPROVED


@pytest.mark.parametrize(
    ("world", "reason"),
    [
        pytest.param(clusters(csr(username="admin")), 'username "admin" is not prefixed with "system:node:"', id="C4"),
        pytest.param(clusters(csr(groups=["system:authenticated"])), 'groups do not contain "system:nodes"', id="C24"),
        pytest.param(clusters(csr(groups=None)), 'groups do not contain "system:nodes"', id="no groups at all"),
        pytest.param(
            clusters(csr(asked(dns=["foo.bar", "kubernetes.default"]))),
            '"kubernetes.default" in CSR is a name of the API server',
            id="a reserved name",
        ),
        pytest.param(
            clusters(
                csr(asked(ips=["1.2.3.4", "fd00:10:0::1"])),
                nodes=[node(("Hostname", "foo.bar"), ("InternalIP", "1.2.3.4"), ("InternalIP", "fd00:10::1"))],
            ),
            '"fd00:10::1" in CSR is an address of the Service default/kubernetes',
            id="an address of the API server",
        ),
        pytest.param(
            clusters(
                csr(asked(dns=["foo.bar", "100.64.0.1"])),
                nodes=[node(("Hostname", "foo.bar"), ("InternalIP", "1.2.3.4"), ("InternalDNS", "100.64.0.1"))],
            ),
            '"100.64.0.1" in CSR is an address of the Service default/kubernetes',
            id="an address of the API server as a name",
        ),
        pytest.param(clusters(csr(asked(dns=[], ips=[]))), "no DNS names or IP addresses in the SANs found", id="C5"),
        pytest.param(
            clusters(csr(asked(common_name="some-other-name"))),
            "common name in CSR does not match username",
            id="C6",
        ),
        *(
            pytest.param(clusters(csr(asked(organizations=names))), NO_ORGANIZATION, id=f"C7 {','.join(names)}")
            for names in ([], ["foo"], ["foo", "bar"], ["system:nodes", "foo"])
        ),
        pytest.param(clusters(nodes=[]), 'could not find node object with name "node-1"', id="C8"),
        pytest.param(clusters(machines=[]), machines_found(0), id="C9 none"),
        pytest.param(clusters(machines=[machine("a"), machine("b")]), machines_found(2), id="C9 two"),
        pytest.param(clusters(machines=[machine(namespace="other")]), machines_found(0), id="C10 namespace"),
        pytest.param(clusters(machines=[machine(of="node-2")]), machines_found(0), id="C10 label"),
        pytest.param(clusters(nodes=[node()]), OTHER_DNS, id="C11"),
        pytest.param(clusters(nodes=[node(("Hostname", "foo.bar"))]), OTHER_IPS, id="C12"),
        pytest.param(clusters(csr(asked(dns=["foo.bar", "evil.example.com"]))), OTHER_DNS, id="C13"),
        pytest.param(
            clusters(csr(asked(common_name="system:node:"), username="system:node:")),
            'could not find node object with name ""',
            id="C20",
        ),
        pytest.param(
            clusters(csr(asked(dns=[], ips=[]), username="admin")),
            'username "admin" is not prefixed with "system:node:"',
            id="C25",
        ),
        pytest.param(clusters(csr(asked(dns=["foo.ext"])), nodes=[REACHABLE]), NO_HOSTNAME, id="no host name"),
        pytest.param(clusters(csr(asked(dns=["FOO.bar"]))), NO_HOSTNAME, id="another case"),
        pytest.param(clusters(csr(asked(ips=["9.9.9.9"])), nodes=[REACHABLE]), NO_ADDRESS, id="no internal address"),
        pytest.param(clusters(csr(asked(ips=["1.2.3.4", "1.2.3.5"]))), OTHER_IPS, id="an address of somebody else"),
        pytest.param(
            clusters(csr(asked(dns=["foo.bar", "9.9.9.9"])), nodes=[REACHABLE]), OTHER_DNS, id="an address as a name"
        ),
        pytest.param(
            clusters(nodes=[node(("Hostname", "foo.bar"), ("InternalIP", "1.2.3.4"), ("InternalIP", "somewhere"))]),
            NO_ADDRESS,
            id="an address that is none",
        ),
        pytest.param(
            clusters(csr(asked(others=["URI:https://foo.bar"]))),
            "SANs in CSR are neither DNS names nor IP addresses",
            id="a URI",
        ),
    ],
)
def test_what_violates_a_check_is_denied_with_the_first_reason(world: Clusters, reason: str) -> None:
    assert verdict(world) == f"Denying kubelet server certificate CSR ({reason})"


@pytest.mark.parametrize(  # C3 C26
    "status",
    [
        {"conditions": [condition("Approved")]},
        {"conditions": [condition("Denied")]},
        {"conditions": [condition("Other"), condition("Denied", "False")]},
        {"certificate": "LS0t"},
    ],
    ids=str,
)
def test_what_is_decided_stays_so_and_next_to_nothing_of_it_is_kept(status: dict[str, Any]) -> None:
    decided = csr(status=status)
    course = turn(clusters(decided))

    assert (course.questions, course.actions, course.end.failures) == ([], [], ())
    assert turns_due(None, decided) == set()
    assert turns_due(csr(), decided) == set()
    kept = WATCH.transform(decided)
    assert kept["metadata"] == {"name": KEY.name, "uid": "u-1", "resourceVersion": "7"}
    assert kept["spec"].keys() == {"signerName"}


def test_that_signing_has_failed_is_no_verdict() -> None:
    world = clusters(csr(status={"conditions": [condition("Failed")]}))

    turn(world)

    assert [each["type"] for each in conditions(world)] == ["Failed", "Approved"]


def test_requests_for_other_signers_are_nobody_elses_business() -> None:  # C2
    other = csr(signerName="kubernetes.io/kube-apiserver-client")

    assert WATCH.reads(csr())
    assert not WATCH.reads(other)
    assert turns_due(None, other) == set()
    assert turn(clusters(other)).steps == []


def turns_due(old: Manifest | None, new: Manifest | None) -> set[ObjectKey]:
    """The keys that get a turn because of a change."""
    old, new = (None if each is None else WATCH.transform(each) for each in (old, new))
    return set(concerned_keys(WATCH, Change(old, new), clusters().snapshot(CONTROLLER)))


def test_new_and_changed_requests_are_decided_about_and_not_those_that_are_gone() -> None:
    assert turns_due(None, csr()) == {KEY}
    assert turns_due(csr(), csr()) == {KEY}
    assert turns_due(csr(), None) == set()


def test_a_verdict_is_written_with_the_whole_request_as_it_was_read() -> None:
    (update,) = turn(clusters()).actions

    assert isinstance(update, Update)
    whole = csr()
    del whole["metadata"]["managedFields"]
    assert update.manifest["kind"] == "CertificateSigningRequest"
    assert update.manifest["apiVersion"] == "certificates.k8s.io/v1"
    assert (update.manifest["metadata"], update.manifest["spec"]) == (whole["metadata"], whole["spec"])


@pytest.mark.parametrize(  # C21
    ("request_text", "problem"),
    [
        ("bm8gUEVN", "PEM block type must be CERTIFICATE REQUEST"),
        ("***", "not encoded in base64"),
        ("e", "not encoded in base64"),
    ],
)
def test_what_cannot_be_read_is_tried_again_and_not_denied(request_text: str, problem: str) -> None:
    world = clusters(csr(request=request_text))

    course = turn(world)

    (failure,) = course.end.failures
    assert failure.problem.text == f"unable to parse csr: {problem}"
    assert (failure.problem.path, failure.retryable) == ("spec.request", True)
    assert (course.questions, conditions(world)) == ([], [])


@pytest.mark.parametrize(  # C22
    ("is_broken", "problem"),
    [
        (
            lambda question: question.resource == SERVICES,
            'Service "default/kubernetes" cannot be read: the server is on fire',
        ),
        (lambda question: question.resource == NODES, 'Node "node-1" cannot be read: the server is on fire'),
        (
            lambda question: question.resource == MACHINES,
            f'Machines in namespace "{SHOOT}" cannot be listed: the server is on fire',
        ),
    ],
)
def test_what_cannot_be_found_out_is_asked_again_and_decides_nothing(
    is_broken: Callable[[Question], bool], problem: str
) -> None:
    world = clusters()
    world.unseen = {MACHINE}
    world.broken = is_broken

    course = turn(world)

    assert course.problems == [f"failed when checking for approval conditions: {problem}"]
    assert course.end.failures[0].retryable
    assert conditions(world) == []
    world.broken = lambda _question: False
    assert verdict(world) == APPROVED


def test_a_404_that_does_not_name_the_node_is_no_denial() -> None:
    world = clusters()
    world.broken = lambda question: question.resource == NODES
    world.breakage = NotAnswered(404, "", "the answer 404 is no Status of an API server: it is empty")

    course = turn(world)

    assert course.end.failures[0].retryable
    assert conditions(world) == []
    world.broken = lambda _question: False
    assert verdict(world) == APPROVED


def test_nobody_is_denied_where_machines_are_not_served() -> None:
    world = clusters(machines=[])
    del world.source[MACHINES]

    course = turn(world)

    assert course.end.failures[0].retryable
    assert "cannot be listed: the server could not find the requested resource" in course.problems[0]
    assert conditions(world) == []


def test_a_request_that_has_changed_meanwhile_is_decided_about_again() -> None:  # C23
    world = clusters()
    world.refused[KEY] = ApiError(409, "Conflict", "the object has been modified")

    assert len(turn(world).actions) == 1
    assert conditions(world) == []
    world.refused.clear()
    assert verdict(world) == APPROVED


@pytest.mark.parametrize(
    ("request_text", "nodes", "asked_for"),
    [
        pytest.param(asked(organizations=[]), [NODE], [], id="not needed"),
        pytest.param(asked(), [], [NODES, SERVICES], id="no Node"),
        pytest.param(asked(), [NODE], [NODES, SERVICES, MACHINES], id="all"),
    ],
)
def test_nothing_is_asked_before_the_checks_that_need_it(
    request_text: str, nodes: Sequence[Manifest], asked_for: Sequence[object]
) -> None:
    world = clusters(csr(request_text), nodes=nodes)
    world.unseen = {MACHINE}

    assert [question.resource for question in turn(world).questions] == asked_for


def test_who_is_seen_to_have_one_machine_waits_for_no_list_of_them() -> None:
    elsewhere = [machine(namespace="other"), machine("m1", of="node-2")]
    world = clusters(machines=[machine(), *elsewhere])

    assert turn(world).questions == [THE_NODE, THE_SERVICE, ObjectQuestion(MACHINES, MACHINE, Cluster.SOURCE)]
    assert conditions(world)[0]["message"] == APPROVED


@pytest.mark.parametrize(
    ("there", "message"),
    [
        pytest.param([], machines_found(0), id="gone"),
        pytest.param([machine(of="node-2")], machines_found(0), id="of another Node"),
        pytest.param([{"metadata": {"name": "m0", "namespace": SHOOT}}], machines_found(0), id="of no Node"),
        pytest.param([machine("m1"), machine("m2")], machines_found(2), id="two others"),
        pytest.param([machine("m1")], "", id="another one"),
    ],
)
def test_nobody_is_approved_because_of_a_machine_that_is_no_longer_his(there: list[Manifest], message: str) -> None:
    target = {CERTIFICATE_SIGNING_REQUESTS: [csr()], NODES: [NODE], SERVICES: [API_SERVER]}
    world = Outdated.of(target=target, source={MACHINES: there})

    assert turn(world).questions == [
        THE_NODE,
        THE_SERVICE,
        ObjectQuestion(MACHINES, MACHINE, Cluster.SOURCE),
        THE_MACHINES,
    ]
    expected = f"Denying kubelet server certificate CSR ({message})" if message else APPROVED
    assert [each["message"] for each in conditions(world)] == [expected]


def test_if_the_machine_that_is_seen_cannot_be_read_the_list_tells() -> None:
    world = clusters()
    world.broken = lambda question: question == ObjectQuestion(MACHINES, MACHINE, Cluster.SOURCE)

    assert turn(world).questions[-1] == THE_MACHINES
    assert conditions(world)[0]["message"] == APPROVED


@given(st.sets(st.sampled_from(["a", "b", "c"])), st.sets(st.sampled_from(["a", "b", "c", "d"])))
def test_nobody_is_denied_because_what_is_at_hand_is_behind(there: set[str], unseen: set[str]) -> None:
    world = clusters(machines=[machine(name) for name in sorted(there)])
    world.unseen = {ObjectKey(SHOOT, name) for name in unseen}

    course = turn(world)

    shown = len(there - unseen)
    assert (THE_MACHINES in course.questions) is (shown != 1)
    is_approved = conditions(world)[0]["type"] == "Approved"
    assert is_approved is (1 in {len(there), shown})


def test_of_the_node_and_its_machines_no_more_is_asked_than_is_needed() -> None:
    world = clusters()
    world.unseen = {MACHINE}

    assert turn(world).questions == [THE_NODE, THE_SERVICE, THE_MACHINES]


def test_without_a_namespace_machines_are_looked_for_everywhere() -> None:
    anywhere = kubelet_csr_approver(KubeletCertificateConfig(decode))
    world = clusters(machines=[machine(namespace="a"), machine(namespace="b")])

    take_turn(world, anywhere, KEY)

    assert 'in namespace "" for node "node-1" but found 2' in conditions(world)[0]["message"]


@pytest.mark.parametrize("unseen", [set(), {ObjectKey("a", "m0")}, {ObjectKey("a", "m0"), ObjectKey("b", "m0")}])
@pytest.mark.parametrize(("places", "count"), [("", 0), ("a", 1), ("b", 1), ("ab", 2), ("c", 0), ("bc", 1)])
def test_without_a_namespace_machines_are_looked_for_in_all_that_are_in_sight(
    places: str, count: int, unseen: set[ObjectKey]
) -> None:
    restricted = kubelet_csr_approver(KubeletCertificateConfig(decode, namespaces=("a", "b")))
    world = clusters(machines=[machine(namespace=each) for each in places])
    world.unseen = unseen
    world.broken = lambda question: isinstance(question, ListQuestion) and question.namespace not in {"a", "b"}
    shown = count - len(unseen & {ObjectKey(each, "m0") for each in places})

    course = take_turn(world, restricted, KEY)

    assert not course.problems
    message = conditions(world)[0]["message"]
    if 1 in {count, shown}:
        assert message == APPROVED
    else:
        assert f'in namespace "" for node "node-1" but found {count}' in message


def test_what_cannot_be_listed_in_one_of_the_namespaces_decides_nothing() -> None:
    restricted = kubelet_csr_approver(KubeletCertificateConfig(decode, namespaces=("a", "b")))
    world = clusters(machines=[machine(namespace="a")])
    world.unseen = {ObjectKey("a", "m0")}
    world.broken = lambda question: isinstance(question, ListQuestion) and question.namespace == "b"

    course = take_turn(world, restricted, KEY)

    (problem,) = course.problems
    assert 'Machines in namespace "b" cannot be listed: the server is on fire' in problem
    assert conditions(world) == []


def test_machines_are_read_in_their_namespace_alone() -> None:
    anywhere = kubelet_csr_approver(KubeletCertificateConfig(decode)).watches[1]

    assert (MACHINE_WATCH.namespace, anywhere.namespace) == (SHOOT, "")
    assert MACHINE_WATCH.reads(machine())
    assert not MACHINE_WATCH.reads(machine(namespace="other"))
    assert anywhere.reads(machine(namespace="other"))


@pytest.mark.parametrize("broken", [{"status": {"addresses": 7}}, {"status": {"addresses": [{"type": []}]}}], ids=str)
def test_a_node_that_cannot_be_understood_decides_nothing_and_is_read_again(broken: dict[str, Any]) -> None:
    world = clusters(nodes=[{**NODE, **broken}])

    course = turn(world)

    (failure,) = course.end.failures
    assert 'failed when checking for approval conditions: Node "node-1" cannot be understood: ' in failure.problem.text
    assert failure.retryable
    assert conditions(world) == []
    world.put(NODES, NODE)
    assert verdict(world) == APPROVED


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("node/1", 'could not find node object with name "node/1"'),
        ("..", 'could not find node object with name ".."'),
        ("Node-1", 'could not find node object with name "Node-1"'),
        ("a,node=b", 'could not find node object with name "a,node=b"'),
    ],
)
def test_about_what_can_be_no_name_of_a_node_nobody_is_asked(name: str, reason: str) -> None:
    user = f"system:node:{name}"
    world = clusters(csr(asked(common_name=user), username=user))
    world.broken = lambda _question: True

    assert verdict(world) == f"Denying kubelet server certificate CSR ({reason})"


def test_a_name_that_is_too_long_for_a_label_is_that_of_no_machine() -> None:
    name = "n" * 64
    user = f"system:node:{name}"
    world = clusters(csr(asked(common_name=user), username=user), nodes=[node(name=name)])

    course = turn(world)

    assert [question.resource for question in course.questions] == [NODES, SERVICES]
    assert f'for node "{name}" but found 0' in conditions(world)[0]["message"]


def test_without_the_service_of_the_api_server_the_other_checks_decide() -> None:
    world = clusters()
    world.target[SERVICES].clear()

    assert verdict(world) == APPROVED


def test_addresses_of_services_are_denied_where_their_networks_are_configured() -> None:
    networks = (ip_network("10.64.0.0/13"), ip_network("fd00:10::/108"))
    careful = kubelet_csr_approver(KubeletCertificateConfig(decode, SHOOT, service_networks=networks))
    listed = node(("Hostname", "foo.bar"), ("InternalIP", "1.2.3.4"), ("ExternalIP", "::ffff:10.64.3.9"))
    world = clusters(csr(asked(ips=["1.2.3.4", "10.64.3.9"])), nodes=[listed])

    take_turn(world, careful, KEY)

    reason = '"10.64.3.9" in CSR is in the service network 10.64.0.0/13'
    assert conditions(world)[0]["message"] == f"Denying kubelet server certificate CSR ({reason})"


def test_a_request_waits_told_by_an_event_while_another_node_lists_its_address() -> None:
    predecessor = node(("Hostname", "other"), ("ExternalIP", "1.2.3.4"), name="node-0")
    world = clusters(nodes=[NODE, predecessor])

    course = turn(world)

    assert course.actions == []
    assert conditions(world) == []
    (event,) = course.end.events
    assert (event.resource, event.key, event.uid) == (CERTIFICATE_SIGNING_REQUESTS, KEY, "u-1")
    assert (event.type, event.reason) == ("Warning", "NodeAddressConflict")
    assert event.note == 'Node "node-0" lists "1.2.3.4", too. The request waits until it no longer does.'
    assert course.end.requeue_after == 60
    del world.target[NODES][ObjectKey("", "node-0")]
    assert verdict(world) == APPROVED


def test_a_wrong_request_is_denied_although_another_node_lists_its_address() -> None:
    world = clusters(
        csr(asked(dns=["foo.bar", "evil.example.com"])), nodes=[NODE, node(("InternalIP", "1.2.3.4"), name="node-0")]
    )

    assert OTHER_DNS in verdict(world)


@pytest.mark.parametrize(
    ("old", "new", "is_looked_at"),
    [
        pytest.param(node(("InternalIP", "1.2.3.4")), None, True, id="gone"),
        pytest.param(node(("InternalIP", "1.2.3.4")), node(("InternalIP", "1.2.3.5")), True, id="another address"),
        pytest.param(node(("InternalIP", "1.2.3.4")), node(), True, id="no address"),
        pytest.param(node(("InternalIP", "1.2.3.4")), node(("ExternalIP", "1.2.3.4")), False, id="of another type"),
        pytest.param(node(), node(("InternalIP", "1.2.3.4")), False, id="one more address"),
        pytest.param(None, node(("InternalIP", "1.2.3.4")), False, id="new"),
    ],
)
def test_undecided_requests_are_looked_at_when_a_node_gives_a_name_up(
    old: Manifest | None, new: Manifest | None, *, is_looked_at: bool
) -> None:
    decided = csr(status={"conditions": [condition("Approved")]})
    decided["metadata"]["name"] = "csr-2"
    change = Change(*(None if each is None else NODE_WATCH.transform(each) for each in (old, new)))

    keys = concerned_keys(NODE_WATCH, change, clusters(csr(), decided).snapshot(CONTROLLER))

    assert keys == ({KEY} if is_looked_at else set())


def test_a_request_of_another_shape_is_told_by_its_field() -> None:
    world = clusters(csr(username=7))

    [failure] = turn(world).end.failures
    assert (failure.problem.path, failure.problem.text) == ("spec.username", "expected a string, got an integer")


def test_the_approver_needs_no_more_than_this() -> None:
    assert set(CONTROLLER.permissions) == {
        Permission("certificates.k8s.io", "certificatesigningrequests/approval", ("update",), namespaced=False),
        Permission(
            "certificates.k8s.io",
            "signers",
            ("approve",),
            names=("kubernetes.io/kubelet-serving",),
            namespaced=False,
        ),
        Permission("", "nodes", ("get",), namespaced=False),
        Permission("", "services", ("get",), namespace="default", names=("kubernetes",)),
        Permission("machine.sapcloud.io", "machines", ("get", "list"), cluster=Cluster.SOURCE, namespace=SHOOT),
    }
    assert WATCH.resource == CERTIFICATE_SIGNING_REQUESTS


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize(
    "other",
    [
        None,
        {**csr(), "metadata": {**csr()["metadata"], "uid": "another"}},
        csr(status={"conditions": [condition("Approved")]}),
    ],
)
def test_nothing_is_decided_about_a_request_that_is_gone_or_decided_or_another_by_now(
    step: int, other: Manifest | None
) -> None:
    world = clusters(csr())

    def meanwhile(performed: int) -> None:
        if performed == step:
            world.target[CERTIFICATE_SIGNING_REQUESTS] = {} if other is None else {KEY: other}

    course = take_turn(world, CONTROLLER, KEY, meanwhile=meanwhile)

    assert len(course.steps) == 2
    assert course.actions == []


def test_a_service_of_the_api_server_of_another_shape_is_told_and_decides_nothing() -> None:
    world = clusters()
    world.put(SERVICES, {**API_SERVER, "spec": {"clusterIP": 5}})

    course = turn(world)

    (problem,) = course.problems
    assert problem.endswith(
        'Service "default/kubernetes" cannot be understood: spec.clusterIP: expected a string, got an integer'
    )
    assert course.end.failures[0].retryable
    assert conditions(world) == []
