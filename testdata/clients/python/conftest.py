"""Every test runs twice: with the synchronous clients (requests) and the asynchronous ones (aiohttp)."""

import asyncio
import os
import secrets

import pytest
from azure.data.tables import TableServiceClient
from azure.data.tables.aio import TableServiceClient as AsyncTableServiceClient

from blocking import Blocking

VARIABLE = "EDGETABLE_CONNECTION_STRING"


def pytest_configure(config):
    if not os.environ.get(VARIABLE):
        pytest.exit(f"{VARIABLE} is not set: these tests need a running server", returncode=1)


@pytest.fixture(scope="session", params=["sync", "aio"])
def connect(request):
    """Returns a function that opens a service client from a connection string; retries would only hide a 5xx."""
    if request.param == "sync":
        clients = []

        def open_sync(connection_string=os.environ[VARIABLE]):
            clients.append(TableServiceClient.from_connection_string(connection_string, retry_total=0))
            return clients[-1]

        yield open_sync
        for client in clients:
            client.close()
        return

    loop = asyncio.new_event_loop()
    clients = []

    def open_async(connection_string=os.environ[VARIABLE]):
        clients.append(AsyncTableServiceClient.from_connection_string(connection_string, retry_total=0))
        return Blocking(clients[-1], loop)

    yield open_async
    for client in clients:
        loop.run_until_complete(client.close())
    loop.close()


@pytest.fixture(scope="session")
def service(connect):
    return connect()


@pytest.fixture
def name(service):
    """A table name nobody else uses; if the test leaves such a table, it goes."""
    chosen = "Py" + secrets.token_hex(10)
    yield chosen
    service.delete_table(chosen)  # the SDK passes over a 404 here


@pytest.fixture
def table(service, name):
    return service.create_table(name)


@pytest.fixture
def missing_table(service):
    return service.get_table_client("Py" + secrets.token_hex(10))
