"""Answers to short texts are kept; how much is kept cannot be moved from outside."""

from hedgerow.machinery.remembering import LONGEST, MOST, remembered


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

    for number in range(MOST + 1):
        of(f"{number}")
    of("0")

    assert length.asked.count("0") == 2
