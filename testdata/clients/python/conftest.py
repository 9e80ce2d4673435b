"""Every test runs twice: with the synchronous clients (requests) and the asynchronous ones (aiohttp)."""

import asyncio
import os
import secrets

import pytest
from azure.core.credentials import AzureSasCredential
from azure.data.tables import TableServiceClient
from azure.data.tables.aio import TableServiceClient as AsyncTableServiceClient

import account
from account import VARIABLE
from blocking import Blocking


def pytest_configure(config):
    if not os.environ.get(VARIABLE):
        pytest.exit(f"{VARIABLE} is not set: these tests need a running server", returncode=1)


@pytest.fixture(scope="session", params=["sync", "aio"])
def adopt(request):
    """Returns a function that takes a maker of service clients, given their class, and closes what it made in the end."""
    clients = []
    if request.param == "sync":

        def adopt_sync(make):
            clients.append(make(TableServiceClient))
            return clients[-1]

        yield adopt_sync
        for client in clients:
            client.close()
        return

    loop = asyncio.new_event_loop()

    def adopt_async(make):
        clients.append(make(AsyncTableServiceClient))
        return Blocking(clients[-1], loop)

    yield adopt_async
    for client in clients:
        loop.run_until_complete(client.close())
    loop.close()


@pytest.fixture(scope="session")
def connect(adopt):
    """Returns a function that opens a service client from a connection string; retries would only hide a 5xx."""

    def from_connection_string(connection_string=os.environ[VARIABLE]):
        return adopt(lambda kind: kind.from_connection_string(connection_string, retry_total=0))

    return from_connection_string


@pytest.fixture(scope="session")
def by(adopt):
    """Returns a function that opens a service client which has nothing but a shared access signature."""

    def with_sas(sas, endpoint=account.ENDPOINT):
        return adopt(lambda kind: kind(endpoint=endpoint, credential=AzureSasCredential(sas), retry_total=0))

    return with_sas


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


@pytest.fixture(scope="module")
def module_table(service):
    """A table for all tests of a file, with the entity ("p", "there")."""
    name = "Py" + secrets.token_hex(10)
    table = service.create_table(name)
    table.create_entity({"PartitionKey": "p", "RowKey": "there"})
    yield table
    service.delete_table(name)


@pytest.fixture
def missing_table(service):
    return service.get_table_client("Py" + secrets.token_hex(10))
