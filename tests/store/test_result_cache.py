"""Results are kept in one private file; one that cannot be used counts as empty."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from store.states import mode

from compactctl.store import cache
from compactctl.store.cache import CacheState, ResultCache, cache_path, cache_state, clear_cache
from compactctl.store.client_folders import UserEnvironment

KEYS = [bytes([number]) for number in range(4)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "compactctl" / "results.sqlite3"


def filled(path: Path) -> None:
    with ResultCache(path) as results:
        for key in KEYS:
            results.put(key, f"value {key[0]}")


def found(path: Path, keys: list[bytes] = KEYS) -> dict[bytes, str]:
    with ResultCache(path) as results:
        return results.get_many(keys)


def test_the_file_is_where_the_specification_says() -> None:
    home = Path("/home/me")
    usual = home / ".cache" / "compactctl" / "results.sqlite3"
    for environ, expected in (
        ({}, usual),
        ({"XDG_CACHE_HOME": "relative"}, usual),
        ({"XDG_CACHE_HOME": "/own"}, Path("/own/compactctl/results.sqlite3")),
    ):
        assert cache_path(UserEnvironment(home=home, environ=environ)) == expected


def test_what_is_put_is_found_by_the_next_process_and_only_by_its_user(path: Path) -> None:
    filled(path)
    assert found(path, [*KEYS[1:3], b"other"]) == {KEYS[1]: "value 1", KEYS[2]: "value 2"}
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    assert found(path, []) == {}


def test_more_keys_than_a_query_takes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_BATCH_SIZE", 2)
    filled(path)
    assert len(found(path, [*KEYS, b"other"])) == 4


def test_a_value_is_there_before_the_cache_is_closed_and_replaced_by_a_newer_one(
    path: Path,
) -> None:
    with ResultCache(path) as results:
        results.put(b"a", "old")
        assert found(path, [b"a"]) == {b"a": "old"}
        results.put(b"a", "new")
    assert found(path, [b"a"]) == {b"a": "new"}


def test_the_least_recently_used_go_when_there_are_too_many_and_no_others(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A day passes between two calls: a use is noted to the hour.
    clock = iter(range(0, 100 * 86_400, 86_400))
    monkeypatch.setattr("compactctl.store.cache.time.time", lambda: next(clock))
    monkeypatch.setattr(cache, "MAX_ROWS", 4)
    filled(path)
    assert cache_state(path).results == 4
    with ResultCache(path) as results:
        results.get_many(KEYS[:1])
        results.put(b"new", "value")
    assert found(path, [*KEYS, b"new"]).keys() == {KEYS[0], *KEYS[2:], b"new"}


def test_a_result_that_was_just_used_is_not_written_again(path: Path) -> None:
    filled(path)
    with closing(sqlite3.connect(path)) as connection:
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        assert len(found(path)) == 4
        assert connection.execute("PRAGMA data_version").fetchone() == (version,)


@pytest.mark.parametrize("folder", ["a link", "writable by others"])
def test_a_folder_that_others_may_change_is_refused(folder: str, path: Path) -> None:
    path.parent.parent.mkdir()
    if folder == "a link":
        (path.parent.parent / "elsewhere").mkdir()
        path.parent.symlink_to("elsewhere")
    else:
        path.parent.mkdir()
        path.parent.chmod(0o777)
    filled(path)
    with ResultCache(path) as results:
        assert results.get_many(KEYS) == {}
        reason = "is a link" if folder == "a link" else "other users may write to it"
        assert results.problem.startswith(f"{path.parent}: {reason}, so nothing is cached")
    assert not path.exists()


def test_the_state_is_told_and_cleared(path: Path) -> None:
    assert cache_state(path) == CacheState(path=path, n_bytes=0, results=0)
    clear_cache(path)
    filled(path)
    assert cache_state(path) == CacheState(path=path, n_bytes=path.stat().st_size, results=4)
    with ResultCache(path) as results:
        results.put(b"a", "value")
        beside = [path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm")]
        assert all(file.exists() for file in beside)
        size = sum(file.stat().st_size for file in (path, *beside))
        assert cache_state(path).n_bytes == size
    beside[0].touch()
    clear_cache(path)
    assert list(path.parent.iterdir()) == []


def test_a_file_that_is_no_database_is_replaced(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no database " * 99)
    assert cache_state(path) == CacheState(path=path, n_bytes=0, results=0)
    filled(path)
    assert len(found(path)) == 4


def test_results_of_another_version_are_dropped(path: Path) -> None:
    filled(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
        connection.execute("PRAGMA user_version = 3")
    assert found(path) == {}
    filled(path)
    assert len(found(path)) == 4


@pytest.mark.parametrize("makes", ["folder", "link"])
def test_without_a_file_nothing_is_found_and_nothing_fails(path: Path, makes: str) -> None:
    path.parent.mkdir(parents=True)
    if makes == "folder":
        path.mkdir()
    else:
        path.symlink_to("elsewhere")
    filled(path)
    assert found(path) == {}
    assert not (path.parent / "elsewhere").exists()


def test_a_value_that_is_not_text_is_not_found(path: Path) -> None:
    filled(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE result SET value = 7 WHERE key = ?", (KEYS[0],))
        connection.execute("UPDATE result SET value = X'00' WHERE key = ?", (KEYS[1],))
    assert found(path).keys() == {*KEYS[2:], KEYS[0]}
