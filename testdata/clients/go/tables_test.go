package clients_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func TestCreateAndDeleteTable(t *testing.T) {
	t.Parallel()
	service, name := newService(t), newName(t)
	created, err := service.CreateTable(t.Context(), name, nil)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	if created.TableName == nil || *created.TableName != name {
		t.Errorf("created name: got %v, want %s", created.TableName, name)
	}
	_, err = service.CreateTable(t.Context(), name, nil)
	wantError(t, err, http.StatusConflict, "TableAlreadyExists")
	_, err = service.CreateTable(t.Context(), strings.ToUpper(name), nil)
	wantError(t, err, http.StatusConflict, "TableAlreadyExists") // names that differ only in case are the same name

	if _, err := service.DeleteTable(t.Context(), strings.ToLower(name), nil); err != nil {
		t.Errorf("delete by another case: %v", err)
	}
	_, err = service.DeleteTable(t.Context(), name, nil)
	wantError(t, err, http.StatusNotFound, "ResourceNotFound") // not TableNotFound, because the table is the resource of this operation
}

func TestRecreatedTableIsEmpty(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	add(t, client, "p", "r", nil)
	if _, err := client.Delete(t.Context(), nil); err != nil {
		t.Fatalf("delete: %v", err)
	}
	if _, err := client.CreateTable(t.Context(), nil); err != nil {
		t.Fatalf("create again: %v", err)
	}
	wantRows(t, list(t, client, nil))
}

func TestTableNameIsCaseInsensitiveForEntities(t *testing.T) {
	t.Parallel()
	service, name := newService(t), newName(t)
	if _, err := service.CreateTable(t.Context(), name, nil); err != nil {
		t.Fatalf("create: %v", err)
	}
	t.Cleanup(func() { deleteTable(t, service, name) })
	add(t, service.NewClient(strings.ToUpper(name)), "p", "r", fields{"A": "x"})
	if got := get(t, service.NewClient(strings.ToLower(name)), "p", "r")["A"]; got != "x" {
		t.Errorf("read through another case: got %v, want x", got)
	}
}

func TestInvalidTableNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, code, why string }{
		{"ab", "OutOfRangeInput", "two characters; three is the least"},
		{strings.Repeat("a", 64), "OutOfRangeInput", "64 characters; 63 is the most"},
		{"a-b", "InvalidResourceName", "dash"},
		{"a_b", "InvalidResourceName", "underscore"},
		{"1abc", "InvalidResourceName", "leading digit"},
		{"täble", "InvalidResourceName", "letters of ASCII only"},
		{"my table", "InvalidResourceName", "blank"},
		{"tables", "InvalidInput", "reserved"},
		{"Tables", "InvalidInput", "reserved in any case"},
	} {
		t.Run(test.why, func(t *testing.T) {
			t.Parallel()
			_, err := newService(t).CreateTable(t.Context(), test.name, nil)
			wantError(t, err, http.StatusBadRequest, test.code)
		})
	}
}

func TestTableNameLimits(t *testing.T) {
	t.Parallel()
	service := newService(t)
	longest := newName(t)
	longest += strings.Repeat("z", 63-len(longest))
	if _, err := service.CreateTable(t.Context(), longest, nil); err != nil {
		t.Fatalf("63 characters: %v", err)
	}
	deleteTable(t, service, longest)
}

func TestListTables(t *testing.T) {
	t.Parallel()
	service, prefix := newService(t), newName(t)
	var names []string
	for _, suffix := range []string{"E", "B", "D", "A", "C"} {
		name := prefix + suffix
		if _, err := service.CreateTable(t.Context(), name, nil); err != nil {
			t.Fatalf("create %s: %v", name, err)
		}
		t.Cleanup(func() { deleteTable(t, service, name) })
		names = append(names, name)
	}
	slices.Sort(names)
	mine := "TableName ge '" + prefix + "' and TableName lt '" + prefix + "z'"

	t.Run("filter by prefix, sorted, case preserved", func(t *testing.T) {
		got := listTables(t, service, &aztables.ListTablesOptions{Filter: &mine})
		if !slices.Equal(got, names) {
			t.Errorf("got %q, want %q", got, names)
		}
	})
	t.Run("filter by equality", func(t *testing.T) {
		filter := "TableName eq '" + names[2] + "'"
		got := listTables(t, service, &aztables.ListTablesOptions{Filter: &filter})
		if !slices.Equal(got, names[2:3]) {
			t.Errorf("got %q, want %q", got, names[2:3])
		}
	})
	t.Run("unfiltered listing has them", func(t *testing.T) {
		got := listTables(t, service, nil)
		for _, name := range names {
			if !slices.Contains(got, name) {
				t.Errorf("%s is missing", name)
			}
		}
	})
	t.Run("pages and resuming from a token", func(t *testing.T) {
		options := &aztables.ListTablesOptions{Filter: &mine, Top: to.Ptr(int32(2))}
		first, err := service.NewListTablesPager(options).NextPage(t.Context())
		if err != nil {
			t.Fatalf("first page: %v", err)
		}
		if len(first.Tables) != 2 || first.NextTableName == nil {
			t.Fatalf("first page: %d tables, token %v; want 2 and a token", len(first.Tables), first.NextTableName)
		}
		options.NextTableName = first.NextTableName
		if got := listTables(t, service, options); !slices.Equal(got, names[2:]) {
			t.Errorf("resumed: got %q, want %q", got, names[2:])
		}
	})
	t.Run("full metadata", func(t *testing.T) {
		options := &aztables.ListTablesOptions{Filter: &mine, Format: to.Ptr(aztables.MetadataFormatFull)}
		page, err := service.NewListTablesPager(options).NextPage(t.Context())
		if err != nil || len(page.Tables) == 0 {
			t.Fatalf("list: %d tables, %v", len(page.Tables), err)
		}
		members := decode(t, page.Tables[0].Value)
		if got, want := members["odata.editLink"], "Tables('"+names[0]+"')"; got != want {
			t.Errorf("odata.editLink: got %v, want %v", got, want)
		}
	})
	t.Run("unusable filter", func(t *testing.T) {
		options := &aztables.ListTablesOptions{Filter: to.Ptr("aaa bbb ccc")}
		_, err := service.NewListTablesPager(options).NextPage(t.Context())
		wantError(t, err, http.StatusBadRequest, "InvalidInput")
	})
}

func listTables(t *testing.T, service *aztables.ServiceClient, options *aztables.ListTablesOptions) []string {
	t.Helper()
	var names []string
	for pager := service.NewListTablesPager(options); pager.More(); {
		page, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatalf("list tables: %v", err)
		}
		for _, table := range page.Tables {
			names = append(names, *table.Name)
		}
	}
	return names
}
