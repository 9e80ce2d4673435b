package giovanni_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/go-azure-sdk/sdk/auth"
	"github.com/jackofallops/giovanni/storage/2023-11-03/table/entities"
	"github.com/jackofallops/giovanni/storage/2023-11-03/table/tables"
)

type sinceLibrary struct {
	tables   *tables.Client
	entities *entities.Client
}

func since(t *testing.T, key string) library {
	t.Helper()
	signer, err := auth.NewSharedKeyAuthorizer(setting("AccountName"), key, auth.SharedKeyTable)
	must(t, err)
	t1, err := tables.NewWithBaseUri(setting("TableEndpoint"))
	must(t, err)
	t1.Client.SetAuthorizer(signer)
	e, err := entities.NewWithBaseUri(setting("TableEndpoint"))
	must(t, err)
	e.Client.SetAuthorizer(signer)
	return sinceLibrary{t1, e}
}

func statusOf(response *http.Response) int {
	if response == nil {
		return 0
	}
	return response.StatusCode
}

func (l sinceLibrary) createTable(ctx context.Context, table string) (int, error) {
	result, err := l.tables.Create(ctx, table)
	return statusOf(result.HttpResponse), err
}

func (l sinceLibrary) tableExists(ctx context.Context, table string) (int, error) {
	result, err := l.tables.Exists(ctx, table)
	return statusOf(result.HttpResponse), err
}

func (l sinceLibrary) deleteTable(ctx context.Context, table string) (int, error) {
	result, err := l.tables.Delete(ctx, table)
	return statusOf(result.HttpResponse), err
}

func (l sinceLibrary) listTables(ctx context.Context) (names []string, status int, err error) {
	result, err := l.tables.Query(ctx, tables.QueryInput{MetaDataLevel: tables.MinimalMetaData})
	for _, table := range result.Tables {
		names = append(names, table.TableName)
	}
	return names, statusOf(result.HttpResponse), err
}

func (l sinceLibrary) setACL(ctx context.Context, table string, policies []policy) (int, error) {
	var list []tables.SignedIdentifier
	for _, p := range policies {
		list = append(list, tables.SignedIdentifier{Id: p.id,
			AccessPolicy: tables.AccessPolicy{Start: p.start, Expiry: p.expiry, Permission: p.permission}})
	}
	result, err := l.tables.SetACL(ctx, table, list)
	return statusOf(result.HttpResponse), err
}

func (l sinceLibrary) getACL(ctx context.Context, table string) (policies []policy, status int, err error) {
	result, err := l.tables.GetACL(ctx, table)
	for _, p := range result.SignedIdentifiers {
		policies = append(policies, policy{p.Id, p.AccessPolicy.Start, p.AccessPolicy.Expiry, p.AccessPolicy.Permission})
	}
	return policies, statusOf(result.HttpResponse), err
}

func (l sinceLibrary) insert(ctx context.Context, table, partition, row string, entity fields) (int, error) {
	result, err := l.entities.Insert(ctx, table, entities.InsertEntityInput{
		MetaDataLevel: entities.MinimalMetaData, PartitionKey: partition, RowKey: row, Entity: entity})
	return statusOf(result.HttpResponse), err
}

func (l sinceLibrary) insertOrMerge(ctx context.Context, table, partition, row string, entity fields) (int, error) {
	result, err := l.entities.InsertOrMerge(ctx, table, entities.InsertOrMergeEntityInput{
		PartitionKey: partition, RowKey: row, Entity: entity})
	return statusOf(result.HttpResponse), err
}

func (l sinceLibrary) insertOrReplace(ctx context.Context, table, partition, row string, entity fields) (int, error) {
	result, err := l.entities.InsertOrReplace(ctx, table, entities.InsertOrReplaceEntityInput{
		PartitionKey: partition, RowKey: row, Entity: entity})
	return statusOf(result.HttpResponse), err
}

func (l sinceLibrary) get(ctx context.Context, table, partition, row string) (fields, int, error) {
	result, err := l.entities.Get(ctx, table, entities.GetEntityInput{
		MetaDataLevel: entities.MinimalMetaData, PartitionKey: partition, RowKey: row})
	return result.Entity, statusOf(result.HttpResponse), err
}

func (l sinceLibrary) delete(ctx context.Context, table, partition, row string) (int, error) {
	result, err := l.entities.Delete(ctx, table, entities.DeleteEntityInput{PartitionKey: partition, RowKey: row})
	return statusOf(result.HttpResponse), err
}

func (l sinceLibrary) query(ctx context.Context, table string, q query) ([]fields, [2]string, int, error) {
	input := entities.QueryEntitiesInput{MetaDataLevel: entities.NoMetaData}
	if q.filter != "" {
		input.Filter = &q.filter
	}
	if q.selected != "" {
		names := strings.Split(q.selected, ",")
		input.PropertyNamesToSelect = &names
	}
	if q.top != 0 {
		input.Top = &q.top
	}
	if q.next != [2]string{} {
		input.NextPartitionKey, input.NextRowKey = &q.next[0], &q.next[1]
	}
	result, err := l.entities.Query(ctx, table, input)
	var next [2]string // this version of the library does not fill the result's fields for the continuation
	if result.HttpResponse != nil {
		header := result.HttpResponse.Header
		next = [2]string{header.Get("x-ms-continuation-NextPartitionKey"), header.Get("x-ms-continuation-NextRowKey")}
	}
	return result.Entities, next, statusOf(result.HttpResponse), err
}
