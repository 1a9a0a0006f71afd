"""What is said of an address that cannot be listened on; nothing is listened on here."""

import errno

import pytest

from hedgerow_adapters.listening.accepting import Listener, ListenError, explained


@pytest.mark.parametrize("port", [-1, 65536, 99999])
def test_a_port_that_there_is_not_is_refused_before_anybody_could_take_it_for_another(port: int) -> None:
    tried = []
    with (
        pytest.raises(ListenError, match=rf"^server\.metrics\.port: {port} is no port, which are 0 to 65535$"),
        explained("metrics", Listener("", port, "server.metrics")),
    ):
        tried.append(port)

    assert tried == []


UNKNOWN = "Name or service not known (while attempting to bind on address ('no address', 8081))"


@pytest.mark.parametrize(
    ("error", "reason", "field"),
    [
        (OSError(errno.EADDRINUSE, "taken"), "address already in use", "port"),
        (OSError(-2, UNKNOWN), "Name or service not known", "bindAddress"),
        (UnicodeError("label too long"), "'no address' is no address", "bindAddress"),
    ],
    ids=["in use", "unknown name", "no name"],
)
def test_an_address_is_told_with_the_section_that_asks_for_it(error: Exception, reason: str, field: str) -> None:
    sentence = f"server.healthProbes: cannot listen on no address:8081 for health probes: {reason}"

    with (
        pytest.raises(ListenError) as refused,
        explained("health probes", Listener("no address", 8081, "server.healthProbes")),
    ):
        raise error

    assert (str(refused.value), refused.value.field) == (sentence, f"server.healthProbes.{field}")
