"""What a plan or a step holds, and what proves that an object is gone."""

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.machinery.plan import (
    ApiError,
    Create,
    Delete,
    InOrder,
    Plan,
    Update,
    actions_in,
    is_dry_run,
    only_asks,
)
from hedgerow.machinery.questions import ListQuestion, ObjectQuestion, defines_kinds
from hedgerow.machinery.steps import AtOnce, Now

THINGS = Resource("", "v1", "things", "Thing")
KEY = ObjectKey("shop", "cart")
OBJECT = {"metadata": {"namespace": "shop", "name": "cart"}}
CREATION = Create(THINGS, OBJECT, "missing")
DELETION = Delete(THINGS, KEY, "gone")


def test_the_actions_of_a_plan_or_step_are_those_of_all_steps_in_it() -> None:
    assert actions_in(Plan((CREATION, DELETION))) == (CREATION, DELETION)
    assert actions_in(InOrder((DELETION, CREATION))) == (DELETION, CREATION)
    assert actions_in(AtOnce((CREATION, InOrder((DELETION,)), Now()))) == (CREATION, DELETION)
    assert actions_in(DELETION) == (DELETION,)
    assert actions_in(ObjectQuestion(THINGS, KEY, Cluster.TARGET)) == ()


def test_a_plan_counts_its_deletions_and_is_empty_without_actions() -> None:
    assert Plan((CREATION, DELETION, DELETION)).deletions == 2
    assert not Plan((CREATION,)).is_empty
    assert Plan(requeue_after=5).is_empty


def test_a_dry_run_and_a_request_to_a_subresource_change_no_object() -> None:
    dry_run = Update(THINGS, OBJECT, "differs", dry_run=True)
    token = Create(THINGS, OBJECT, "due", subresource="token")

    assert [is_dry_run(each) for each in (dry_run, token, CREATION, DELETION)] == [True, False, False, False]
    assert [only_asks(each) for each in (dry_run, token, CREATION, DELETION)] == [True, True, False, False]


def test_only_a_404_that_says_so_proves_that_an_object_is_gone() -> None:
    assert ApiError(404, "NotFound", "").is_not_found
    assert not ApiError(404, "", "").is_not_found
    assert not ApiError(410, "NotFound", "").is_not_found


def test_a_list_question_asks_for_what_its_namespace_and_selectors_select() -> None:
    question = ListQuestion(THINGS, Cluster.TARGET, "shop", "a=b", "metadata.name=cart")
    wanted = {"metadata": {"namespace": "shop", "name": "cart", "labels": {"a": "b"}}}

    assert question.asks_for(wanted)
    for name, value in (("namespace", "bank"), ("name", "till"), ("labels", {})):
        assert not question.asks_for({"metadata": {**wanted["metadata"], name: value}})


def test_definitions_and_api_services_define_kinds() -> None:
    assert defines_kinds(Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", ""))
    assert defines_kinds(Resource("apiregistration.k8s.io", "v1", "apiservices", ""))
    assert not defines_kinds(Resource("example.com", "v1", "customresourcedefinitions", ""))
