"""What takes long begins first on every worker, and shares its servers."""

from tests.schedule import Place, place_of, scheduled


def placed(*names: str) -> list[tuple[Place, str]]:
    """Tests by their paths; a name with a star is slow."""
    return [(place_of(name.strip("*").split("/"), is_slow="*" in name), name) for name in names]


def rows(order: list[str], workers: int) -> list[list[str]]:
    """What each worker begins with: xdist gives out so many in a row."""
    shares = []
    for left in range(workers, 0, -1):
        share = len(order) // left
        shares.append(order[:share])
        order = order[share:]
    return shares


def test_each_worker_begins_with_what_takes_long_and_ends_with_what_is_quick() -> None:
    quick = [f"unit/test_{number}.py" for number in range(7)]
    names = [*quick, "e2e/test_a.py", "e2e/test_b.py*", "contract/test_c.py", "e2e/test_d.py"]

    first, second = rows(scheduled(placed(*names), 2), 2)

    assert first == ["e2e/test_b.py*", *quick[:4]]
    assert second == ["e2e/test_a.py", "e2e/test_d.py", "contract/test_c.py", *quick[4:]]


def test_tests_that_share_servers_begin_on_one_worker_the_slow_ones_first() -> None:
    names = [f"e2e/managed_resources/test_{number}.py" for number in range(3)]
    slow = "e2e/managed_resources/test_slow.py*"
    others = ["e2e/test_a.py", "e2e/test_a.py", "e2e/test_b.py", "e2e/test_b.py"]

    first, second = rows(scheduled(placed(*names, slow, *others), 2), 2)

    assert first == [slow, *names]
    assert second == others


def test_one_worker_runs_everything_in_a_row_and_nothing_is_lost() -> None:
    names = ["unit/test_a.py", "contract/test_b.py", "e2e/test_c.py", "golden/x/test_d.py", "e2e/test_e.py*"]

    order = scheduled(placed(*names), 1)

    assert order == ["e2e/test_e.py*", "e2e/test_c.py", "contract/test_b.py", "unit/test_a.py", "golden/x/test_d.py"]
    assert sorted(scheduled(placed(*names), 4)) == sorted(names)
