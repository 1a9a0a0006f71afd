"""Who has to go when there are too many connections."""

import math
from dataclasses import dataclass, field

from hedgerow_adapters.listening.connections import Connections


@dataclass(eq=False)
class Guest:
    """A connection, and whether it was closed."""

    name: str
    gone: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    deadline: float = math.inf

    def abort(self) -> None:
        self.gone.append(self.name)

    def refuse(self) -> None:
        self.refused.append(self.name)


class Guests:
    def __init__(self, *, held: int = 2**20) -> None:
        self.gone: list[str] = []
        self.refused: list[str] = []
        self.connections = Connections(4, held)

    def unproven(self, name: str) -> Guest:
        guest = Guest(name, self.gone, self.refused)
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
    guests = Guests(held=100)
    oldest, latest = guests.unproven("oldest"), guests.unproven("latest")
    guests.connections.holds(oldest, 40)
    guests.connections.holds(latest, 47)
    assert guests.refused == []

    guests.connections.holds(latest, 1)

    assert guests.refused == ["oldest"]


def test_a_request_counts_until_its_answer_is_sent_and_the_next_one_is_refused_until_then() -> None:
    guests = Guests(held=100)
    answered, waiting, late = guests.unproven("answered"), guests.unproven("waiting"), guests.unproven("late")
    guests.connections.holds(answered, 80)
    guests.connections.begins(answered)
    guests.connections.holds(waiting, 40)
    guests.connections.rests(answered)
    guests.connections.holds(waiting, 40)
    assert guests.refused == ["waiting", "waiting"]

    guests.connections.answered(answered)
    guests.connections.holds(late, 80)

    assert guests.refused == ["waiting", "waiting"]


def test_small_requests_have_room_beside_large_ones_that_take_long() -> None:
    guests = Guests(held=6400)
    large, small, larger = guests.unproven("large"), guests.unproven("small"), guests.unproven("larger")
    guests.connections.holds(large, 5600)
    guests.connections.begins(large)

    guests.connections.holds(small, 100)
    guests.connections.holds(larger, 101)

    assert guests.refused == ["larger"]


def test_a_large_request_is_refused_for_a_small_one_and_not_the_other_way_round() -> None:
    guests = Guests(held=6400)
    small, large, latest = guests.unproven("small"), guests.unproven("large"), guests.unproven("latest")
    guests.connections.holds(small, 100)
    guests.connections.holds(large, 5500)

    guests.connections.holds(latest, 1000)

    assert guests.refused == ["large"]


def test_a_connection_that_is_lost_holds_nothing_more() -> None:
    guests = Guests(held=100)
    for name in ("arriving", "arrived"):
        lost = guests.unproven(name)
        guests.connections.holds(lost, 80)
        if name == "arrived":
            guests.connections.begins(lost)
        guests.connections.closed(lost)
    guests.connections.holds(guests.unproven("next"), 80)

    assert guests.refused == []
