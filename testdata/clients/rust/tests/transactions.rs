use crate::harness::*;
use azure_core::StatusCode;
use azure_data_tables::operations::TransactionBuilder;
use azure_data_tables::IfMatchCondition;
use serde_json::{json, Value};

/// Sends a transaction. The crate takes each for a success and gives the status of each operation in it.
async fn statuses(transaction: TransactionBuilder) -> Vec<StatusCode> {
    let response = transaction.await.expect("transaction");
    response.operation_responses.iter().map(|operation| operation.status_code).collect()
}

#[tokio::test]
async fn each_operation() {
    with_table(|table| async move {
        for row in ["update", "merge", "upsert", "upmerge", "delete"] {
            insert(&table, &entity(row, json!({"A": 1}))).await;
        }
        let new = |row: &str| entity(row, json!({"B": 2}));
        let transaction = (table.partition_key_client("p").transaction())
            .insert(new("insert")).unwrap()
            .update("update", new("update"), Some(IfMatchCondition::Any)).unwrap()
            .merge("merge", new("merge"), Some(IfMatchCondition::Any)).unwrap()
            .insert_or_replace("upsert", new("upsert")).unwrap()
            .insert_or_merge("upmerge", new("upmerge")).unwrap()
            .delete("delete", None).unwrap();
        let no = StatusCode::NoContent;
        assert_eq!(statuses(transaction).await, [StatusCode::Created, no, no, no, no, no]);
        for (row, left) in [("insert", json!({"B": 2})), ("update", json!({"B": 2})), ("merge", json!({"A": 1, "B": 2})),
                            ("upsert", json!({"B": 2})), ("upmerge", json!({"A": 1, "B": 2}))] {
            assert_eq!(read(&table, row).await, left, "{row}");
        }
        refused(404, "ResourceNotFound", at(&table, "delete").get::<Value>()).await;
    })
    .await;
}

#[tokio::test]
async fn nothing() {
    with_table(|table| async move {
        assert!(statuses(table.partition_key_client("p").transaction()).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn all_or_nothing() {
    with_table(|table| async move {
        insert(&table, &entity("there", json!({}))).await;
        let stale = at(&table, "there").get::<Value>().await.expect("get").etag;
        at(&table, "there").insert_or_replace(entity("there", json!({}))).unwrap().await.expect("replace");
        let begun = || table.partition_key_client("p").transaction().insert(entity("new", json!({}))).unwrap();
        let there = || entity("there", json!({}));
        for (status, failing) in [
            (StatusCode::Conflict, begun().insert(there()).unwrap()),
            (StatusCode::NotFound, begun().merge("missing", entity("missing", json!({})), Some(IfMatchCondition::Any)).unwrap()),
            (StatusCode::PreconditionFailed, begun().merge("there", there(), Some(stale.clone().into())).unwrap()),
            (StatusCode::PreconditionFailed, begun().update("there", there(), Some(stale.clone().into())).unwrap()),
            (StatusCode::PreconditionFailed, begun().delete("there", Some(stale.clone().into())).unwrap()),
        ] {
            assert_eq!(statuses(failing).await, [status]); // one answer, that of the operation that failed
            assert_eq!(rows(table.query()).await.expect("query").0, ["there"]);
        }
    })
    .await;
}
