package giovanni_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/Azure/go-autorest/autorest"
	"github.com/tombuildsstuff/giovanni/storage/2020-08-04/table/entities"
	"github.com/tombuildsstuff/giovanni/storage/2020-08-04/table/tables"
)

type beforeLibrary struct {
	tables   tables.Client
	entities entities.Client
	account  string
}

// before is a client of the library's version from before 2024. That version only supports addresses of the form
// https://ACCOUNT.table.SUFFIX. So the tests act as a proxy. The Host header of each request contains the host of such
// an address.
func before(t *testing.T, key string) library {
	t.Helper()
	signer, err := autorest.NewSharedKeyAuthorizer(setting("AccountName"), key, autorest.SharedKeyLiteForTable)
	must(t, err)
	server, err := url.Parse(setting("TableEndpoint"))
	must(t, err)
	sender := autorest.SenderFunc(func(r *http.Request) (*http.Response, error) {
		r.Host, r.URL.Scheme, r.URL.Host = r.URL.Host, "http", server.Host
		return http.DefaultClient.Do(r)
	})
	l := beforeLibrary{tables.New(), entities.New(), setting("AccountName")}
	for _, client := range []*autorest.Client{&l.tables.Client, &l.entities.Client} {
		client.Authorizer, client.Sender, client.RetryAttempts = signer, sender, 1
	}
	return l
}

func (l beforeLibrary) createTable(ctx context.Context, table string) (int, error) {
	result, err := l.tables.Create(ctx, l.account, table)
	return statusOf(result.Response), err
}

func (l beforeLibrary) tableExists(ctx context.Context, table string) (int, error) {
	result, err := l.tables.Exists(ctx, l.account, table)
	return statusOf(result.Response), err
}

func (l beforeLibrary) deleteTable(ctx context.Context, table string) (int, error) {
	result, err := l.tables.Delete(ctx, l.account, table)
	return statusOf(result.Response), err
}

func (l beforeLibrary) listTables(ctx context.Context) (names []string, status int, err error) {
	result, err := l.tables.Query(ctx, l.account, tables.MinimalMetaData)
	for _, table := range result.Tables {
		names = append(names, table.TableName)
	}
	return names, statusOf(result.Response.Response), err
}

func (l beforeLibrary) setACL(ctx context.Context, table string, policies []policy) (int, error) {
	var list []tables.SignedIdentifier
	for _, p := range policies {
		list = append(list, tables.SignedIdentifier{Id: p.id,
			AccessPolicy: tables.AccessPolicy{Start: p.start, Expiry: p.expiry, Permission: p.permission}})
	}
	result, err := l.tables.SetACL(ctx, l.account, table, list)
	return statusOf(result.Response), err
}

func (l beforeLibrary) getACL(ctx context.Context, table string) (policies []policy, status int, err error) {
	result, err := l.tables.GetACL(ctx, l.account, table)
	for _, p := range result.SignedIdentifiers {
		policies = append(policies, policy{p.Id, p.AccessPolicy.Start, p.AccessPolicy.Expiry, p.AccessPolicy.Permission})
	}
	return policies, statusOf(result.Response.Response), err
}

func (l beforeLibrary) insert(ctx context.Context, table, partition, row string, entity fields) (int, error) {
	result, err := l.entities.Insert(ctx, l.account, table, entities.InsertEntityInput{
		MetaDataLevel: entities.MinimalMetaData, PartitionKey: partition, RowKey: row, Entity: entity})
	return statusOf(result.Response), err
}

func (l beforeLibrary) insertOrMerge(ctx context.Context, table, partition, row string, entity fields) (int, error) {
	result, err := l.entities.InsertOrMerge(ctx, l.account, table, entities.InsertOrMergeEntityInput{
		PartitionKey: partition, RowKey: row, Entity: entity})
	return statusOf(result.Response), err
}

func (l beforeLibrary) insertOrReplace(ctx context.Context, table, partition, row string, entity fields) (int, error) {
	result, err := l.entities.InsertOrReplace(ctx, l.account, table, entities.InsertOrReplaceEntityInput{
		PartitionKey: partition, RowKey: row, Entity: entity})
	return statusOf(result.Response), err
}

func (l beforeLibrary) get(ctx context.Context, table, partition, row string) (fields, int, error) {
	result, err := l.entities.Get(ctx, l.account, table, entities.GetEntityInput{
		MetaDataLevel: entities.MinimalMetaData, PartitionKey: partition, RowKey: row})
	return result.Entity, statusOf(result.Response.Response), err
}

func (l beforeLibrary) delete(ctx context.Context, table, partition, row string) (int, error) {
	result, err := l.entities.Delete(ctx, l.account, table, entities.DeleteEntityInput{PartitionKey: partition, RowKey: row})
	return statusOf(result.Response), err
}

func (l beforeLibrary) query(ctx context.Context, table string, q query) ([]fields, [2]string, int, error) {
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
	result, err := l.entities.Query(ctx, l.account, table, input)
	return result.Entities, [2]string{result.NextPartitionKey, result.NextRowKey}, statusOf(result.Response.Response), err
}
