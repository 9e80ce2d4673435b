import pytest

from conftest import keyed, own, rows


def test_each_operation(lib, service, table):
    for row in ("update", "merge", "replace", "merged", "delete"):
        service.insert_entity(table, keyed(row, A=1))
    batch = lib.TableBatch()
    batch.insert_entity(keyed("insert", B=2))
    batch.update_entity(keyed("update", B=2))
    batch.merge_entity(keyed("merge", B=2))
    batch.insert_or_replace_entity(keyed("replace", B=2))
    batch.insert_or_merge_entity(keyed("merged", B=2))
    batch.delete_entity("p", "delete")
    etags = service.commit_batch(table, batch)
    found = {entity.RowKey: entity for entity in service.query_entities(table)}
    assert {row: own(entity) for row, entity in found.items()} == {
        "insert": {"B": 2}, "update": {"B": 2}, "replace": {"B": 2}, "merge": {"A": 1, "B": 2}, "merged": {"A": 1, "B": 2},
    }
    assert etags == [found[row].etag for row in ("insert", "update", "merge", "replace", "merged")] + [None]


def test_nothing(service, table):
    with service.batch(table):
        pass  # sent as a changeset without operations


def test_a_hundred(service, table):
    with service.batch(table) as batch:
        for n in range(100):
            batch.insert_entity(keyed(f"{n:02}"))
    assert rows(service.query_entities(table)) == [f"{n:02}" for n in range(100)]


def failed(lib, service, table, batch, code):
    with pytest.raises(lib.AzureBatchOperationError) as caught:
        service.commit_batch(table, batch)
    assert caught.value.code == code
    assert str(caught.value).startswith("1:"), caught.value  # the index of what failed


def test_all_or_nothing(lib, service, table):
    service.insert_entity(table, keyed("there"))
    batch = lib.TableBatch()
    batch.insert_entity(keyed("new"))
    batch.insert_entity(keyed("there"))
    failed(lib, service, table, batch, "EntityAlreadyExists")
    batch = lib.TableBatch()
    batch.insert_entity(keyed("new"))
    batch.merge_entity(keyed("missing"))
    failed(lib, service, table, batch, "ResourceNotFound")
    assert rows(service.query_entities(table)) == ["there"]


@pytest.mark.parametrize("method", ["update", "merge"])
def test_condition(lib, service, table, method):
    stale = service.insert_entity(table, keyed("there", A=1))
    current = service.update_entity(table, keyed("there", A=2))
    for etag in (stale, current):
        batch = lib.TableBatch()
        batch.insert_entity(keyed("new"))
        getattr(batch, f"{method}_entity")(keyed("there", A=3), if_match=etag)
        if etag == stale:
            failed(lib, service, table, batch, "UpdateConditionNotSatisfied")
    service.commit_batch(table, batch)
    assert own(service.get_entity(table, "p", "there")) == {"A": 3}


def test_table_that_is_not_there(lib, service, name):
    batch = lib.TableBatch()
    batch.insert_entity(keyed("new"))
    with pytest.raises(lib.AzureBatchOperationError) as caught:
        service.commit_batch(name, batch)
    assert caught.value.code == "TableNotFound"
