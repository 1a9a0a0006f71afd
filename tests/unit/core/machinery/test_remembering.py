"""Answers to short texts and to the latest list are kept; how much is kept cannot be moved from outside."""

from collections.abc import Sequence

from hedgerow.machinery.remembering import LONGEST, latest_remembered, remembered, shared_text


class Length:
    """How long a text is, and which texts were asked about."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def of(self, text: str) -> int:
        self.asked.append(text)
        return len(text)


def test_a_short_text_is_answered_once() -> None:
    length = Length()
    of = remembered(length.of)

    assert [of("a"), of("a"), of("bb")] == [1, 1, 2]
    assert length.asked == ["a", "bb"]


def test_a_long_text_is_not_kept() -> None:
    length = Length()
    of = remembered(length.of)
    text = "x" * (LONGEST + 1)

    assert of(text) == of(text) == LONGEST + 1
    assert length.asked == [text, text]


def test_the_oldest_answers_are_forgotten() -> None:
    length = Length()
    of = remembered(length.of)

    for number in range(2049):
        of(f"{number}")
    of("0")

    assert length.asked.count("0") == 2


def test_equal_short_texts_are_held_once() -> None:
    one, other = (f"namespace-{number}" for number in (1, 1))

    assert one is not other
    assert shared_text(one) is shared_text(other)


def test_the_answer_to_the_latest_list_is_kept() -> None:
    asked: list[list[int]] = []

    def total(numbers: Sequence[int]) -> int:
        asked.append([*numbers])
        return sum(numbers)

    of = latest_remembered(total)

    assert [of([1, 2]), of([1, 2]), of([2, 2]), of([1, 2]), of([])] == [3, 3, 4, 3, 0]
    assert asked == [[1, 2], [2, 2], [1, 2], []]
