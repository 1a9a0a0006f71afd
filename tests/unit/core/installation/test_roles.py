"""Permissions become roles: each in the place where it is needed, each resource once."""

from hypothesis import given
from hypothesis import strategies as st

from hedgerow.api.kubernetes import NAMESPACES, NODES, PODS, SECRETS
from hedgerow.installation.permissions import Holder, role_with, roles, rules_by_place
from hedgerow.machinery.clusters import Permission

SUBJECT = {"kind": "ServiceAccount", "name": "grm", "namespace": "garden"}


def holder(*namespaces: str) -> Holder:
    return Holder("grm:garden", SUBJECT, {"app": "grm"}, namespaces)


def test_verbs_on_one_resource_are_one_rule() -> None:
    wanted = [Permission.of(SECRETS, "watch", "list"), Permission.of(SECRETS, "patch"), Permission.of(PODS, "list")]

    assert rules_by_place(wanted) == {
        "": [
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
            {"apiGroups": [""], "resources": ["secrets"], "verbs": ["list", "patch", "watch"]},
        ]
    }


def test_what_concerns_some_objects_widens_nothing_that_concerns_all() -> None:
    wanted = [Permission.of(SECRETS, "list"), Permission.of(SECRETS, "update", names=("own",))]

    assert rules_by_place(wanted)[""] == [
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["list"]},
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["update"], "resourceNames": ["own"]},
    ]


def test_a_restricted_process_gets_roles_in_its_namespaces_and_names_of_namespaces() -> None:
    wanted = [Permission.of(SECRETS, "list"), Permission.of(NAMESPACES, "list"), Permission.of(NODES, "list")]

    rules = rules_by_place(wanted, ("one", "two"))

    secrets = [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["list"]}]
    assert rules == {
        "": [
            {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["list"], "resourceNames": ["one", "two"]},
            {"apiGroups": [""], "resources": ["nodes"], "verbs": ["list"]},
        ],
        "one": secrets,
        "two": secrets,
    }


def test_what_names_its_namespace_is_granted_there_alone() -> None:
    wanted = [Permission.of(SECRETS, "get", namespace="kube-system")]

    assert set(rules_by_place(wanted)) == {"kube-system"}
    assert set(rules_by_place(wanted, ("one",))) == {"kube-system"}


def test_every_role_is_bound_to_its_holder_where_it_is() -> None:
    made = [*roles(holder("one"), [Permission.of(SECRETS, "list"), Permission.of(NODES, "list")])]

    assert [(each["kind"], each["metadata"].get("namespace")) for each in made] == [
        ("ClusterRole", None),
        ("ClusterRoleBinding", None),
        ("Role", "one"),
        ("RoleBinding", "one"),
    ]
    assert {each["roleRef"]["kind"] for each in made if "roleRef" in each} == {"ClusterRole", "Role"}
    assert all(each["subjects"] == [SUBJECT] for each in made if "roleRef" in each)


def test_a_restricted_process_may_do_anything_in_its_namespaces_alone() -> None:
    anything = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]

    role, *bindings = role_with(holder("one", "two"), anything)

    assert role["rules"] == anything
    assert [(each["kind"], each["metadata"]["namespace"]) for each in bindings] == [
        ("RoleBinding", "one"),
        ("RoleBinding", "two"),
    ]


PERMISSIONS = st.builds(
    lambda resource, verbs, names, namespace: Permission.of(resource, *verbs, names=tuple(names), namespace=namespace),
    st.sampled_from([SECRETS, PODS, NAMESPACES, NODES]),
    st.sets(st.sampled_from(["get", "list", "watch"]), min_size=1),
    st.lists(st.sampled_from(["a", "b"]), max_size=1),
    st.sampled_from(["", "kube-system"]),
)


@given(wanted=st.lists(PERMISSIONS), data=st.data())
def test_the_order_of_permissions_does_not_matter(wanted: list[Permission], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(wanted))

    assert rules_by_place(shuffled, ("one",)) == rules_by_place(wanted, ("one",))
