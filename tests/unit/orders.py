"""Orders that things may be in."""

from random import Random
from typing import Final

from hypothesis import strategies as st

ORDERS: Final = st.integers(0, 2**32).map(Random)
"""Sources of randomness to shuffle with: one draw each, where `st.randoms` draws for every question."""
