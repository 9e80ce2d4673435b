"""Expectations about answers, in one line each."""

import atom


def entry(response, account, status=200):
    assert response.status == status, response.body
    assert response.media == "application/atom+xml" and response.parameters.get("type", "entry") == "entry"
    read = atom.read_entry(response.xml(), account.base)
    assert response.headers.get("ETag") == read.etag, "the header and m:etag"
    assert response.headers["Cache-Control"] == "no-cache"
    return read


def feed(response, account, name):
    assert response.status == 200, response.body
    assert response.media == "application/atom+xml" and response.parameters.get("type", "feed") == "feed"
    assert response.headers["Cache-Control"] == "no-cache" and "ETag" not in response.headers
    return atom.read_feed(response.xml(), account.base, name)


def empty(response, status=204):
    assert (response.status, response.body) == (status, b"")
    return response


def refused(response, status, code, message=""):
    """The error is XML, whatever the request was about, and its message begins as the service's."""
    assert response.media == "application/xml", response.headers.get("Content-Type")
    found = atom.read_error(response.xml())
    assert (response.status, found[0]) == (status, code), found
    assert response.headers.get("x-ms-error-code") in (None, code)
    assert found[1].startswith(message), found[1]
    return found[1]
