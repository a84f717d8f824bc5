"""Where a file comes from: the user's folder, the cache, or a server (here on this machine)."""

import hashlib
import os
import socket
import threading
import urllib.request
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pellucid import datasets
from pellucid.datasets import fetch
from pellucid.datasets.registry import SOURCES
from pellucid.errors import InputError

TABLE = b"color,alcohol,quality\nred,9.4,5\nwhite,,6\n"


class Shelf:
    """A server's files, how it misbehaves, and what it was asked."""

    def __init__(self):
        self.files = {}
        self.cut = False
        self.asked = []
        self.url = ""


@pytest.fixture
def shelf(monkeypatch):
    shelf = Shelf()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            shelf.asked.append(self.path)
            content = shelf.files.get(self.path)
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[:5] if shelf.cut else content)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    shelf.url = f"http://127.0.0.1:{server.server_port}/files"
    monkeypatch.setenv("PELLUCID_DATA_URL", shelf.url)
    yield shelf
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def small_wine(monkeypatch):
    """The wine data set, as if its file were the small table."""
    source = replace(SOURCES["wine"], sha256=hashlib.sha256(TABLE).hexdigest())
    monkeypatch.setitem(SOURCES, "wine", source)
    return fetch.cache_folder() / source.file


def cached_files():
    return [path.name for path in fetch.cache_folder().rglob("*")]


def one_sentence(failure):
    message = str(failure.value)
    return "\n" not in message and message.endswith(".")


@pytest.mark.parametrize("ending", ["", "/"])
def test_download_fills_the_cache_and_is_not_repeated(shelf, small_wine, monkeypatch, capfd, ending):
    monkeypatch.setenv("PELLUCID_DATA_URL", shelf.url + ending)
    shelf.files["/files/wine_quality.csv"] = TABLE
    X, y = datasets.wine()
    assert X["color"].tolist() == ["red", "white"]
    assert X["alcohol"].isna().tolist() == [False, True]
    assert y.tolist() == [5, 6]
    assert small_wine.read_bytes() == TABLE
    assert cached_files() == ["wine_quality.csv"]
    assert datasets.wine().y.tolist() == [5, 6]
    assert shelf.asked == ["/files/wine_quality.csv"]
    assert capfd.readouterr() == ("", "")


def test_a_damaged_cache_is_downloaded_again(shelf, small_wine):
    small_wine.parent.mkdir(parents=True)
    small_wine.write_bytes(TABLE[:20])
    shelf.files["/files/wine_quality.csv"] = TABLE
    assert datasets.wine().y.tolist() == [5, 6]
    assert small_wine.read_bytes() == TABLE


def test_a_wrong_checksum_leaves_nothing(shelf, small_wine):
    wrong = TABLE.replace(b"9.4", b"9.5")
    shelf.files["/files/wine_quality.csv"] = wrong
    with pytest.raises(InputError, match=r"wine_quality\.csv .*sha256 .*try again") as failure:
        datasets.wine()
    assert hashlib.sha256(wrong).hexdigest() in str(failure.value)
    assert hashlib.sha256(TABLE).hexdigest() in str(failure.value)
    assert one_sentence(failure)
    assert cached_files() == []


def test_a_file_that_the_server_lacks(shelf, small_wine):
    with pytest.raises(
        InputError, match=r"answered 404 Not Found; set PELLUCID_DATA_URL .*PELLUCID_DATA\.$"
    ) as failure:
        datasets.wine()
    assert one_sentence(failure)
    assert cached_files() == []


def test_an_interrupted_transfer_leaves_nothing(shelf, small_wine):
    shelf.files["/files/wine_quality.csv"] = TABLE
    shelf.cut = True
    with pytest.raises(InputError, match=r"IncompleteRead.*try again") as failure:
        datasets.wine()
    assert one_sentence(failure)
    assert cached_files() == []
    shelf.cut = False
    assert datasets.wine().y.tolist() == [5, 6]


def test_no_network(small_wine, monkeypatch):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound and not listening: refused at once
        monkeypatch.setenv("PELLUCID_DATA_URL", f"http://127.0.0.1:{unused.getsockname()[1]}")
        with pytest.raises(InputError, match="network connection") as failure:
            datasets.wine()
    assert one_sentence(failure)


def test_an_address_that_is_none(small_wine, monkeypatch):
    monkeypatch.setenv("PELLUCID_DATA_URL", "not an address")
    with pytest.raises(InputError, match=r"not an address/wine_quality\.csv"):
        datasets.wine()


def test_a_silent_server_is_given_up(small_wine, monkeypatch):
    def silent(url, timeout):
        assert 0 < timeout <= 60
        raise TimeoutError("timed out")

    monkeypatch.setattr(urllib.request, "urlopen", silent)
    with pytest.raises(InputError, match=r"could not be downloaded \(timed out\)"):
        datasets.wine()


def test_the_default_address(small_wine, monkeypatch):
    asked = []

    def refuse(url, timeout):
        asked.append(url)
        raise OSError("refused")

    monkeypatch.delenv("PELLUCID_DATA_URL")
    monkeypatch.setattr(urllib.request, "urlopen", refuse)
    with pytest.raises(InputError):
        datasets.wine()
    assert asked == [fetch.BASE_URL + "wine_quality.csv"]


def test_control_c_while_writing_leaves_no_half_file(shelf, small_wine, monkeypatch):
    seen = []

    def interrupt(draft, path):
        seen.append((Path(draft).parent == Path(path).parent, Path(draft).read_bytes()))
        raise KeyboardInterrupt

    shelf.files["/files/wine_quality.csv"] = TABLE
    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        datasets.wine()
    assert seen == [(True, TABLE)]
    assert cached_files() == []


def test_a_cache_that_cannot_be_written(shelf, small_wine, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    shelf.files["/files/wine_quality.csv"] = TABLE
    with pytest.raises(InputError, match=r"could not be written .*set XDG_CACHE_HOME"):
        datasets.wine()


@pytest.fixture
def folder(monkeypatch, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    monkeypatch.setenv("PELLUCID_DATA", str(folder))
    return folder


def test_the_users_own_version_comes_first_and_is_not_checked(shelf, small_wine, folder):
    (folder / "wine_quality.csv").write_bytes(b"sweetness,quality\n1,9\n")
    small_wine.parent.mkdir(parents=True)
    small_wine.write_bytes(TABLE)
    dataset = datasets.wine()
    assert list(dataset.X.columns) == ["sweetness"]
    assert dataset.y.tolist() == [9]
    assert shelf.asked == []


def test_a_file_that_the_users_folder_lacks_comes_from_the_cache(shelf, small_wine, folder):
    small_wine.parent.mkdir(parents=True)
    small_wine.write_bytes(TABLE)
    assert datasets.wine().y.tolist() == [5, 6]
    assert shelf.asked == []


def test_the_users_own_version_must_have_the_target(folder):
    (folder / "wine_quality.csv").write_bytes(b"color,Quality\nred,5\n")
    with pytest.raises(InputError, match=r"mine.wine_quality\.csv .*'quality'.*'Quality'"):
        datasets.wine()


@pytest.mark.parametrize("content", [b"", b"quality\n1\n2,3,4\n", b"quality\n\xff\xfe\n"])
def test_a_file_that_is_no_table(folder, content):
    (folder / "wine_quality.csv").write_bytes(content)
    with pytest.raises(InputError, match=r"wine_quality\.csv .*comma-separated"):
        datasets.wine()


def test_an_unknown_level_is_not_silently_lost(folder):
    (folder / "german_credit.csv").write_bytes(b"savings,risk\nlittle,good\n,bad\nriche,bad\n")
    with pytest.raises(InputError, match=r"'riche' in column 'savings', .*did you mean 'rich'\?"):
        datasets.credit()


def test_decimals_in_the_users_own_version_stay_decimals(folder):
    (folder / "heart_cleveland.csv").write_bytes(b"ca,thal,num\n0.5,,1\n1,3,0\n")
    X, _ = datasets.heart()
    assert X["ca"].tolist() == [0.5, 1.0]
    assert X["thal"].dtype == "Int64"


def test_a_folder_that_does_not_exist(monkeypatch, tmp_path):
    monkeypatch.setenv("PELLUCID_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match=r"PELLUCID_DATA .*nowhere.*create it") as failure:
        datasets.bike()
    assert one_sentence(failure)


def test_cache_folder_per_platform(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert fetch.cache_folder("linux") == tmp_path / "xdg" / "pellucid" / "data"
    assert fetch.cache_folder("win32") == tmp_path / "local" / "pellucid" / "data"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/paths/are/invalid")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert fetch.cache_folder("linux") == tmp_path / ".cache" / "pellucid" / "data"


def test_no_home(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(InputError, match=r"home folder .*XDG_CACHE_HOME"):
        fetch.cache_folder("linux")


def test_a_real_file_through_the_server(shelf, real_data, monkeypatch):
    direct = datasets.bike()
    shelf.files["/files/bike.csv"] = (real_data / "bike.csv").read_bytes()
    monkeypatch.delenv("PELLUCID_DATA")
    assert datasets.bike().frame.equals(direct.frame)
    assert shelf.asked == ["/files/bike.csv"]
