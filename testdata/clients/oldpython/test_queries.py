from datetime import datetime, timezone

import pytest

from conftest import keyed, own, refused, rows


@pytest.fixture
def filled(service, table):
    """Ten entities in each of two partitions."""
    for partition in ("p", "q"):
        with service.batch(table) as batch:
            for n in range(10):
                batch.insert_entity(keyed(f"{n:02}", partition, N=n, Even=n % 2 == 0, Name=f"it's {n}",
                                          When=datetime(2020, 1, n + 1, tzinfo=timezone.utc)))
    return table


@pytest.mark.parametrize("condition, expected", [
    ("PartitionKey eq 'p' and RowKey lt '03'", ["00", "01", "02"]),
    ("PartitionKey eq 'q' and N ge 8L", ["08", "09"]),
    ("PartitionKey eq 'p' and (N eq 1L or Name eq 'it''s 5')", ["01", "05"]),
    ("PartitionKey eq 'p' and Even eq true and not (N lt 6L)", ["06", "08"]),
    ("When lt datetime'2020-01-02T00:00:00Z'", ["00", "00"]),
    ("PartitionKey eq 'nobody'", []),
])
def test_filter(service, filled, condition, expected):
    assert rows(service.query_entities(filled, filter=condition)) == expected


def test_filter_refused(service, filled):
    with refused(400, "InvalidInput"):
        service.query_entities(filled, filter="N eq")


def test_select(service, filled):
    found = list(service.query_entities(filled, filter="PartitionKey eq 'p' and RowKey eq '03'", select="N,Name"))
    assert [own(entity) for entity in found] == [{"N": 3, "Name": "it's 3"}]


def test_pages(service, filled):
    found, marker = [], None
    while True:
        page = service.query_entities(filled, num_results=7, marker=marker)
        entities = list(page)
        assert len(entities) <= 7
        found += [(entity.PartitionKey, entity.RowKey) for entity in entities]
        marker = page.next_marker
        if not marker:
            break
    assert found == [(partition, f"{n:02}") for partition in "pq" for n in range(10)]


@pytest.mark.parametrize("lib", ["cosmosdb"], indirect=True)  # the older one forgets the account in the path after a page
def test_more_than_a_page(lib, service, table):
    """Without a limit the library reads the next page by itself: a page has at most 1,000 entities."""
    for hundred in range(11):
        with service.batch(table) as batch:
            for n in range(100):
                batch.insert_entity(keyed(f"{hundred * 100 + n:04}"))
    assert rows(service.query_entities(table)) == [f"{n:04}" for n in range(1100)]


def test_table_that_is_not_there(service, name):
    with refused(404, "TableNotFound"):
        service.query_entities(name)
