"""A table store that speaks the Azure Table Storage protocol: the server, and fixtures for tests."""

from ._program import program
from ._server import Account, Server, start

__all__ = ["Account", "Server", "program", "start"]
