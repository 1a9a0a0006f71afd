"""Until when a serving certificate is valid, on a clock that the tests set."""

from datetime import UTC, datetime, timedelta

from typing_extensions import override

from hedgerow_adapters.admission.validity import NEVER, CertificateObserver, Validity, first_expiry

START = datetime(2026, 1, 1, tzinfo=UTC)


class Heard(CertificateObserver):
    """What was told, with the clock."""

    def __init__(self) -> None:
        self.now = START
        self.read: list[tuple[datetime, timedelta]] = []
        self.expired: list[datetime] = []
        self.problems: list[str] = []

    @override
    def certificate_read(self, not_after: datetime, left: timedelta) -> None:
        self.read.append((not_after, left))

    @override
    def certificate_unreadable(self, problem: str) -> None:
        self.problems.append(problem)

    @override
    def certificate_expired(self, not_after: datetime) -> None:
        self.expired.append(not_after)


def validity() -> tuple[Validity, Heard]:
    heard = Heard()
    return Validity(heard, lambda: heard.now), heard


def test_its_end_is_told_once_and_at_that_very_moment() -> None:
    certificate, heard = validity()
    certificate.begin(START + timedelta(hours=1))
    assert heard.read == [(START + timedelta(hours=1), timedelta(hours=1))]

    heard.now = START + timedelta(minutes=59)
    certificate.look()
    assert (certificate.problem, heard.expired) == (None, [])

    heard.now = START + timedelta(hours=1)
    certificate.look()
    certificate.look()
    assert certificate.problem == "the serving certificate has expired at 2026-01-01T01:00:00Z"
    assert heard.expired == [START + timedelta(hours=1)]


def test_one_that_has_expired_before_it_is_read_is_told_by_that_alone() -> None:
    certificate, heard = validity()
    certificate.begin(START)
    certificate.look()

    assert heard.read == [(START, timedelta(0))]
    assert heard.expired == []
    assert certificate.problem is not None


def test_the_next_one_counts_from_when_it_is_read() -> None:
    certificate, heard = validity()
    certificate.begin(START + timedelta(hours=1))
    heard.now = START + timedelta(hours=2)
    certificate.look()
    certificate.begin(START + timedelta(hours=3))
    certificate.look()

    assert certificate.problem is None
    assert heard.expired == [START + timedelta(hours=1)]


def test_before_the_first_one_nothing_is_wrong_with_it() -> None:
    certificate, heard = validity()
    certificate.look()

    assert (certificate.problem, heard.expired) == (None, [])


def test_of_a_certificate_that_cannot_be_read_no_end_is_known() -> None:
    assert first_expiry(b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n") == NEVER
