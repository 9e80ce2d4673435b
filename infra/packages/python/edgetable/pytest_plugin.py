"""Fixtures for pytest: edgetable is a fresh account for each test, on one server for all of them."""

import pytest

from ._server import Account, Server


class _Servers:
    """One server at a time; the next one starts when the accounts of the last one are used up."""

    def __init__(self):
        self._servers = []

    def account(self) -> Account:
        if not self._servers or not self._servers[-1]._free:
            self._servers.append(Server())
        return self._servers[-1].account()

    def stop(self) -> None:
        for server in self._servers:
            server.stop()


@pytest.fixture(scope="session")
def _edgetable_servers():
    servers = _Servers()
    yield servers
    servers.stop()


@pytest.fixture
def edgetable(_edgetable_servers, monkeypatch) -> Account:
    """An empty account. EDGETABLE_CONNECTION_STRING is its connection string while the test runs."""
    account = _edgetable_servers.account()
    monkeypatch.setenv("EDGETABLE_CONNECTION_STRING", account.connection_string)
    return account
