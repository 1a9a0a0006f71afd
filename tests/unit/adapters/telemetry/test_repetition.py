"""What is worth a line and what was said already."""

import tracemalloc

from hedgerow_adapters.telemetry.troubles import PAUSE, REMEMBERED, REMINDER, Repetition


def test_what_goes_on_is_said_once_and_again_as_a_reminder() -> None:
    repetition = Repetition()

    said = [now for now in range(0, 1300, 10) if repetition.is_news("down", now)]

    assert said == [0, REMINDER, 2 * REMINDER]


def test_different_troubles_are_said_each() -> None:
    repetition = Repetition()

    assert [repetition.is_news(trouble, 0) for trouble in (("a", 1), ("a", 2), ("a", 1))] == [True, True, False]


def test_the_end_of_a_trouble_is_told_once_and_only_if_its_last_beginning_was() -> None:
    repetition = Repetition()

    repetition.is_news("down", 0)
    assert repetition.ended("down")
    assert not repetition.ended("down")
    assert not repetition.is_news("down", 1)
    assert not repetition.ended("down"), "nobody has been told that it had begun again"


def test_what_comes_back_is_news_but_not_if_it_comes_and_goes() -> None:
    repetition = Repetition()

    said = []
    for now in range(0, 150, 5):
        said += [now] if repetition.is_news("down", now) else []
        repetition.ended("down")

    assert said == [0, PAUSE, 2 * PAUSE]


def test_the_end_of_what_was_never_a_trouble_is_not_told() -> None:
    assert not Repetition().ended("down")


def test_of_many_troubles_the_oldest_are_forgotten() -> None:
    repetition = Repetition()
    for number in range(REMEMBERED + 1):
        repetition.is_news(number, 0)

    assert [repetition.is_news(number, 1) for number in (REMEMBERED, 1, 0)] == [False, False, True]


def test_long_troubles_are_told_apart_and_not_kept() -> None:
    repetition = Repetition()
    tracemalloc.start()
    try:
        said = [repetition.is_news(("denied", f"{number:0>100000}"), 0) for number in (*range(200), 0)]
        held, _peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert said == [True] * 200 + [False]
    assert held < 1_000_000
