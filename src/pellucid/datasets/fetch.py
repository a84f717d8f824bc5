"""Finding the file of a table: the user's folder, then the cache, then the network.

A file in the user's folder is taken as it is, for it may be the user's own version. A file in the cache
must have the expected checksum, else it is downloaded again. A download is checked before it is
written, and written under another name first, so that an interruption leaves no half file.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from pathlib import Path

from pellucid.datasets.registry import Source
from pellucid.errors import InputError

BASE_URL = "https://github.com/pellucid/pellucid/releases/download/datasets-1/"
TIMEOUT = 30.0  # seconds without an answer


def find(source: Source) -> tuple[bytes, str]:
    """The content of a table's file, and where it was found."""
    folder = user_folder()
    if folder is not None and (folder / source.file).is_file():
        return _read(folder / source.file), str(folder / source.file)
    if not source.redistributable:
        raise InputError(
            f"{source.file} is not distributed by pellucid because its licence is unclear; "
            f"obtain it yourself and {_by_hand(source, folder)}."
        )
    cached = cache_folder() / source.file
    if cached.is_file():
        content = _read(cached)
        if _sha256(content) == source.sha256:
            return content, str(cached)
    content = _download(source)
    _store(cached, content)
    return content, str(cached)


def user_folder() -> Path | None:
    """The folder that ``PELLUCID_DATA`` names, or None when the variable is not set."""
    name = os.environ.get("PELLUCID_DATA")
    if not name:
        return None
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise InputError(
            f"the environment variable PELLUCID_DATA names the folder {name!r}, which does not exist; "
            "create it, correct the variable or unset it."
        )
    return folder


def cache_folder(platform: str = sys.platform) -> Path:
    """The user's cache: ``%LOCALAPPDATA%`` on Windows, else ``XDG_CACHE_HOME`` or ``~/.cache``."""
    base = os.environ.get("LOCALAPPDATA" if platform == "win32" else "XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return Path(base) / "pellucid" / "data"
    try:
        return Path.home() / ".cache" / "pellucid" / "data"
    except RuntimeError as error:
        raise InputError(
            "there is no home folder to keep downloaded data in; "
            "set the environment variable XDG_CACHE_HOME or PELLUCID_DATA to a folder."
        ) from error


def _download(source: Source) -> bytes:
    # On use: urllib.request loads http, ssl and email, which nobody with a filled cache needs.
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import urlopen

    url = (os.environ.get("PELLUCID_DATA_URL") or BASE_URL).rstrip("/") + "/" + source.file
    try:
        with urlopen(url, timeout=TIMEOUT) as response:
            content = bytes(response.read())
    except HTTPError as error:
        error.close()
        raise InputError(
            f"{url} answered {error.code} {error.reason}; "
            f"set PELLUCID_DATA_URL to an address that has {source.file}, or {_by_hand(source)}."
        ) from error
    except (OSError, HTTPException, ValueError) as error:
        raise InputError(
            f"{url} could not be downloaded ({error}); "
            f"check the network connection and try again, or {_by_hand(source)}."
        ) from error
    if (found := _sha256(content)) != source.sha256:
        raise InputError(
            f"{url} has the sha256 checksum {found} instead of {source.sha256} and was not kept; "
            f"try again, or {_by_hand(source)}."
        )
    return content


def _store(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(draft, path)
        except BaseException:  # Ctrl-C too
            Path(draft).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(
            f"{path} could not be written ({error}); make the folder writable, "
            "or set XDG_CACHE_HOME (LOCALAPPDATA on Windows) to another one."
        ) from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} could not be read ({error}); check its permissions.") from error


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _by_hand(source: Source, folder: Path | None = None) -> str:
    if folder is not None:
        return f"put the file {source.file} into the folder {folder} (PELLUCID_DATA)"
    return f"put the file {source.file} into a folder and name that folder in the environment variable PELLUCID_DATA"
