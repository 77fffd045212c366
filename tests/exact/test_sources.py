import copy
import multiprocessing
import os
import pickle
import threading

import numpy as np
import pytest
from scipy.stats import chi2

from leastnoise.errors import BadParameter, InsecureSource
from leastnoise.exact import SeededSource, SystemSource, discrete_laplace, require_secure, sources, system_source
from support.statistics import ALPHA


def _noise(_=None):
    return discrete_laplace(1000, size=8).tolist()


def _noise_into(pipe):
    pipe.send((_noise(), _noise()))


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_words_have_the_asked_width_and_number(bits):
    words = system_source.words(1000, bits)
    assert words.dtype == np.dtype(f"<u{bits // 8}")
    assert len(words) == 1000
    assert len(system_source.words(0, bits)) == 0


@pytest.mark.parametrize("source", [SystemSource(), SeededSource(3)])
def test_bytes_are_uniform(source):
    counts = np.bincount(source.words(1 << 20, 8), minlength=256)
    statistic = ((counts - 4096.0) ** 2 / 4096.0).sum()
    assert ALPHA / 2 < chi2.sf(statistic, 255) < 1 - ALPHA / 2


@pytest.mark.slow
def test_a_request_longer_than_one_chunk_is_filled():
    words = system_source.words(1 << 20, 64)
    assert len(np.unique(words)) == len(words)  # a repeat has probability below 2^-25


def test_bits_are_the_leading_bits_of_the_stream():
    whole = SeededSource(5).bits(16)
    assert SeededSource(5).bits(13) == whole >> 3
    assert 0 <= system_source.bits(3) < 8


def test_a_seed_repeats_and_another_differs():
    assert SeededSource(1).bits(256) == SeededSource(1).bits(256) != SeededSource(2).bits(256)
    with pytest.raises(BadParameter, match="seed"):
        SeededSource("pi")


@pytest.mark.slow
def test_forked_children_share_no_noise_with_each_other_or_their_parent():
    system_source.words(1, 8)  # so that there is a key to inherit
    seen = []
    for _ in range(4):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, repr(_noise()).encode())
            os._exit(0)
        os.waitpid(child, 0)
        os.close(writer)
        with os.fdopen(reader) as answer:
            seen.append(answer.read())
    seen.append(repr(_noise()))
    assert len(set(seen)) == 5


def test_grandchildren_share_no_noise_even_if_the_process_id_comes_back(monkeypatch):
    monkeypatch.setattr(os, "getpid", lambda: 4711)
    before = system_source.words(4, 64).tolist()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, repr(system_source.words(4, 64).tolist()).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        inherited = answer.read()
    assert inherited != repr(system_source.words(4, 64).tolist())
    assert inherited != repr(before)


def test_a_fork_that_python_was_not_told_of_is_noticed_by_its_process_id(monkeypatch):
    fresh = SystemSource()
    fresh.words(1, 8)
    stream = fresh._local.stream
    monkeypatch.setattr(os, "getpid", lambda: -1)
    fresh.words(1, 8)
    assert fresh._local.stream is not stream


def test_a_key_is_replaced_after_its_share_of_bytes(monkeypatch):
    monkeypatch.setattr(sources, "_BYTES_PER_KEY", 64)
    fresh = SystemSource()
    fresh.words(8, 64)
    stream = fresh._local.stream
    fresh.words(1, 8)
    assert fresh._local.stream is not stream


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_multiprocessing_children_share_no_noise(method):
    context = multiprocessing.get_context(method)
    with context.Pool(4) as pool:
        drawn = [tuple(noise) for noise in pool.map(_noise, range(16), chunksize=1)]
    drawn.append(tuple(_noise()))
    assert len(set(drawn)) == len(drawn)


def test_threads_share_no_noise():
    drawn, barrier = [], threading.Barrier(8)

    def work():
        barrier.wait()
        drawn.extend(tuple(_noise()) for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(drawn)) == len(drawn) == 400


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])  # noqa: S301
def test_a_copied_source_does_not_replay(again):
    original = SystemSource()
    original.words(1, 8)
    assert again(original).bits(128) != original.bits(128)


def test_a_global_seed_changes_nothing():
    np.random.seed(0)  # noqa: NPY002
    first = _noise()
    np.random.seed(0)  # noqa: NPY002
    assert _noise() != first


def test_only_the_system_source_may_release():
    class Disguised(SystemSource):
        def words(self, count, bits):
            return np.zeros(count, dtype=f"<u{bits // 8}")

    assert require_secure(None) is system_source
    assert require_secure(system_source) is system_source
    for source in (SeededSource(1), Disguised()):
        with pytest.raises(InsecureSource, match="unpredictable"):
            require_secure(source)
