"""What a webhook can learn from no cache."""

import asyncio
from dataclasses import replace

import pytest

from hedgerow.api.kubernetes import NAMESPACES, NODES, PODS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered, ObjectQuestion, Question
from hedgerow_adapters.kubernetes import live_reads as module
from hedgerow_adapters.kubernetes.live_reads import Questions
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response, TransportError
from tests.virtual_clock import virtual_time

CART = ObjectQuestion(PODS, ObjectKey("shop", "cart"), Cluster.TARGET)
ALL = ListQuestion(PODS, Cluster.TARGET, "shop", "app=cart", "status.phase=Running")
QUERY = {"limit": "500", "labelSelector": "app=cart", "fieldSelector": "status.phase=Running"}


class Server:
    """Answers in turn, and remembers what it was asked."""

    def __init__(self, *answers: Response | TransportError) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.accepted: set[str] = set()

    async def send(self, request: Request, **_limits: object) -> Response:
        self.asked.append((request.path, dict(request.query)))
        self.accepted.add(request.accept)
        answer = self._answers.pop(0)
        if isinstance(answer, TransportError):
            raise answer
        return answer


def asking(server: Server, cluster: Cluster = Cluster.TARGET, namespaces: tuple[str, ...] = ()) -> Questions:
    return Questions({cluster: server}, {cluster: namespaces})  # type: ignore[dict-item]  # it need not stream


def page(*names: str, more: str = "") -> Response:
    return Response(200, {"items": [{"name": name} for name in names], "metadata": {"continue": more}})


def showing(question: ObjectQuestion) -> Response:
    return Response(200, {"kind": question.resource.kind, "metadata": question.key._asdict()})


def status(code: int, reason: str, name: str = "") -> Response:
    details = {"name": name} if name else {}
    body = {"kind": "Status", "code": code, "reason": reason, "message": f"it is {reason}", "details": details}
    return Response(code, body)


@virtual_time
async def test_an_object_is_found_by_its_key_in_its_cluster() -> None:
    question = ObjectQuestion(PODS, ObjectKey("shop", "cart"), Cluster.SOURCE)
    server = Server(showing(question))

    assert await asking(server, Cluster.SOURCE).ask(question) == Found((showing(question).body,))
    assert server.asked == [("/api/v1/namespaces/shop/pods/cart", {})]


@pytest.mark.parametrize("body", ["<html>", {}, {"status": "ok"}, [], {"metadata": {"name": "other"}}], ids=str)
@virtual_time
async def test_a_success_that_does_not_show_the_object_is_no_answer(body: object) -> None:
    answer = await asking(Server(Response(200, body))).ask(CART)

    assert answer == NotAnswered(500, "", "the answer is not Pod shop/cart")
    assert answer.is_unreachable


@pytest.mark.parametrize("body", ["<html>", {}, {"status": "ok"}, [], {"items": "none"}, {"items": ["cart"]}], ids=str)
@virtual_time
async def test_a_success_that_shows_no_list_is_no_empty_list(body: object) -> None:
    answer = await asking(Server(Response(200, body))).ask(ALL)

    assert answer == NotAnswered(500, "", "the answer to a list that is no list")
    assert answer.is_unreachable


@virtual_time
async def test_a_list_is_all_of_its_pages() -> None:
    server = Server(page("a", "b", more="on"), page("c"))

    assert await asking(server).ask(ALL) == Found(({"name": "a"}, {"name": "b"}, {"name": "c"}))
    assert server.asked == [
        ("/api/v1/namespaces/shop/pods", QUERY),
        ("/api/v1/namespaces/shop/pods", QUERY | {"continue": "on"}),
    ]


def only_b(manifest: Manifest) -> Manifest | None:
    return {"kept": manifest["name"]} if manifest["name"] == "b" else None


@virtual_time
async def test_of_a_list_only_that_is_held_which_the_decision_reads() -> None:
    server = Server(page("a", "b", more="on"), page("c"))

    assert await asking(server).ask(replace(ALL, keep=only_b)) == Found(({"kept": "b"},))


@virtual_time
async def test_a_list_that_expires_between_pages_is_begun_anew_twice() -> None:
    expired = status(410, "Expired")

    assert await asking(Server(page("a", more="on"), expired, page("b"))).ask(ALL) == Found(({"name": "b"},))
    assert await asking(Server(expired, expired, expired)).ask(ALL) == NotAnswered(410, "Expired", "it is Expired")


@virtual_time
async def test_a_refusal_and_silence_are_answers_too() -> None:
    gone = Server(status(404, "NotFound", "cart"))
    assert await asking(gone).ask(CART) == NotAnswered(404, "NotFound", "it is NotFound")
    assert await asking(Server(status(403, "Forbidden"))).ask(ALL) == NotAnswered(403, "Forbidden", "it is Forbidden")
    assert await asking(Server(TransportError("cut off"))).ask(ALL) == NotAnswered(500, "", "cut off")
    assert module.PATIENCE <= 10


@pytest.mark.parametrize(
    "answer",
    [Response(404, "404 page not found"), status(404, "NotFound"), status(404, "NotFound", "shop"), status(404, "")],
    ids=["gateway", "nameless", "another object", "no reason"],
)
@pytest.mark.parametrize("question", [CART, ALL], ids=["object", "list"])
@virtual_time
async def test_a_404_that_does_not_name_the_object_is_no_absence(answer: Response, question: Question) -> None:
    documents = Response(404, "404 page not found")

    answered = await asking(Server(answer, documents, documents)).ask(question)

    assert isinstance(answered, NotAnswered)
    assert answered.code == 404
    assert not answered.is_not_found


@virtual_time
async def test_a_resource_is_absent_if_discovery_lacks_it() -> None:
    widgets = Resource("example.com", "v1", "widgets", "Widget")
    document = Response(200, {"groupVersion": "example.com/v1", "resources": []})

    answered = await asking(Server(status(404, "NotFound"), document)).ask(ListQuestion(widgets, Cluster.TARGET))

    assert answered == NotAnswered(404, "NoMatch", 'no matches for kind "Widget" in version "example.com/v1"')


@virtual_time
async def test_a_list_is_asked_for_no_more_than_is_read_of_it() -> None:
    whole, metadata = Server(page("a")), Server(page("a"))

    await asking(whole).ask(ALL)
    await asking(metadata).ask(replace(ALL, metadata_only=True))

    assert (whole.accepted, metadata.accepted) == ({"application/json"}, {requests.METADATA_LIST})


@virtual_time
async def test_nobody_is_asked_about_a_key_that_no_object_can_have() -> None:
    server = Server()

    answer = await asking(server).ask(replace(CART, key=ObjectKey("shop/services/http:victim:80/proxy", "admin")))

    assert isinstance(answer, NotAnswered)
    assert (answer.code, answer.reason, server.asked) == (400, "BadRequest", [])


OUT_OF_SIGHT = 'Namespace "store" is not among those that this process is configured to see'


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        (ObjectQuestion(PODS, ObjectKey("store", "cart"), Cluster.TARGET), OUT_OF_SIGHT),
        (ObjectQuestion(NAMESPACES, ObjectKey("", "store"), Cluster.TARGET), OUT_OF_SIGHT),
        (ListQuestion(PODS, Cluster.TARGET, "store"), OUT_OF_SIGHT),
        (
            ListQuestion(PODS, Cluster.TARGET),
            "not all Namespaces are among those that this process is configured to see",
        ),
        (
            ListQuestion(NAMESPACES, Cluster.TARGET),
            "not all Namespaces are among those that this process is configured to see",
        ),
    ],
)
@virtual_time
async def test_nobody_is_asked_about_what_is_out_of_sight(question: Question, problem: str) -> None:
    server = Server()

    assert await asking(server, namespaces=("garden", "shop")).ask(question) == NotAnswered(500, "OutOfSight", problem)
    assert server.asked == []


@virtual_time
async def test_an_object_is_asked_for_beyond_what_is_seen_where_that_is_wanted_and_a_list_is_not() -> None:
    elsewhere = replace(CART, key=ObjectKey("store", "cart"))
    server = Server(showing(elsewhere))
    beyond = Questions({Cluster.TARGET: server}, {Cluster.TARGET: ("shop",)}, beyond=True)  # type: ignore[dict-item]  # it need not stream

    assert await beyond.ask(elsewhere) == Found((showing(elsewhere).body,))
    assert isinstance(await beyond.ask(replace(ALL, namespace="store")), NotAnswered)


class SlowServer:
    """Takes a second for each answer, however many it is asked for at a time."""

    def __init__(self) -> None:
        self.busy = self.most = 0

    async def send(self, request: Request, **_limits: object) -> Response:
        self.busy += 1
        self.most = max(self.most, self.busy)
        try:
            await asyncio.sleep(1)
        finally:
            self.busy -= 1
        return Response(200, {"metadata": {"namespace": "shop", "name": request.path.rpartition("/")[2]}, "items": []})


def some(count: int, first: int = 0) -> list[ObjectQuestion]:
    return [replace(CART, key=ObjectKey("shop", f"cart-{number}")) for number in range(first, first + count)]


@virtual_time
async def test_no_more_questions_are_under_way_than_there_are_places_whoever_asks() -> None:
    server, places = SlowServer(), asyncio.Semaphore(2)
    one, other = (Questions({Cluster.TARGET: server}, patience=60, places=places) for _ in range(2))  # type: ignore[dict-item]  # as above

    await asyncio.gather(*map(one.ask, some(4)), *map(other.ask, some(4, 4)))

    assert server.most == 2


@virtual_time
async def test_one_list_that_is_too_large_to_be_held_is_read_at_a_time() -> None:
    server = SlowServer()
    questions = Questions({Cluster.TARGET: server}, patience=3.5)  # type: ignore[dict-item]  # as above
    large = replace(ALL, keep=only_b)

    answers = await asyncio.gather(*(questions.ask(large) for _ in range(5)))

    assert server.most == 1
    assert [isinstance(answer, Found) for answer in answers] == [True, True, True, False, False]
    assert answers[4] == NotAnswered(500, "", "waited behind other questions for 3.5 s")
    assert await asyncio.gather(*map(questions.ask, (large, ALL))) == [Found(()), Found(())]
    assert server.most == 2, "others do not wait behind it"


@virtual_time
async def test_who_gets_no_place_in_time_is_told_that_nothing_is_known() -> None:
    asking_slowly = Questions({Cluster.TARGET: SlowServer()}, patience=2.5, places=asyncio.Semaphore(1))  # type: ignore[dict-item]  # as above

    answers = await asyncio.gather(*map(asking_slowly.ask, some(4)))

    assert [isinstance(answer, Found) for answer in answers] == [True, True, True, False]
    assert isinstance(answers[3], NotAnswered)
    assert answers[3].is_unreachable
    assert not NotAnswered(500, "InternalError", "etcd is away").is_unreachable


@pytest.mark.parametrize(
    "question",
    [
        CART,
        ALL,
        ObjectQuestion(NAMESPACES, ObjectKey("", "shop"), Cluster.TARGET),
        ListQuestion(NODES, Cluster.TARGET),
    ],
)
@virtual_time
async def test_what_is_in_sight_is_asked_for(question: Question) -> None:
    server = Server(showing(question) if isinstance(question, ObjectQuestion) else page("a"))

    assert isinstance(await asking(server, namespaces=("garden", "shop")).ask(question), Found)


class LongList(Server):
    """Takes four seconds for each page of a list."""

    async def send(self, request: Request, **limits: object) -> Response:
        await asyncio.sleep(4)
        return await super().send(request, **limits)


@virtual_time
async def test_who_is_in_a_hurry_is_told_in_time_that_a_list_goes_on() -> None:
    pages = [page("a", more="1"), page("b", more="2"), page("c")]

    answer = await asking(LongList(*pages)).ask(ALL)

    assert answer == NotAnswered(500, "", "the list of pods did not come to its end within 10 s")
    assert asyncio.get_running_loop().time() == 10.0


@virtual_time
async def test_who_is_in_no_hurry_gets_a_list_that_takes_its_time() -> None:
    server = LongList(page("a", more="1"), page("b", more="2"), page("c"))
    questions = Questions({Cluster.TARGET: server}, hurried=False)  # type: ignore[dict-item]  # it need not stream

    answer = await questions.ask(ALL)

    assert answer == Found(({"name": "a"}, {"name": "b"}, {"name": "c"}))
