"""Which object a reference means, under every name that its kind goes by."""

from hedgerow.api.references import GroupKind, Identity, identity, identity_of
from hedgerow.resource_manager.managed_resources.equivalences import Equivalences, equivalences

A, B, C = (GroupKind(f"group{name}", f"kind{name}") for name in "ABC")
NO_EQUIVALENCES = Equivalences({})


def named(kind: GroupKind) -> Identity:
    return identity(kind.group, kind.kind, "ns", "name")


def test_another_kind_is_another_object() -> None:  # EQ-1
    assert NO_EQUIVALENCES.find(named(B), {named(A)}) is None


def test_an_object_is_found_among_those_that_are_there() -> None:  # EQ-2
    assert NO_EQUIVALENCES.find(named(A), {named(A)}) == named(A)
    assert NO_EQUIVALENCES.find(named(A)._replace(name="other"), {named(A)}) is None


def test_an_object_is_found_under_its_own_name_first() -> None:
    everything = equivalences([[A, B]])

    assert everything.find(named(B), {named(A), named(B)}) == named(B)


def test_a_kind_that_kubernetes_moved_is_found_under_its_old_group_whatever_the_versions() -> None:  # EQ-3
    old = {"apiVersion": "extensions/v1beta1", "kind": "Deployment", "metadata": {"namespace": "ns", "name": "name"}}
    new = {**old, "apiVersion": "apps/v1"}

    assert equivalences().find(identity_of(new), {identity_of(old)}) == Identity(
        "extensions", "Deployment", "ns", "name"
    )


def test_declared_equivalences_are_found() -> None:  # EQ-4
    assert equivalences([[A, B]]).find(named(B), {named(A)}) == named(A)
    assert equivalences([[A, B]]).find(named(C), {named(A)}) is None


def test_lists_with_a_common_member_are_one_set() -> None:  # EQ-5
    everything = equivalences([[A, B], [B, C]])

    assert [everything.others(kind) for kind in (A, B, C)] == [(B, C), (A, C), (A, B)]


def test_lists_without_a_common_member_are_sets_of_their_own() -> None:  # EQ-6
    others = [GroupKind("x", kind) for kind in "ABC"]
    everything = equivalences([[A, B, C], others])

    assert everything.others(A) == (B, C)
    assert everything.others(others[0]) == tuple(others[1:])


def test_a_declared_kind_joins_what_kubernetes_moved() -> None:
    everything = equivalences([[A, GroupKind("apps", "Deployment")]])

    assert everything.others(A) == (GroupKind("apps", "Deployment"), GroupKind("extensions", "Deployment"))


def test_no_namespace_is_the_default_one_except_for_namespaces() -> None:  # EQ-7
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"}}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}

    assert identity_of(role) == identity_of({**role, "metadata": {"name": "r", "namespace": "default"}})
    assert str(identity_of(namespace)) == "/Namespace//n"


def test_the_core_group_has_no_name_in_a_key() -> None:
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "bar", "name": "foo"}}

    assert str(identity_of(config_map)) == "/ConfigMap/bar/foo"
