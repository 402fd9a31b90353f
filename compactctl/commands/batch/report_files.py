"""Files about a batch that go to an object store: written here first, uploaded at the end."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from compactctl.commands.batch.batch import BatchResult
from compactctl.commands.output_files import check_report
from compactctl.errors import UsageError
from compactctl.records import Record, replace
from compactctl.store.files.objects import ObjectCopies, find_object, is_object


class ReportFiles(Record, kw_only=False):
    """Where the files about a batch are written: those with a URL to copies, until ``publish``."""

    copies: Mapping[str, ObjectCopies]

    def local(self, path: str) -> str:
        """Return the path to write a file to."""
        return str(self.copies[path].path) if path in self.copies else path

    def publish(self, result: BatchResult) -> BatchResult:
        """Upload the files, and return the result that names their URLs.

        Raises ChangedError for one that another program has written meanwhile, and DiskError.
        """
        for copies in self.copies.values():
            copies.upload(copies.path)
        urls = {self.local(url): url for url in self.copies}
        written = (replace(file, path=urls.get(file.path, file.path)) for file in result.written)
        return replace(result, written=tuple(written))


@contextmanager
def report_files(paths: Iterable[str], *, force: bool) -> Iterator[ReportFiles]:
    """Copy what is at those paths that are URLs; the copies go at the end.

    Raises UsageError for one that may not be overwritten, NoInputError if a store cannot be asked.
    """
    urls = [path for path in paths if is_object(path)]
    if not urls:
        yield ReportFiles({})
        return
    with TemporaryDirectory(prefix="compactctl-") as folder:
        copies = {
            url: _copied(url, Path(folder).resolve() / str(index)) for index, url in enumerate(urls)
        }
        places = ReportFiles(copies)
        for url in urls:
            try:
                check_report(places.local(url), (), force=force)
            except UsageError as error:
                raise UsageError(str(error).replace(places.local(url), url)) from error
        yield places


def _copied(url: str, folder: Path) -> ObjectCopies:
    folder.mkdir()
    copies = ObjectCopies(url, folder)
    item = find_object(url)
    if item is not None:
        copies.fetch([item])
    return copies
