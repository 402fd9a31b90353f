"""What type a file is of, by its name and its first bytes."""

from collections.abc import Mapping

# Extensions, by the types whose cost NeuroLink's aggregate file budget tells apart.
_EXTENSIONS: Mapping[str, str] = {
    "video": "avi m4v mkv mov mp4 mpeg mpg ogv webm wmv",
    "audio": "aac aiff flac m4a mp3 oga ogg opus wav wma",
    "image": "avif bmp gif heic heif ico jpeg jpg png tif tiff webp",
    "archive": "7z bz2 gz jar rar tar tgz xz zip zst",
    "pdf": "pdf",
    "xlsx": "xls xlsx",
    "docx": "doc docx",
    "pptx": "ppt pptx",
    "svg": "svg",
    "csv": "csv tsv",
}
_TYPES = {ext: kind for kind, extensions in _EXTENSIONS.items() for ext in extensions.split()}


def file_type(name: str, head: bytes) -> str:
    """Return the type: by the extension, else ``text``, or ``unknown`` when it holds NUL bytes."""
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    return _TYPES.get(extension) or ("unknown" if b"\0" in head else "text")
