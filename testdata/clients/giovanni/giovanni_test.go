package giovanni_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/hashicorp/go-azure-sdk/sdk/auth"
	"github.com/jackofallops/giovanni/storage/2023-11-03/table/tables"
)

func TestCreateTable(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, ctx context.Context, l library, table string) {
		want(t, http.StatusConflict)(l.createTable(ctx, table))
		want(t, http.StatusOK)(l.tableExists(ctx, table))
		want(t, http.StatusNotFound)(l.tableExists(ctx, table+"x"))
		want(t, http.StatusBadRequest)(l.createTable(ctx, "1abc"))
	})
}

func TestListTables(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, ctx context.Context, l library, table string) {
		names, status, err := l.listTables(ctx)
		want(t, http.StatusOK)(status, err)
		if !slices.Contains(names, table) {
			t.Errorf("%s is not in %q", table, names)
		}
	})
}

func TestDeleteTable(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, ctx context.Context, l library, table string) {
		want(t, http.StatusNoContent)(l.deleteTable(ctx, table))
		want(t, http.StatusNotFound)(l.deleteTable(ctx, table))
		want(t, http.StatusNoContent)(l.createTable(ctx, table))
	})
}

func TestACL(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, ctx context.Context, l library, table string) {
		policies := []policy{{"MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=",
			"2020-11-26T08:49:37.0000000Z", "2020-11-27T08:49:37.0000000Z", "raud"}}
		want(t, http.StatusNoContent)(l.setACL(ctx, table, policies))
		got, status, err := l.getACL(ctx, table)
		want(t, http.StatusOK)(status, err)
		if !slices.Equal(got, policies) {
			t.Errorf("got %v, want %v", got, policies)
		}
		want(t, http.StatusNoContent)(l.setACL(ctx, table, nil))
		if got, _, _ := l.getACL(ctx, table); len(got) != 0 {
			t.Errorf("got %v, want none", got)
		}
		want(t, http.StatusNotFound)(l.setACL(ctx, table+"x", policies))
	})
}

func TestInsertEntity(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, ctx context.Context, l library, table string) {
		properties := fields{
			"String": "<x>", "Number": 1.5, "Bool": true, "Long@odata.type": "Edm.Int64", "Long": "1099511627776",
			"When@odata.type": "Edm.DateTime", "When": "2019-02-03T04:05:06Z",
			"Guid@odata.type": "Edm.Guid", "Guid": "c9da6455-213d-42c9-9a79-3e9149a57833",
			"Binary@odata.type": "Edm.Binary", "Binary": "AP8=",
		}
		want(t, http.StatusNoContent)(l.insert(ctx, table, "p", "r", maps.Clone(properties)))
		want(t, http.StatusConflict)(l.insert(ctx, table, "p", "r", fields{}))
		want(t, http.StatusNotFound)(l.insert(ctx, table+"x", "p", "r", fields{}))
		got, status, err := l.get(ctx, table, "p", "r")
		want(t, http.StatusOK)(status, err)
		if !maps.Equal(own(got), own(properties)) {
			t.Errorf("got %v, want %v", own(got), own(properties))
		}
	})
}

// TestGetEntity uses keys that contain blanks. The newer version of the library also sends a blank between the two
// keys of each request.
func TestGetEntity(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, ctx context.Context, l library, table string) {
		want(t, http.StatusNoContent)(l.insert(ctx, table, "a b", "c d", fields{"A": "x"}))
		_, status, err := l.get(ctx, table, "a b", "c d")
		want(t, http.StatusOK)(status, err)
		_, status, err = l.get(ctx, table, "a b", "missing")
		want(t, http.StatusNotFound)(status, err)
		_, status, err = l.get(ctx, table+"x", "a b", "c d")
		want(t, http.StatusNotFound)(status, err)
	})
}

// TestUpsertEntity checks that insertOrMerge and insertOrReplace both merge. This is an error of the library: both
// versions send MERGE for InsertOrReplace, too.
func TestUpsertEntity(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, ctx context.Context, l library, table string) {
		want(t, http.StatusNoContent)(l.insertOrMerge(ctx, table, "p", "r", fields{"A": "1"}))
		want(t, http.StatusNoContent)(l.insertOrMerge(ctx, table, "p", "r", fields{"B": "2"}))
		want(t, http.StatusNoContent)(l.insertOrReplace(ctx, table, "p", "r", fields{"C": "3"}))
		got, _, err := l.get(ctx, table, "p", "r")
		must(t, err)
		if !maps.Equal(own(got), fields{"A": "1", "B": "2", "C": "3"}) {
			t.Errorf("got %v", own(got))
		}
		want(t, http.StatusNotFound)(l.insertOrMerge(ctx, table+"x", "p", "r", fields{}))
	})
}

func TestDeleteEntity(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, ctx context.Context, l library, table string) {
		want(t, http.StatusNoContent)(l.insert(ctx, table, "p", "r", fields{}))
		want(t, http.StatusNoContent)(l.delete(ctx, table, "p", "r"))
		want(t, http.StatusNotFound)(l.delete(ctx, table, "p", "r"))
	})
}

func TestQueryEntities(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, ctx context.Context, l library, table string) {
		for n := range 10 {
			want(t, http.StatusNoContent)(l.insert(ctx, table, "p", fmt.Sprint(n), fields{"N": n, "Name": fmt.Sprint("n ", n)}))
		}
		found, _, _, err := l.query(ctx, table, query{filter: "N gt 2 and Name lt 'n 5'", selected: "N"})
		must(t, err)
		if got := fmt.Sprint(found); got != "[map[N:3] map[N:4]]" {
			t.Errorf("filtered: got %s", got)
		}
		var pages []int
		rows := ""
		for q := (query{top: 4}); ; {
			found, next, _, err := l.query(ctx, table, q)
			must(t, err)
			pages = append(pages, len(found))
			for _, entity := range found {
				rows += entity["RowKey"].(string)
			}
			if q.next = next; next == [2]string{} {
				break
			}
		}
		if !slices.Equal(pages, []int{4, 4, 2}) || rows != "0123456789" {
			t.Errorf("pages: got %v of %s", pages, rows)
		}
		_, _, status, err := l.query(ctx, table, query{filter: "N gt"})
		want(t, http.StatusBadRequest)(status, err)
		_, _, status, err = l.query(ctx, table+"x", query{})
		want(t, http.StatusNotFound)(status, err)
	})
}

func TestWrongKey(t *testing.T) {
	t.Parallel()
	const wrong = "d3JvbmcgYnV0IHdlbGwtZm9ybWVkIGtleQ=="
	for name, l := range map[string]library{"before": before(t, wrong), "since": since(t, wrong)} {
		_, status, err := l.listTables(t.Context())
		if status != http.StatusForbidden || err == nil {
			t.Errorf("%s: got %d, %v", name, status, err)
		}
	}
}

// TestServiceProperties tests the newer version only, because the older one has no methods for service properties.
func TestServiceProperties(t *testing.T) {
	ctx := t.Context()
	client, err := tables.NewWithBaseUri(setting("TableEndpoint"))
	must(t, err)
	signer, err := auth.NewSharedKeyAuthorizer(setting("AccountName"), setting("AccountKey"), auth.SharedKeyTable)
	must(t, err)
	client.Client.SetAuthorizer(signer)
	old, err := client.GetServiceProperties(ctx)
	must(t, err)
	t.Cleanup(func() {
		ctx := context.Background()
		_, err := client.SetServiceProperties(ctx, tables.SetStorageServicePropertiesInput{Properties: old.StorageServiceProperties})
		must(t, err)
	})
	apis := true
	wanted := tables.StorageServiceProperties{
		Logging: &tables.LoggingConfig{Version: "1.0", Delete: true, RetentionPolicy: tables.RetentionPolicy{Enabled: true, Days: 5}},
		HourMetrics: &tables.MetricsConfig{Version: "1.0", Enabled: true, IncludeAPIs: &apis,
			RetentionPolicy: tables.RetentionPolicy{Enabled: true, Days: 6}},
		Cors: &tables.Cors{CorsRule: []tables.CorsRule{{AllowedOrigins: "http://example.com", AllowedMethods: "GET,PUT",
			AllowedHeaders: "x-ms-meta-*", ExposedHeaders: "x-ms-*", MaxAgeInSeconds: 60}}},
	}
	_, err = client.SetServiceProperties(ctx, tables.SetStorageServicePropertiesInput{Properties: wanted})
	must(t, err)
	got, err := client.GetServiceProperties(ctx)
	must(t, err)
	if *got.Logging != *wanted.Logging {
		t.Errorf("logging: got %+v, want %+v", *got.Logging, *wanted.Logging)
	}
	if got.HourMetrics.RetentionPolicy.Days != 6 || !*got.HourMetrics.IncludeAPIs {
		t.Errorf("metrics: got %+v", *got.HourMetrics)
	}
	if !slices.Equal(got.Cors.CorsRule, wanted.Cors.CorsRule) {
		t.Errorf("CORS: got %+v, want %+v", got.Cors.CorsRule, wanted.Cors.CorsRule)
	}
}
