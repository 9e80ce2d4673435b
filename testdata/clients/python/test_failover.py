"""A program reads on at a secondary on another machine while the primary is dead."""

import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from azure.core.exceptions import AzureError, ServiceRequestError

from expect import keyed, refused, rows
from program import connection, new_key, running


@contextmanager
def pair(folder):
    """Starts a primary and a secondary; gives the primary's process, its connection string and the secondary's host."""
    key, place = new_key(), folder / "place"
    with running(key, "--data", folder / "one", "--backup-to", place, "--backup-log", "50ms") as (primary, endpoint):
        with running(key, "--data", folder / "two", "--secondary-of", place, "--secondary-max-lag", "6s") as (_, copy):
            # The SDK puts the path of the request behind this: /own-secondary/own/orders.
            yield primary, connection(endpoint, key), urlsplit(copy).netloc + "/own-secondary"


def eventually(condition):
    end = time.monotonic() + 120
    while not holds(condition):
        assert time.monotonic() < end, "the secondary did not come so far"
        time.sleep(0.05)  # between two looks


def holds(condition):
    try:
        return condition()
    except AzureError:
        return False


def test_reads_on_at_the_secondary(adopt, tmp_path):
    with pair(tmp_path) as (primary, string, secondary):
        options = {"secondary_hostname": secondary, "retry_backoff_factor": 0.001}
        service = adopt(lambda kind: kind.from_connection_string(string, retry_to_secondary=True, **options))
        table = service.create_table("orders")
        table.create_entity(keyed("1", Name="Ada"))
        table.create_entity(keyed("2", Name="Grace"))
        copy = adopt(
            lambda kind: kind.from_connection_string(string, location_mode="secondary", retry_total=0, **options)
        ).get_table_client("orders")
        eventually(lambda: rows(copy.list_entities()) == ["1", "2"])
        primary.kill()
        primary.wait()

        assert table.get_entity("p", "1")["Name"] == "Ada"
        assert rows(table.list_entities(results_per_page=1)) == ["1", "2"]
        assert rows(table.query_entities("Name eq 'Grace'")) == ["2"]
        assert [found.name for found in service.list_tables()] == ["orders"]
        assert service.get_service_stats()["geo_replication"]["status"] in ("live", "bootstrap")
        with pytest.raises(ServiceRequestError):  # writes never go to the secondary
            table.create_entity(keyed("3"))
        with refused(403, "InsufficientAccountPermissions"):
            copy.create_entity(keyed("3"))
        assert rows(table.list_entities()) == ["1", "2"]
