"""The certificate of a server whose pairs come from within its process."""

import asyncio
from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hedgerow.admission.certificates import (
    Issue,
    certificate_authority,
    certificate_for,
    certificate_pem,
    key_pem,
)
from hedgerow.admission.provisioning import MakeKeys, NewKey, Replica, ReplicaQuestion, ReportTrust, Serve
from hedgerow.machinery.steps import Now
from hedgerow_adapters.admission.provisioned import LONGEST, ProvisionedCertificate, provisioning_steps
from tests.unit.adapters.admission.test_validity import Heard


def new_keys(count: int) -> tuple[NewKey, ...]:
    perform = provisioning_steps(ProvisionedCertificate(Heard()), lambda: True)
    made: tuple[NewKey, ...] = asyncio.run(_awaited(perform(MakeKeys(count))))
    return made


async def _awaited(reply: Awaitable[Any]) -> Any:
    return await reply


def pair() -> tuple[bytes, bytes]:
    """A serving pair for an hour."""
    authority_key, own = new_keys(2)
    now = datetime.now(UTC)
    issue = Issue(7, now - timedelta(minutes=1), now + timedelta(hours=1))
    authority = certificate_authority(authority_key.key, issue)
    certificate = certificate_for(("server", "10.0.0.1"), own.key.public_key(), authority, issue)
    return certificate_pem(certificate), key_pem(own.key)


def test_before_the_first_pair_nobody_is_ready() -> None:
    certificate = ProvisionedCertificate(Heard())

    assert certificate.served is None
    assert certificate.problem == "the serving certificate is not made yet"


def test_a_pair_is_shown_from_now_on() -> None:
    heard = Heard()
    certificate, (chain, key) = ProvisionedCertificate(heard), pair()
    before = certificate.context

    assert certificate.serve(chain, key) is None

    assert (certificate.served, certificate.problem) == (chain, None)
    assert certificate.context is not before
    assert len(heard.read) == 1


@pytest.mark.parametrize("bad", [b"rubbish", b"", b"x" * (LONGEST + 1)], ids=["rubbish", "empty", "long"])
def test_a_pair_that_cannot_be_used_leaves_the_last_one(bad: bytes) -> None:
    certificate, (chain, key) = ProvisionedCertificate(Heard()), pair()
    certificate.serve(chain, key)
    used = certificate.context

    assert certificate.serve(bad, key) is not None
    assert certificate.serve(chain, bad) is not None
    assert certificate.serve(chain, pair()[1]) == "certificate and key cannot be used, or not together"

    assert (certificate.served, certificate.context) == (chain, used)


def test_a_pair_that_api_servers_do_not_trust_keeps_it_from_being_ready() -> None:
    certificate = ProvisionedCertificate(Heard())
    perform = provisioning_steps(certificate, lambda: True)
    for problem in ("a registration does not trust it", None):
        asyncio.run(_awaited(perform(ReportTrust(problem))))
        certificate.serve(*pair())

        assert certificate.problem == problem


def test_steps_of_others_are_not_performed() -> None:
    certificate, (chain, key) = ProvisionedCertificate(Heard()), pair()
    perform = provisioning_steps(certificate, lambda: False)

    async def replies() -> list[object]:
        return [await perform(ReplicaQuestion()), await perform(Serve(chain, key)), await perform(ReplicaQuestion())]

    assert asyncio.run(replies()) == [Replica(None, leads=False), None, Replica(chain, leads=False)]
    with pytest.raises(TypeError, match="does not perform Now"):
        asyncio.run(_awaited(perform(Now())))


def test_once_the_authorities_of_clients_can_be_read_again_the_observer_hears_of_it(tmp_path: Path) -> None:
    heard, authorities = Heard(), tmp_path / "ca.crt"
    chain, key = pair()
    authorities.write_bytes(chain)
    certificate = ProvisionedCertificate(heard, client_authorities=authorities, period=0)
    certificate.serve(chain, key)

    async def replace_twice() -> None:
        async with asyncio.timeout(60):
            watching = asyncio.ensure_future(certificate.watch())
            authorities.write_bytes(b"rubbish")
            while not heard.problems:  # noqa: ASYNC110 -- the watch polls, and tells nobody when
                await asyncio.sleep(0)
            authorities.write_bytes(chain)
            while len(heard.read) < 2:  # noqa: ASYNC110 -- as above
                await asyncio.sleep(0)
            watching.cancel()

    asyncio.run(replace_twice())

    assert heard.problems == [f"{authorities} holds no certificate in PEM"]
