use crate::harness::*;
use azure_data_tables::clients::TableClient;
use futures::StreamExt;
use serde_json::{json, Value};

/// Inserts so many entities in transactions of a hundred.
async fn fill(table: &TableClient, count: usize) {
    for from in (0..count).step_by(100) {
        let mut transaction = table.partition_key_client("p").transaction();
        for n in from..count.min(from + 100) {
            transaction = transaction.insert(entity(&format!("{n:04}"), json!({"N": n, "Name": format!("it's {n}")}))).unwrap();
        }
        transaction.await.expect("fill");
    }
}

fn numbers(to: usize) -> Vec<String> {
    (0..to).map(|n| format!("{n:04}")).collect()
}

#[tokio::test]
async fn filters() {
    with_table(|table| async move {
        fill(&table, 10).await;
        for filter in ["RowKey eq '0003'", "N eq 3", "N gt 2 and N lt 4", "Name eq 'it''s 3'", "not (N ne 3)"] {
            assert_eq!(rows(table.query().filter(filter)).await.expect(filter).0, ["0003"], "{filter}");
        }
        refused(400, "InvalidInput", rows(table.query().filter("N eq"))).await;
    })
    .await;
    refused(404, "TableNotFound", rows(missing().query())).await;
}

#[tokio::test]
async fn select() {
    with_table(|table| async move {
        fill(&table, 1).await;
        let page = table.query().select("N").into_stream::<Value>().next().await.expect("a page").expect("query");
        assert_eq!(page.entities.iter().map(own).collect::<Vec<_>>(), [json!({"N": 0})]);
    })
    .await;
}

#[tokio::test]
async fn pages() {
    with_table(|table| async move {
        fill(&table, 20).await;
        let (found, sizes) = rows(table.query().top(7)).await.expect("query");
        assert_eq!(found, numbers(20));
        assert!(sizes.iter().all(|&size| size <= 7), "{sizes:?}");
    })
    .await;
}

#[tokio::test]
async fn more_than_a_page() {
    with_table(|table| async move {
        fill(&table, 1100).await;
        assert_eq!(rows(table.query()).await.expect("query").0, numbers(1100));
    })
    .await;
}
