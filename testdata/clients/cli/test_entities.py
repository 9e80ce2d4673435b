import pytest

from az import Failed, az

operation = pytest.mark.operation
STALE = "W/\"datetime'2012-06-15T22%3A51%3A44.9662825Z'\""


def insert(table, row, *properties, **options):
    flags = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
    return az("storage entity insert -t", table, "-e", "PartitionKey=p", f"RowKey={row}", *properties, *flags)


def show(table, row, *flags):
    return az("storage entity show --partition-key p -t", table, "--row-key", row, *flags)


def own(entity):
    return {name: value for name, value in entity.items() if name not in ("PartitionKey", "RowKey", "Timestamp", "etag")}


def rows(answer):
    return "".join(entity["RowKey"] for entity in answer["items"])


@operation("InsertEntity")
def test_insert(table):
    etag = insert(table, "r", "Name=x y", "Age=23", "Ratio=1.5")["etag"]
    shown = show(table, "r")
    assert (own(shown), shown["etag"]) == ({"Name": "x y", "Age": 23, "Ratio": 1.5}, etag)
    with pytest.raises(Failed, match="The specified entity already exists"):
        insert(table, "r")


@operation("InsertEntity")
def test_types(table):
    typed = {
        "Big": ("Edm.Int64", "5000000000"), "When": ("Edm.DateTime", "2020-01-01T00:00:00Z"),
        "Id": ("Edm.Guid", "c9da6455-213d-42c9-9a79-3e9149a57833"), "Ok": ("Edm.Boolean", "true"),
        "Text": ("Edm.String", "5"), "Ratio": ("Edm.Double", "5"),
    }
    words = [word for name, (kind, value) in typed.items() for word in (f"{name}={value}", f"{name}@odata.type={kind}")]
    insert(table, "r", *words)
    shown = own(show(table, "r"))
    assert shown["Big"] == {"value": 5000000000, "edm_type": "Edm.Int64"}
    assert (shown["When"], shown["Id"]) == ("2020-01-01T00:00:00+00:00", typed["Id"][1])
    assert (shown["Ok"], shown["Text"], shown["Ratio"]) == (True, "5", 5.0)


@operation("UpsertEntity")
@pytest.mark.parametrize("mode, left", [("merge", {"Old": 1, "New": 2}), ("replace", {"New": 2})])
def test_insert_over(table, mode, left):
    insert(table, "r", "Old=1", if_exists=mode)
    etag = insert(table, "r", "New=2", if_exists=mode)["etag"]
    shown = show(table, "r")
    assert (own(shown), shown["etag"]) == (left, etag)


@pytest.mark.parametrize("mode, left", [
    pytest.param("merge", {"Old": 1, "New": 2}, marks=operation("MergeEntity")),
    pytest.param("replace", {"New": 2}, marks=operation("UpdateEntity")),
])
def test_update(table, mode, left):
    etag = insert(table, "r", "Old=1")["etag"]
    update = [f"storage entity {mode} -t", table, "-e", "PartitionKey=p", "RowKey=r", "New=2"]
    with pytest.raises(Failed, match="UpdateConditionNotSatisfied"):
        az(*update, "--if-match", STALE)
    assert own(show(table, "r")) == {"Old": 1}
    changed = az(*update, "--if-match", etag)["etag"]
    shown = show(table, "r")
    assert (own(shown), shown["etag"]) == (left, changed)
    az(*update)  # without an ETag, whatever there is


@operation("GetEntity")
def test_show(table):
    insert(table, "r", "A=1", "B=2")
    assert show(table, "r", "--select", "A", "RowKey") | {"etag": "", "Timestamp": ""} == {
        "A": 1, "RowKey": "r", "etag": "", "Timestamp": "",
    }
    with pytest.raises(Failed) as caught:
        show(table, "none")
    assert caught.value.code == 3


@operation("GetEntity")
@pytest.mark.parametrize("row", ["O'Brien", "a b+c", "100%", "Ελλάδα"])
def test_keys(table, row):
    insert(table, row)
    assert show(table, row)["RowKey"] == row


@operation("DeleteEntity")
def test_delete(table):
    etag, delete = insert(table, "r")["etag"], "storage entity delete --partition-key p --row-key r -t"
    with pytest.raises(Failed, match="UpdateConditionNotSatisfied"):
        az(delete, table, "--if-match", STALE)
    az(delete, table, "--if-match", etag)
    insert(table, "r")
    az(delete, table)
    with pytest.raises(Failed):
        show(table, "r")


@operation("QueryEntities")
def test_query(table):
    for row, age in zip("abcd", range(4)):
        insert(table, row, f"Age={age}")
    query = ["storage entity query -t", table]
    assert rows(az(*query)) == "abcd"
    assert rows(az(*query, "--filter", "Age ge 1 and RowKey lt 'd'")) == "bc"
    assert [own(entity) for entity in az(*query, "--select", "Age", "--filter", "RowKey eq 'c'")["items"]] == [{"Age": 2}]
    with pytest.raises(Failed, match="InvalidInput|[Ss]yntax error"):
        az(*query, "--filter", "aaa bbb ccc")


@operation("QueryEntities")
def test_pages(table):
    for row in "abcde":
        insert(table, row)
    found, marker = [], {}
    while not found or marker:
        words = ["--marker", *(f"{name}={value}" for name, value in marker.items())] if marker else []
        page = az("storage entity query --num-results 2 -t", table, *words)
        found, marker = found + [rows(page)], page["nextMarker"]
    assert found == ["ab", "cd", "e"]


@operation("Errors")
def test_missing_table():
    for command in ("query -t none1", "insert -e PartitionKey=p RowKey=r -t none1"):
        with pytest.raises(Failed, match="The table specified does not exist"):
            az("storage entity " + command)
