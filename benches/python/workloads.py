"""The workloads: one seeded generator each, so that two runs encode the same values."""

from __future__ import annotations

import json
import string
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Workload:
    """A value to send: `make(rng)` builds it anew from a generator seeded by `seed`."""

    id: str
    title: str
    seed: str
    make: Callable[[Random], object]
    # The value is an array or holds some: contenders install array hooks, array-only contenders join in.
    arrays: bool
    # Needs gigabytes; measured only with --large.
    large: bool

    def build(self) -> object:
        """Return the value. Random seeds itself from text by SHA-512, whatever PYTHONHASHSEED says."""
        return self.make(Random(f"hookless {self.seed}"))


REGISTRY: dict[str, Workload] = {}

Make = Callable[[Random], object]


def workload(
    name: str, title: str, *, seed: str = "", arrays: bool = False, large: bool = False
) -> Callable[[Make], Make]:
    """Register the decorated generator as workload `name`."""

    def add(make: Make) -> Make:
        if name in REGISTRY:
            raise ValueError(f"workload {name} is registered twice")
        REGISTRY[name] = Workload(name, title, seed or name, make, arrays, large)
        return make

    return add


FIRST = (
    "Ana",
    "Bruno",
    "Chloé",
    "Dmitri",
    "Eun-ji",
    "Farid",
    "Grace",
    "Hanna",
    "Ivo",
    "Jürgen",
    "Keiko",
    "Liam",
)
LAST = (
    "Almeida",
    "Berg",
    "Castro",
    "Dubois",
    "Eriksen",
    "Fischer",
    "García",
    "Haddad",
    "Ito",
    "Jansen",
    "Kovács",
)


def _name(rng: Random) -> str:
    return f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def _word(rng: Random, least: int, most: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(rng.choices(alphabet, k=rng.randint(least, most)))


@workload("W1", "small record: dict of 10 mixed scalars")
def small_record(rng: Random) -> object:
    return {
        "id": rng.getrandbits(31),
        "uid": f"{rng.getrandbits(128):032x}",
        "name": "Zoë Müller-Größe",
        "age": 41,
        "score": rng.random(),
        "balance": rng.uniform(-1e6, 1e6),
        "active": True,
        "referrer": None,
        "level": -7,
        "country": "PT",
    }


@workload("W2", "1 000 records with the same 10 keys")
def records(rng: Random) -> object:
    def record(number: int) -> dict[str, object]:
        return {
            "id": number,
            "token": f"{rng.getrandbits(128):032x}",
            "name": _name(rng),
            "email": f"{_word(rng, 4, 10).lower()}@{_word(rng, 4, 8).lower()}.example",
            "age": rng.randint(18, 90),
            "visits": rng.getrandbits(20),
            "score": rng.random(),
            "balance": rng.uniform(-1e5, 1e5),
            "active": rng.random() < 0.7,
            "referrer": None if rng.random() < 0.6 else rng.getrandbits(16),
        }

    return [record(number) for number in range(1000)]


@workload("W3", "10^6 ints: a quarter each of 7, 16, 31 and 62 bits, 5 % negative")
def ints(rng: Random) -> object:
    out = [rng.getrandbits(bits) for bits in (7, 16, 31, 62) for _ in range(250_000)]
    rng.shuffle(out)
    # Anew and in order, as a program that has just computed them would hold them.
    return [-number if rng.random() < 0.05 else number + 0 for number in out]


@workload("W4", "10^6 floats over ten decades")
def floats(rng: Random) -> object:
    return [rng.choice((-1.0, 1.0)) * 10.0 ** rng.uniform(-5.0, 5.0) for _ in range(1_000_000)]


@workload("W5", "200 000 unique strings of 6-16 characters, 5 % non-ASCII, in allocation order")
def strings(rng: Random) -> object:
    foreign = "äéîõüßøåñçžšłαβγδλπБДЖФЯ漢字仮名東京"
    seen: dict[str, None] = {}
    while len(seen) < 200_000:
        text = _word(rng, 6, 16)
        if rng.random() < 0.05:
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice(foreign) + text[at + 1 :]
        seen[text] = None
    # Copied in one go, so that they lie in memory in the order in which they are walked.
    return [text.encode().decode() for text in seen]


@workload("W5r", "the strings of W5, walked in random heap order", seed="W5")
def strings_shuffled(rng: Random) -> object:
    texts = strings(rng)
    assert isinstance(texts, list)
    rng.shuffle(texts)
    return texts


def _scalar(rng: Random) -> object:
    roll = rng.randrange(6)
    if roll < 2:
        return rng.getrandbits(rng.choice((5, 12, 30, 60)))
    if roll == 2:
        return rng.uniform(-1e3, 1e3)
    if roll == 3:
        return _word(rng, 3, 12)
    return None if roll == 4 else rng.random() < 0.5


def _tree(rng: Random, nodes: int, depth: int) -> object:
    """A tree of about `nodes` nodes, at most `depth` containers deep; the first child gets the most."""
    if nodes <= 2 or depth == 0:
        return _scalar(rng)
    if nodes < 12 and rng.random() < 0.15:
        return {rng.getrandbits(24) for _ in range(nodes - 1)}
    if depth == 1:
        children = [_scalar(rng) for _ in range(nodes - 1)]
    else:
        shares = [rng.random() + (1.0 if child == 0 else 0.1) for child in range(rng.randint(2, 5))]
        whole = sum(shares)
        children = [_tree(rng, round((nodes - 1) * share / whole), depth - 1) for share in shares]
    kind = rng.randrange(3)
    if kind == 0:
        return {f"{_word(rng, 3, 9).lower()}{at}": child for at, child in enumerate(children)}
    return children if kind == 1 else tuple(children)


@workload("W6", "nested tree, depth 12, about 50 000 nodes: dict, list, tuple, set of ints, scalars")
def tree(rng: Random) -> object:
    return _tree(rng, 50_000, 12)


def _normal(rng: Random, *shape: int) -> NDArray[np.float64]:
    return np.random.default_rng(rng.getrandbits(64)).standard_normal(shape)


def _normal32(rng: Random, *shape: int) -> NDArray[np.float32]:
    return np.random.default_rng(rng.getrandbits(64)).standard_normal(shape, dtype=np.float32)


@workload("W7", "float64[100]", arrays=True)
def array_small(rng: Random) -> object:
    return _normal(rng, 100)


@workload("W8", "float64 array of 1 MiB", arrays=True)
def array_1_mib(rng: Random) -> object:
    return _normal(rng, MIB // 8)


@workload("W9", "float64 array of 256 MiB", arrays=True, large=True)
def array_256_mib(rng: Random) -> object:
    return _normal(rng, 256 * MIB // 8)


@workload("W10", "dict of 1 000 arrays of 1 KiB", arrays=True)
def many_arrays(rng: Random) -> object:
    return {f"sensor.{at:04d}": _normal(rng, 128) for at in range(1000)}


@workload("W11", "dict of 100 000 random 62-bit int keys")
def int_keys(rng: Random) -> object:
    return {rng.getrandbits(62): at for at in range(100_000)}


KANA = (
    "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをん日本語東京猫"
)


def _status(rng: Random, number: int) -> dict[str, object]:
    """One post with its author, in the shape of Twitter's search API of 2014."""

    def text() -> str:
        return (
            "".join(rng.choices(KANA, k=rng.randint(80, 140))) if rng.random() < 0.95 else _word(rng, 40, 140)
        )

    identity = 505874924095815681 + rng.getrandbits(40)
    author = rng.getrandbits(31)
    return {
        "metadata": {"result_type": "recent", "iso_language_code": "ja"},
        "created_at": f"Sun Aug 31 00:{number % 60:02d}:15 +0000 2014",
        "id": identity,
        "id_str": str(identity),
        "text": text(),
        "source": '<a href="https://client.example/" rel="nofollow">Client</a>',
        "truncated": False,
        "in_reply_to_status_id": None,
        "user": {
            "id": author,
            "id_str": str(author),
            "name": "".join(rng.choices(KANA, k=rng.randint(3, 10))),
            "screen_name": _word(rng, 5, 14),
            "location": "".join(rng.choices(KANA, k=rng.randint(0, 6))),
            "description": text() + text(),
            "url": None,
            "entities": {"description": {"urls": []}},
            "protected": False,
            "followers_count": rng.getrandbits(12),
            "friends_count": rng.getrandbits(10),
            "created_at": "Thu Feb 17 10:10:10 +0000 2011",
            "utc_offset": rng.choice((None, 32400)),
            "verified": False,
            "statuses_count": rng.getrandbits(15),
            "lang": "ja",
            "profile_background_color": f"{rng.getrandbits(24):06X}",
            "profile_image_url": f"https://img.example/profile/{author}/{_word(rng, 8, 8)}_normal.jpeg",
            "default_profile": rng.random() < 0.5,
            "following": False,
        },
        "geo": None,
        "coordinates": None,
        "retweet_count": rng.getrandbits(7),
        "favorite_count": rng.getrandbits(6),
        "entities": {
            "hashtags": [{"text": _word(rng, 4, 9), "indices": [rng.randrange(60), rng.randrange(60, 140)]}],
            "urls": [],
            "user_mentions": [
                {
                    "screen_name": _word(rng, 5, 14),
                    "id": rng.getrandbits(31),
                    "indices": [0, rng.randrange(4, 16)],
                }
                for _ in range(rng.randrange(3))
            ],
        },
        "favorited": False,
        "lang": "ja",
    }


@workload("W12", "a Twitter-like JSON document, about 600 KB, half of it Japanese text")
def twitter(rng: Random) -> object:
    document = {
        "statuses": [_status(rng, number) for number in range(285)],
        "search_metadata": {"completed_in": 0.087, "count": 285, "query": "%E4%B8%80", "since_id": 0},
    }
    # Through JSON, so that strings are shared exactly as far as a parsed document shares them.
    return json.loads(json.dumps(document))


@workload("W13", "float32 64 MiB, transposed (Fortran order)", arrays=True)
def array_transposed(rng: Random) -> object:
    return _normal32(rng, 4096, 4096).T


@workload("W13s", "float32 64 MiB, truly strided (every second column)", arrays=True)
def array_strided(rng: Random) -> object:
    return _normal32(rng, 4096, 8192)[:, ::2]


@workload("C066", "10^6 NumPy int32 scalars in a list; encode is to stay within 3 times that of as many ints")
def numpy_scalars(rng: Random) -> object:
    return [np.int32(number) for number in range(1_000_000)]


@workload("C066i", "the numbers of C066 as ints", seed="C066")
def numpy_scalars_as_ints(rng: Random) -> object:
    return list(range(1_000_000))
