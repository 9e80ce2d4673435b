from conftest import keyed, refused, rows


def test_create(service, name):
    assert service.exists(name) is False
    assert service.create_table(name) is True
    assert service.create_table(name) is False  # 409 without fail_on_exist
    with refused(409, "TableAlreadyExists"):
        service.create_table(name, fail_on_exist=True)
    assert service.exists(name) is True


def test_create_invalid(service):
    with refused(400, "InvalidResourceName"):
        service.create_table("1abc")


def test_list(service, table):
    assert table in [t.name for t in service.list_tables()]


def test_list_in_pages(service, table):
    names, marker = [], None
    while True:
        page = service.list_tables(num_results=1, marker=marker)
        names += [t.name for t in page]
        marker = page.next_marker
        if not marker:
            break
    assert table in names and len(names) == len(set(names))


def test_delete(service, table):
    assert service.delete_table(table) is True
    assert service.delete_table(table) is False  # 404 without fail_not_exist
    with refused(404, "ResourceNotFound"):
        service.delete_table(table, fail_not_exist=True)


def test_delete_and_create_again(service, table):
    service.insert_entity(table, keyed("r"))
    service.delete_table(table)
    service.create_table(table, fail_on_exist=True)
    assert rows(service.query_entities(table)) == []
