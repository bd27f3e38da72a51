"""Compiled kernels shared between threads that wait for them in compiled code."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

from tidu.arrays import native, threads
from tidu.arrays.native import address, kernel, share

pytestmark = pytest.mark.skipif(kernel("gelu") is None, reason="llvmlite is not installed")


@pytest.fixture(autouse=True)
def several_threads():
    before = threads.get_num_threads()
    threads.set_num_threads(3)
    yield
    threads.set_num_threads(before)


def halves(x, y, pieces):
    n = x.size // pieces
    return [(address(x) + 4 * i * n, address(y) + 4 * i * n, n) for i in range(pieces)]


def check(pieces, rounds=1):
    x = np.random.default_rng(pieces).standard_normal(pieces * 1000).astype(np.float32)
    whole = np.empty_like(x)
    kernel("gelu")(address(x), address(whole), x.size)
    for _ in range(rounds):
        y = np.full_like(x, np.nan)
        share(kernel("gelu"), halves(x, y, pieces))
        np.testing.assert_array_equal(y, whole)


@pytest.mark.parametrize("pieces", [1, 2, 3, 7, 40])
def test_each_piece_runs_once(pieces):
    check(pieces, 200)


def test_again_after_the_threads_went_to_sleep():
    for _ in range(20):
        check(4)
        time.sleep(0.002)


def test_hushed_threads_come_back():
    for _ in range(200):
        check(4)
        threads.hush()


def test_floats_among_the_arguments():
    x = np.random.default_rng(0).standard_normal((6, 40)).astype(np.float32)
    w, b = np.ones(40, np.float32), np.zeros(40, np.float32)
    out, mean, rstd = np.empty_like(x), np.empty(6, np.float32), np.empty(6, np.float32)
    function = kernel("layer_norm")
    calls = [(*(address(a) for a in (x[i:], w, b, out[i:], mean[i:], rstd[i:])), 2, 40, 0.25) for i in (0, 2, 4)]
    share(function, calls)
    want = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 0.25)
    np.testing.assert_allclose(out, want, rtol=1e-4, atol=1e-5)


def test_from_several_threads_at_once():
    failed = []

    def run():
        try:
            check(5, 100)
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process")
def test_after_a_fork():
    check(4)
    child = os.fork()
    if not child:
        status = 1
        try:
            check(4, 20)
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    check(4)


def test_without_a_team(monkeypatch):
    monkeypatch.setattr(native, "_team", lambda: None)
    check(7, 5)
