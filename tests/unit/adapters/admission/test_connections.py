"""Who has to go when there are too many connections."""

import math
from dataclasses import dataclass, field

from hedgerow_adapters.admission.connections import Connections
from hedgerow_adapters.admission.limits import Limits


@dataclass(eq=False)
class Guest:
    """A connection, and whether it was closed."""

    name: str
    gone: list[str] = field(default_factory=list)
    deadline: float = math.inf

    def abort(self) -> None:
        self.gone.append(self.name)


class Guests:
    def __init__(self, limits: Limits = Limits(connections=4)) -> None:  # noqa: B008 -- immutable
        self.gone: list[str] = []
        self.connections = Connections(limits)

    def unproven(self, name: str) -> Guest:
        guest = Guest(name, self.gone)
        self.connections.opened(guest)
        return guest

    def busy(self, name: str) -> Guest:
        guest = self.unproven(name)
        self.connections.begins(guest)
        return guest

    def quiet(self, name: str) -> Guest:
        guest = self.busy(name)
        self.connections.rests(guest)
        return guest


def test_those_go_first_that_brought_nothing_then_those_that_are_quiet_longest() -> None:
    guests = Guests()
    guests.quiet("quiet")
    guests.unproven("first")
    guests.quiet("quieter")
    guests.unproven("second")
    assert guests.connections.are_full

    while guests.connections.close_idlest():
        pass

    assert guests.gone == ["first", "second", "quiet", "quieter"]
    assert len(guests.connections) == 0


def test_a_review_under_way_is_never_given_up_for_a_new_connection() -> None:
    guests = Guests()
    for name in "abcd":
        guests.busy(name)

    assert guests.connections.are_full
    assert not guests.connections.close_idlest()
    assert guests.gone == []


def test_each_request_makes_a_connection_the_last_one_to_go() -> None:
    guests = Guests()
    first, _ = guests.quiet("first"), guests.quiet("second")
    guests.connections.begins(first)
    guests.connections.rests(first)

    guests.connections.close_idlest()

    assert guests.gone == ["second"]


def test_a_connection_that_is_lost_while_it_is_busy_does_not_come_back() -> None:
    guests = Guests()
    lost = guests.busy("lost")

    guests.connections.closed(lost)
    guests.connections.rests(lost)

    assert len(guests.connections) == 0
    assert not guests.connections.are_busy


def test_whatever_a_connection_does_it_goes_when_its_time_is_up() -> None:
    guests = Guests()
    for each in (guests.unproven("unproven"), guests.quiet("quiet"), guests.busy("busy")):
        each.deadline = 10
    guests.quiet("in time").deadline = 11

    assert guests.connections.close_overdue(10) == 0
    assert guests.connections.close_overdue(10.5) == 3
    assert guests.gone == ["unproven", "quiet", "busy"]
    assert len(guests.connections) == 1


def test_of_requests_that_do_not_end_the_oldest_makes_room_for_the_others() -> None:
    guests = Guests(Limits(unfinished=100))
    oldest, complete, latest = guests.unproven("oldest"), guests.unproven("complete"), guests.unproven("latest")
    guests.connections.holds(oldest, 40)
    guests.connections.holds(complete, 60)
    guests.connections.begins(complete)
    guests.connections.holds(latest, 60)
    assert guests.gone == []

    guests.connections.holds(latest, 1)

    assert guests.gone == ["oldest"]
