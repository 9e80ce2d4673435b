package clients_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func TestAddEntity(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	response, err := client.AddEntity(t.Context(), entity(t, "p", "r", fields{"A": "x"}), nil)
	if err != nil {
		t.Fatalf("add: %v", err)
	}
	answered := decode(t, response.Value)
	if answered["PartitionKey"] != "p" || answered["RowKey"] != "r" || answered["A"] != "x" {
		t.Errorf("the answer to an insert is the entity: got %v", answered)
	}
	if answered["odata.etag"] != string(response.ETag) {
		t.Errorf("odata.etag %v differs from the ETag header %v", answered["odata.etag"], response.ETag)
	}
	_, err = client.AddEntity(t.Context(), entity(t, "p", "r", fields{"A": "y"}), nil)
	wantError(t, err, http.StatusConflict, "EntityAlreadyExists")
	if got := get(t, client, "p", "r")["A"]; got != "x" {
		t.Errorf("a refused insert changed the entity: %v", got)
	}
	add(t, client, "P", "r", nil) // these keys differ from the others only in case, so they are different keys
	add(t, client, "p", "R", nil)
}

func TestGetEntityFormats(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	etag := add(t, client, "p", "r", fields{"N": "9", "N@odata.type": "Edm.Int64"})
	for _, test := range []struct {
		format     aztables.MetadataFormat
		has, hasNo []string
	}{
		{aztables.MetadataFormatNone, []string{"N", "Timestamp"}, []string{"odata.metadata", "odata.etag", "odata.id", "N@odata.type"}},
		{aztables.MetadataFormatMinimal, []string{"N", "odata.metadata", "odata.etag", "N@odata.type"}, []string{"odata.id", "odata.type", "odata.editLink", "Timestamp@odata.type"}},
		{aztables.MetadataFormatFull, []string{"N", "odata.metadata", "odata.etag", "odata.id", "odata.type", "odata.editLink", "N@odata.type", "Timestamp@odata.type"}, nil},
	} {
		t.Run(string(test.format), func(t *testing.T) {
			response, err := client.GetEntity(t.Context(), "p", "r", &aztables.GetEntityOptions{Format: &test.format})
			if err != nil {
				t.Fatalf("get: %v", err)
			}
			if response.ETag != etag { // the ETag header is sent with every level of metadata
				t.Errorf("ETag: got %v, want %v", response.ETag, etag)
			}
			members := decode(t, response.Value)
			for _, name := range test.has {
				if _, ok := members[name]; !ok {
					t.Errorf("%s is missing", name)
				}
			}
			for _, name := range test.hasNo {
				if _, ok := members[name]; ok {
					t.Errorf("%s is there", name)
				}
			}
		})
	}
}

func TestMissingEntityAndTable(t *testing.T) {
	t.Parallel()
	here, nowhere := newTable(t), newService(t).NewClient(newName(t))
	body, ctx := entity(t, "p", "r", fields{"A": "x"}), t.Context()
	for _, target := range []struct {
		client *aztables.Client
		code   string
	}{{here, "ResourceNotFound"}, {nowhere, "TableNotFound"}} {
		for _, mode := range []aztables.UpdateMode{aztables.UpdateModeMerge, aztables.UpdateModeReplace} {
			_, err := target.client.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{UpdateMode: mode})
			wantError(t, err, http.StatusNotFound, target.code) // the SDK sends If-Match: *, so the entity must exist
		}
		_, err := target.client.GetEntity(ctx, "p", "r", nil)
		wantError(t, err, http.StatusNotFound, target.code)
		_, err = target.client.DeleteEntity(ctx, "p", "r", nil)
		wantError(t, err, http.StatusNotFound, target.code)
	}
	_, err := nowhere.AddEntity(ctx, body, nil)
	wantError(t, err, http.StatusNotFound, "TableNotFound")
	_, err = nowhere.UpsertEntity(ctx, body, nil)
	wantError(t, err, http.StatusNotFound, "TableNotFound")
	_, err = nowhere.NewListEntitiesPager(nil).NextPage(ctx)
	wantError(t, err, http.StatusNotFound, "TableNotFound")
}

func TestUpdateAndUpsert(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	update := func(mode aztables.UpdateMode) func(*testing.T, []byte) (azcore.ETag, error) {
		return func(t *testing.T, body []byte) (azcore.ETag, error) {
			response, err := client.UpdateEntity(t.Context(), body, &aztables.UpdateEntityOptions{UpdateMode: mode})
			return response.ETag, err
		}
	}
	upsert := func(mode aztables.UpdateMode) func(*testing.T, []byte) (azcore.ETag, error) {
		return func(t *testing.T, body []byte) (azcore.ETag, error) {
			response, err := client.UpsertEntity(t.Context(), body, &aztables.UpsertEntityOptions{UpdateMode: mode})
			return response.ETag, err
		}
	}
	merged, replaced := fields{"Keep": "k", "Change": "new", "Fresh": true}, fields{"Change": "new", "Fresh": true}
	for _, test := range []struct {
		row     string
		write   func(*testing.T, []byte) (azcore.ETag, error)
		present bool
		want    fields
	}{
		{"update merge", update(aztables.UpdateModeMerge), true, merged},
		{"update replace", update(aztables.UpdateModeReplace), true, replaced},
		{"upsert merge present", upsert(aztables.UpdateModeMerge), true, merged},
		{"upsert replace present", upsert(aztables.UpdateModeReplace), true, replaced},
		{"upsert merge absent", upsert(aztables.UpdateModeMerge), false, replaced},
		{"upsert replace absent", upsert(aztables.UpdateModeReplace), false, replaced},
	} {
		t.Run(test.row, func(t *testing.T) {
			var before azcore.ETag
			if test.present {
				before = add(t, client, "p", test.row, fields{"Keep": "k", "Change": 1})
			}
			after, err := test.write(t, entity(t, "p", test.row, fields{"Change": "new", "Fresh": true, "Gone": nil}))
			if err != nil {
				t.Fatalf("write: %v", err)
			}
			if after == "" || after == before {
				t.Errorf("ETag: got %q after %q", after, before)
			}
			got := get(t, client, "p", test.row)
			if !reflect.DeepEqual(got.custom(), test.want) { // the property Change has changed its type, and the null property is not stored
				t.Errorf("got %v, want %v", got.custom(), test.want)
			}
			if got["odata.etag"] != string(after) {
				t.Errorf("stored ETag %v, answered %v", got["odata.etag"], after)
			}
		})
	}
}

func TestMergeIgnoresNull(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	add(t, client, "p", "r", fields{"A": "x"})
	if _, err := client.UpdateEntity(t.Context(), entity(t, "p", "r", fields{"A": nil}), nil); err != nil {
		t.Fatalf("merge: %v", err)
	}
	if got := get(t, client, "p", "r")["A"]; got != "x" {
		t.Errorf("a merge cannot remove a property: got %v, want x", got)
	}
}

// TestReadModifyWrite checks that the service accepts an entity that a program sends back as it was
// read, with its annotations.
func TestReadModifyWrite(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	add(t, client, "p", "r", fields{"N": "9007199254740993", "N@odata.type": "Edm.Int64", "Timestamp": "1999-01-01T00:00:00Z"})
	for _, format := range []aztables.MetadataFormat{aztables.MetadataFormatMinimal, aztables.MetadataFormatFull} {
		read, err := client.GetEntity(t.Context(), "p", "r", &aztables.GetEntityOptions{Format: &format})
		if err != nil {
			t.Fatalf("get: %v", err)
		}
		changed := decode(t, read.Value)
		changed["Text"] = string(format)
		options := &aztables.UpdateEntityOptions{IfMatch: &read.ETag, UpdateMode: aztables.UpdateModeReplace}
		written, err := client.UpdateEntity(t.Context(), encode(t, changed), options)
		if err != nil {
			t.Fatalf("write what was read as %s: %v", format, err)
		}
		got := get(t, client, "p", "r")
		want := fields{"N": "9007199254740993", "Text": string(format)}
		if !reflect.DeepEqual(got.custom(), want) || got["N@odata.type"] != "Edm.Int64" {
			t.Errorf("got %v, want %v", got, want)
		}
		if got["odata.etag"] != string(written.ETag) || got["Timestamp"] == changed["Timestamp"] {
			t.Errorf("ETag %v and Timestamp %v are the server's to choose, not the client's", got["odata.etag"], got["Timestamp"])
		}
	}
}

// TestETagsOfQuickWritesDiffer checks that every write makes a new ETag, even a write that changes
// nothing and immediately follows another.
func TestETagsOfQuickWritesDiffer(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	seen := map[azcore.ETag]bool{add(t, client, "p", "r", nil): true}
	for i := range 20 {
		response, err := client.UpdateEntity(t.Context(), entity(t, "p", "r", nil), nil)
		if err != nil {
			t.Fatalf("write %d: %v", i, err)
		}
		if seen[response.ETag] {
			t.Fatalf("write %d: ETag %v was used before", i, response.ETag)
		}
		seen[response.ETag] = true
	}
}

func TestConditionalWrites(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	writes := map[string]func(t *testing.T, row string, etag *azcore.ETag) error{
		"merge": func(t *testing.T, row string, etag *azcore.ETag) error {
			_, err := client.UpdateEntity(t.Context(), entity(t, "p", row, fields{"A": 2}),
				&aztables.UpdateEntityOptions{IfMatch: etag, UpdateMode: aztables.UpdateModeMerge})
			return err
		},
		"replace": func(t *testing.T, row string, etag *azcore.ETag) error {
			_, err := client.UpdateEntity(t.Context(), entity(t, "p", row, fields{"A": 2}),
				&aztables.UpdateEntityOptions{IfMatch: etag, UpdateMode: aztables.UpdateModeReplace})
			return err
		},
		"delete": func(t *testing.T, row string, etag *azcore.ETag) error {
			_, err := client.DeleteEntity(t.Context(), "p", row, &aztables.DeleteEntityOptions{IfMatch: etag})
			return err
		},
	}
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row := name
			stale := add(t, client, "p", row, fields{"A": 1})
			if _, err := client.UpdateEntity(t.Context(), entity(t, "p", row, nil), nil); err != nil {
				t.Fatalf("update behind the back: %v", err)
			}
			wantError(t, write(t, row, &stale), http.StatusPreconditionFailed, "UpdateConditionNotSatisfied")
			unknown := azcore.ETag(`W/"datetime'2012-06-15T22%3A51%3A44.9662825Z'"`)
			wantError(t, write(t, row, &unknown), http.StatusPreconditionFailed, "UpdateConditionNotSatisfied")
			garbage := azcore.ETag("MalformedETag")
			wantError(t, write(t, row, &garbage), http.StatusBadRequest, "InvalidInput")
			if got := get(t, client, "p", row)["A"]; got != 1.0 {
				t.Errorf("a refused write changed the entity: A is %v", got)
			}
			current := azcore.ETag(get(t, client, "p", row)["odata.etag"].(string))
			if err := write(t, row, &current); err != nil {
				t.Errorf("current ETag: %v", err)
			}
			if name == "delete" {
				wantError(t, write(t, row, &current), http.StatusNotFound, "ResourceNotFound") // 404, not 412, if there is no entity
			}
			add(t, client, "p", row+"*", nil)
			if err := write(t, row+"*", to.Ptr(azcore.ETagAny)); err != nil {
				t.Errorf("If-Match: *: %v", err)
			}
		})
	}
}

func TestETagForm(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	etag := string(add(t, client, "p", "r", nil))
	timestamp := get(t, client, "p", "r")["Timestamp"].(string)
	if want := `W/"datetime'` + strings.ReplaceAll(timestamp, ":", "%3A") + `'"`; etag != want {
		t.Errorf("got %s, want the Timestamp, %s", etag, want)
	}
}
