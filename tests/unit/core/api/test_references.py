"""What a status remembers of objects."""

from hedgerow.api.references import Reference, in_order, references_in
from hedgerow.machinery.objects import Kind, ObjectKey

CLUSTER_ROLE = Reference(Kind("rbac.authorization.k8s.io/v1", "ClusterRole"), ObjectKey("", "foo"))
CONFIG_MAP = Reference(Kind("v1", "ConfigMap"), ObjectKey("bar", "foo"), {"a": "1"}, {"b": "2"})


def test_what_is_empty_is_not_written() -> None:
    assert CLUSTER_ROLE.in_status() == {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "name": "foo",
    }


def test_what_is_written_is_read_again() -> None:
    written = [CONFIG_MAP.in_status(), CLUSTER_ROLE.in_status()]

    assert references_in({"resources": written}) == (CONFIG_MAP, CLUSTER_ROLE)


def test_messages_name_a_namespace_whatever_the_scope_but_that_of_namespaces() -> None:
    namespace = Reference(Kind("v1", "Namespace"), ObjectKey("", "foo"))

    assert [str(each) for each in (CONFIG_MAP, CLUSTER_ROLE, namespace)] == [
        "v1/ConfigMap/bar/foo",
        "rbac.authorization.k8s.io/v1/ClusterRole/default/foo",
        "v1/Namespace//foo",
    ]


def test_the_order_is_that_of_groups_kinds_namespaces_and_names() -> None:
    deployment = Reference(Kind("apps/v1", "Deployment"), ObjectKey("web", "nginx"))

    assert in_order([CLUSTER_ROLE, deployment, CONFIG_MAP]) == (CONFIG_MAP, deployment, CLUSTER_ROLE)
