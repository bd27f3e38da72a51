"""The stream of random words: marks."""

from __future__ import annotations

import random

import numpy as np

from tidu.arrays.generator import WordStream


def test_going_back_to_a_mark_is_going_back_to_a_state() -> None:
    choose = random.Random(0)

    def peek(s: WordStream) -> None:
        s.peek(choose.choice((1, 700, 5000)))
        s.skip(1)

    moves = [
        lambda s: s.take(choose.choice((1, 5, 624, 2496, 3000, 7000))),
        peek,
        lambda s: s.restart(choose.randrange(9)),
        lambda s: s.load(s.save()),
        lambda s: s.load(WordStream(5).save()),
    ]
    for trial in range(150):
        s = WordStream(trial)
        marks = []
        for _ in range(12):
            r = choose.random()
            if r < 0.3:
                marks.append((s.mark(), s.save()))
            elif r < 0.6 and marks:
                mark, saved = choose.choice(marks)
                s.back(mark)
                other = WordStream(0)
                other.load(saved)
                assert s.seed == other.seed
                here = s.mark()
                np.testing.assert_array_equal(s.take(3000), other.take(3000))
                s.back(here)
                np.testing.assert_array_equal(s.save(), saved)
            else:
                choose.choice(moves)(s)
