"""Objects of S3, Google Cloud Storage and Azure Blob Storage, named by URLs: s3://bucket/key."""

import hashlib
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from compactctl.errors import ChangedError, CompactctlError, NoInputError, UsageError
from compactctl.extras import install_command
from compactctl.records import Record
from compactctl.store.files.filesystem import DiskError
from compactctl.store.files.limits import NO_LIMITS, ReadLimits

if TYPE_CHECKING:
    from obstore import ObjectMeta, PutMode
    from obstore.store import ObjectStore

Answer = TypeVar("Answer")
SCHEMES = ("s3://", "gs://", "az://", "abfs://", "abfss://")
_URL = re.compile(r"([a-z0-9]+://[^/]+)/?(.*)", re.DOTALL)
READ_TIMEOUT = "60s"
"""How long to wait for a store's answer, and for the next bytes of it."""
_BUFFER = 1 << 20
# Where the reason is in an error of the client, most telling first. The last two pass over the URL
# of the request.
_REASONS = (
    re.compile(r"<Message>(.+?)</Message>", re.DOTALL),
    re.compile(r"non-2xx status code: (\d+ [\w ]+)"),
    re.compile(r"HTTP error: ([^\n]+)"),
    re.compile(r"^.* - ([^\n]+)"),
    re.compile(r"(?:Generic \w+ error: )?([^\n]+)"),
)
_STATUS = re.compile(r"non-2xx status code: (\d+)")
# Without credentials, a machine's metadata service is asked for them.
_METADATA_SERVICE = re.compile(r"Error performing \w+ http://(169\.254\.|metadata\.google)")
_UNREADABLE_KEY = re.compile(r"Path \"(.*)\"(?::| contained) ")
_AZURE_CREDENTIALS = "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY"
_CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
}


class StoredObject(Record):
    """An object of a store.

    ``below`` is its key without the prefix that was listed. ``etag`` and ``version`` change with
    its bytes; a store has at least one of them.
    """

    url: str
    below: str
    n_bytes: int
    etag: str | None
    version: str | None


class ObjectWrite(Record, kw_only=False):
    """What a write led to: the object's ETag, if any, and whether the object is new.

    An object that another program wrote with the same bytes is not.
    """

    etag: str | None
    is_new: bool = False


def is_object(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is the URL of an object or of a prefix."""
    return os.fspath(path).startswith(SCHEMES)


def real_place(path: str) -> str:
    """Return a path with its links followed, so that each file has one; a URL is returned as is."""
    return path if is_object(path) else os.path.realpath(path)


def list_objects(prefix: str) -> Iterator[StoredObject]:
    """Yield the objects below a URL, with the rest of their keys.

    Raises NoInputError if the store cannot be asked, UsageError if the package for it is missing.
    """
    bucket, key = _split(prefix)
    folder = f"{key.rstrip('/')}/" if key else ""
    store = _open_store(bucket)
    import obstore

    with _errors(prefix, NoInputError):
        items = _wait_for(lambda: list(chain.from_iterable(obstore.list(store, folder or None))))
    for item in items:
        yield _described(bucket, item, item["path"].removeprefix(folder))


def find_object(url: str) -> StoredObject | None:
    """Return the object with this URL, None if there is none. Raises as ``list_objects``."""
    bucket, key = _split(url)
    store = _open_store(bucket)
    import obstore

    if not key or key.endswith("/"):
        return None
    with _errors(url, NoInputError):
        try:
            item = _wait_for(partial(obstore.head, store, key))
        except FileNotFoundError:
            return None
    return _described(bucket, item, key.rpartition("/")[2])


def open_object(url: str, limits: ReadLimits) -> io.BufferedReader:
    """Return the bytes of an object, copied to a file that goes when it is closed.

    Raises NoInputError for an object that is missing, too large or cannot be read, DiskError if
    there is no room for the copy, and UsageError if the package for it is missing.
    """
    bucket, key = _split(url)
    if not key or key.endswith("/"):
        raise NoInputError(f"{url}: names no object; name one below it, or use compactctl batch")
    _open_store(bucket)
    with copy_errors(url):
        copy = TemporaryFile(buffering=0)  # noqa: SIM115 - the reader closes it
        try:
            with _errors(url, NoInputError):
                _wait_for(partial(_download, url, copy, limits))
        except BaseException:
            copy.close()
            raise
    copy.seek(0)
    return io.BufferedReader(copy, _BUFFER)


def _download(url: str, copy: io.FileIO, limits: ReadLimits) -> None:
    bucket, key = _split(url)
    import obstore

    answer = obstore.get(_open_store(bucket), key)
    limits.check_size(answer.meta["size"], url)
    for chunk in answer.stream(_BUFFER):
        copy.write(chunk)


@contextmanager
def copy_errors(url: str) -> Iterator[None]:
    """Turn an OSError about a temporary copy of an object into a DiskError."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        raise DiskError(
            f"{url}: cannot be copied to a temporary file ({why}); free some space, or set TMPDIR "
            "to another folder"
        ) from error


def write_object(url: str, file: Path, replaced: StoredObject | None = None) -> ObjectWrite:
    """Write a file as an object, whole or not at all, in place of the state ``replaced``.

    Raises ChangedError if another state is there, or any if None is to be replaced, DiskError if
    the object cannot be written, and UsageError if the package for it is missing.
    """
    _open_store(_split(url)[0])
    from obstore.exceptions import GenericError

    put = partial(_put, url, file, replaced)
    with _errors(url, DiskError):
        try:
            return _wait_for(put)
        except GenericError:
            # The client does not repeat writes that were not answered. These may be repeated.
            return _wait_for(put)


def _put(url: str, file: Path, replaced: StoredObject | None) -> ObjectWrite:
    bucket, key = _split(url)
    store = _open_store(bucket)
    import obstore
    from obstore.exceptions import AlreadyExistsError, PreconditionError

    mode: PutMode = "create"
    if replaced is not None:
        # S3 and Azure compare the tag, Google the version, and none of them takes a missing one.
        mode = {"e_tag": replaced.etag}
        if replaced.version is not None:
            mode["version"] = replaced.version
    try:
        etag = obstore.put(store, key, file, mode=mode)["e_tag"]
        return ObjectWrite(etag, is_new=replaced is None)
    except (AlreadyExistsError, PreconditionError) as error:
        # A write whose answer was lost finds what it has written itself.
        with suppress(FileNotFoundError):
            existing = obstore.get(store, key)
            if bytes(existing.bytes()) == file.read_bytes():
                return ObjectWrite(existing.meta["e_tag"])
        raise ChangedError(
            f"{url}: was changed by another program meanwhile; it was left alone; try again"
        ) from error


def delete_object(url: str) -> None:
    """Delete an object. Raises DiskError, and UsageError if the package for it is missing."""
    bucket, key = _split(url)
    store = _open_store(bucket)
    import obstore

    with _errors(url, DiskError):
        _wait_for(partial(obstore.delete, store, key))


def copy_object(url: str, path: Path, limits: ReadLimits) -> None:
    """Copy an object to a new file. Raises as ``open_object``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_object(url, limits) as source, path.open("xb") as copy:
        copyfileobj(source, copy)


class ObjectCopies:
    """Copies of an object and of others beside and below it, in a folder.

    ``path`` is that of the object at ``url``, which need not exist. ``new_files`` are the files
    whose objects were not there before they were uploaded.
    """

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self._root, _, name = url.rpartition("/")
        self._folder = folder
        self.path = folder / name
        self.new_files: list[Path] = []
        self._fetched: dict[Path, tuple[StoredObject, bytes]] = {}

    def fetch(self, items: Iterable[StoredObject]) -> None:
        """Copy objects, except those deleted meanwhile. Raises as ``open_object``."""
        for item in items:
            path = self._folder / item.url.removeprefix(f"{self._root}/")
            try:
                copy_object(item.url, path, NO_LIMITS)
            except NoInputError as error:
                if isinstance(error.__cause__, FileNotFoundError):
                    continue
                raise
            self._fetched[path] = (item, _digest(path))

    def forget(self, path: Path) -> None:
        """Remove the copy of an object, which stays."""
        path.unlink()
        del self._fetched[path]

    def upload(self, path: Path) -> str | None:
        """Write a file of the folder unless it is as it was fetched; return its ETag.

        Raises as ``write_object``.
        """
        item, digest = self._fetched.get(path, (None, None))
        if item is not None and _digest(path) == digest:
            return item.etag
        write = write_object(self.url_of(path), path, item)
        if write.is_new:
            self.new_files.append(path)
        return write.etag

    def url_of(self, path: Path) -> str:
        """Return the URL of the object with a copy at this path."""
        return f"{self._root}/{path.relative_to(self._folder).as_posix()}"


def _digest(path: Path) -> bytes:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def _split(url: str) -> tuple[str, str]:
    """Split a URL into its bucket, with the scheme, and its key."""
    match = _URL.fullmatch(url)
    if match is None:
        scheme = url.partition("://")[0]
        raise NoInputError(f"{url}: names no bucket; write {scheme}://BUCKET/KEY")
    return match[1], match[2]


def _described(bucket: str, item: "ObjectMeta", below: str) -> StoredObject:
    return StoredObject(
        url=f"{bucket}/{item['path']}",
        below=below,
        n_bytes=item["size"],
        etag=item["e_tag"],
        version=item["version"],
    )


@lru_cache(maxsize=16)
def _open_store(bucket: str) -> "ObjectStore":
    try:
        from obstore.store import from_url
    except ImportError:
        raise UsageError(
            f"{bucket}: object stores need the package obstore; "
            f"type: {install_command('obstore>=0.12')}"
        ) from None
    from obstore.exceptions import BaseError

    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    if endpoint and not endpoint.startswith(("http://", "https://")):
        raise UsageError(f"AWS_ENDPOINT_URL={endpoint}: is no URL; write http:// or https:// first")
    try:
        return from_url(
            bucket,
            client_options={
                # A server that the user set up may have no certificate, such as MinIO on this
                # machine.
                "allow_http": endpoint.startswith("http://"),
                "connect_timeout": "10s",
                "read_timeout": READ_TIMEOUT,
            },
            retry_config={"max_retries": 4},
        )
    except (BaseError, ValueError) as error:
        raise UsageError(
            f"{bucket}: cannot be opened ({_reason(str(error))}); set {_credentials(bucket)}"
        ) from error


def _wait_for(request: Callable[[], Answer]) -> Answer:
    """Return what a request returns, or raise what it raises.

    The client handles no signals while it waits, so it waits in a thread. After an interrupt or a
    time limit the thread may finish its request, which does no harm: writes are whole or not done.
    """
    from concurrent.futures import Future

    answer: Future[Answer] = Future()

    def run() -> None:
        try:
            answer.set_result(request())
        except BaseException as error:  # noqa: BLE001 - raised where the answer is awaited
            answer.set_exception(error)

    Thread(target=run, daemon=True).start()
    return answer.result()


@contextmanager
def _errors(url: str, kind: type[CompactctlError]) -> Iterator[None]:
    """Turn an error of the client into one of this kind."""
    from obstore.exceptions import BaseError

    try:
        yield
    except FileNotFoundError as error:
        what = "bucket" if "NoSuchBucket" in str(error) else "object"
        raise kind(f"{url}: no such {what}; check its name and the region") from error
    except (BaseError, ValueError) as error:
        raise kind(f"{url}: {_explained(url, str(error))}") from error


def _explained(url: str, error: str) -> str:
    """Say what an error of the client means, and what to do."""
    if _METADATA_SERVICE.search(error):
        return f"no credentials; set {_credentials(url)} in the environment"
    if key := _UNREADABLE_KEY.search(error):
        return f'the key {key[1]} has an empty part, "." or ".."; rename it, or name other prefixes'
    if "redirect without LOCATION" in error:
        return "the bucket is in another region; set AWS_REGION"
    reason = _reason(error)
    status = match[1] if (match := _STATUS.search(error)) else ""
    if status in {"401", "403"}:
        return f"access denied ({reason}); check the credentials and their permissions"
    if status == "404":
        return "no such bucket; check its name and the region"
    if status == "400":
        return f"the request was refused ({reason}); check the region and the credentials"
    return f"the store failed ({reason}); check the connection and try again"


def _reason(error: str) -> str:
    reason = next(match[1] for form in _REASONS if (match := form.search(error)))
    return " ".join(reason.split()).rstrip(".")


def _credentials(url: str) -> str:
    return _CREDENTIALS.get(url.partition("://")[0], _AZURE_CREDENTIALS)
