"""Every test runs twice: with azure-cosmosdb-table and with azure-storage, which have the same interface."""

import importlib
import os
import secrets
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from azure.common import AzureHttpError

VARIABLE = "EDGETABLE_CONNECTION_STRING"


def pytest_configure(config):
    if not os.environ.get(VARIABLE):
        pytest.exit(f"{VARIABLE} is not set: these tests need a running server", returncode=1)


LIBRARIES = {
    "cosmosdb": ("azure.cosmosdb.table", "azure.cosmosdb.table.common"),
    "storage": ("azure.storage.table", "azure.storage"),
}


@pytest.fixture(scope="session", params=LIBRARIES)
def lib(request):
    """The names of one library: those of its tables and those that it shares with its other services."""
    tables, common = LIBRARIES[request.param]
    names = {}
    for module in (f"{common}.models", f"{common}.retry", tables):
        names.update(vars(importlib.import_module(module)))
    return SimpleNamespace(**names)


@pytest.fixture(scope="session")
def connect(lib):
    """Opens a service from a connection string; retries would only hide a 5xx."""

    def open_service(connection_string=os.environ[VARIABLE]):
        service = lib.TableService(connection_string=connection_string)
        service.retry = lib.no_retry
        return service

    return open_service


@pytest.fixture(scope="session")
def service(connect):
    return connect()


@pytest.fixture(scope="session")
def by(connect):
    """Opens a service that has nothing but a shared access signature."""
    parts = dict(part.split("=", 1) for part in os.environ[VARIABLE].split(";") if part)
    return lambda sas: connect(f"TableEndpoint={parts['TableEndpoint'].rstrip('/')};SharedAccessSignature={sas}")


@pytest.fixture
def name(service):
    """A table name nobody else uses; if the test leaves such a table, it goes."""
    chosen = "OldPy" + secrets.token_hex(10)
    yield chosen
    service.delete_table(chosen)  # answers False for a table that is not there


@pytest.fixture
def table(service, name):
    service.create_table(name, fail_on_exist=True)
    return name


@contextmanager
def refused(status, code):
    """The block raises the libraries' error with this status, and with this code in its text."""
    with pytest.raises(AzureHttpError) as caught:
        yield
    assert caught.value.status_code == status and code in str(caught.value), caught.value


def keyed(row, partition="p", **properties):
    return {"PartitionKey": partition, "RowKey": row, **properties}


def own(entity):
    """The entity's own properties: no keys, no timestamp, no ETag."""
    return {name: value for name, value in entity.items() if name not in ("PartitionKey", "RowKey", "Timestamp", "etag")}


def rows(entities):
    return [entity["RowKey"] for entity in entities]
