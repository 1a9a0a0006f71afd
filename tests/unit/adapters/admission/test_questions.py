"""What a webhook can learn from no cache."""

from hedgerow.admission.resources import PODS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered, ObjectQuestion
from hedgerow_adapters.admission import Questions
from hedgerow_adapters.admission import questions as module
from hedgerow_adapters.protocol.transport import Request, Response, TransportError
from tests.virtual_clock import virtual_time

CART = ObjectQuestion(PODS, ObjectKey("shop", "cart"), Cluster.TARGET)
ALL = ListQuestion(PODS, Cluster.TARGET, "shop", "app=cart")


class Server:
    """Answers in turn, and remembers what it was asked."""

    def __init__(self, *answers: Response | TransportError) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[str, dict[str, str]]] = []

    async def send(self, request: Request, **_limits: object) -> Response:
        self.asked.append((request.path, dict(request.query)))
        answer = self._answers.pop(0)
        if isinstance(answer, TransportError):
            raise answer
        return answer


def asking(server: Server, cluster: Cluster = Cluster.TARGET) -> Questions:
    return Questions({cluster: server})  # type: ignore[dict-item]  # it need not stream


def page(*names: str, more: str = "") -> Response:
    return Response(200, {"items": [{"name": name} for name in names], "metadata": {"continue": more}})


def status(code: int, reason: str) -> Response:
    return Response(code, {"kind": "Status", "code": code, "reason": reason, "message": f"it is {reason}"})


@virtual_time
async def test_an_object_is_found_by_its_key_in_its_cluster() -> None:
    server = Server(Response(200, {"kind": "Pod"}))

    question = ObjectQuestion(PODS, ObjectKey("shop", "cart"), Cluster.SOURCE)
    assert await asking(server, Cluster.SOURCE).ask(question) == Found(({"kind": "Pod"},))
    assert server.asked == [("/api/v1/namespaces/shop/pods/cart", {})]


@virtual_time
async def test_a_list_is_all_of_its_pages() -> None:
    server = Server(page("a", "b", more="on"), page("c"))

    assert await asking(server).ask(ALL) == Found(({"name": "a"}, {"name": "b"}, {"name": "c"}))
    assert server.asked == [
        ("/api/v1/namespaces/shop/pods", {"limit": "500", "labelSelector": "app=cart"}),
        ("/api/v1/namespaces/shop/pods", {"limit": "500", "labelSelector": "app=cart", "continue": "on"}),
    ]


@virtual_time
async def test_a_list_that_expires_between_pages_is_begun_anew_once() -> None:
    expired = status(410, "Expired")

    assert await asking(Server(page("a", more="on"), expired, page("b"))).ask(ALL) == Found(({"name": "b"},))
    assert await asking(Server(expired, expired)).ask(ALL) == NotAnswered(410, "Expired", "it is Expired")


@virtual_time
async def test_a_refusal_and_silence_are_answers_too() -> None:
    assert await asking(Server(status(404, "NotFound"))).ask(CART) == NotAnswered(404, "NotFound", "it is NotFound")
    assert await asking(Server(status(403, "Forbidden"))).ask(ALL) == NotAnswered(403, "Forbidden", "it is Forbidden")
    assert await asking(Server(TransportError("cut off"))).ask(ALL) == NotAnswered(500, "", "cut off")
    assert module.PATIENCE <= 10
