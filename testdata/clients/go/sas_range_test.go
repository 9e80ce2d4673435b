package clients_test

import (
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// newGrid creates a table with three rows in each of the partitions p1 to p3. Each RowKey contains the row and
// the partition, so the RowKey is unique in the table.
func newGrid(t *testing.T) (string, *aztables.Client) {
	t.Helper()
	table, owner := newNamedTable(t)
	for _, partition := range []string{"p1", "p2", "p3"} {
		var steps []aztables.TransactionAction
		for _, row := range []string{"r1", "r2", "r3"} {
			steps = append(steps, aztables.TransactionAction{
				ActionType: aztables.TransactionTypeAdd, Entity: entity(t, partition, row+partition, nil),
			})
		}
		submit(t, owner, steps...)
	}
	return table, owner
}

func TestSASRangeOfQueries(t *testing.T) {
	t.Parallel()
	table, _ := newGrid(t)
	for _, c := range []struct {
		why, startPK, startRK, endPK, endRK string
		want                                []string
	}{
		{"a partition", "p2", "", "p2", "", []string{"r1p2", "r2p2", "r3p2"}},
		{"from a partition", "p3", "", "", "", []string{"r1p3", "r2p3", "r3p3"}},
		{"from a row on", "p2", "r3p2", "", "", []string{"r3p2", "r1p3", "r2p3", "r3p3"}},
		{"up to a row", "", "", "p1", "r2p1", []string{"r1p1", "r2p1"}},
		{"between rows of two partitions", "p1", "r3p1", "p2", "r1p2", []string{"r3p1", "r1p2"}},
		{"one row", "p2", "r2p2", "p2", "r2p2", []string{"r2p2"}},
		{"nothing", "p4", "", "", "", []string{}},
		{"the wrong way round", "p3", "", "p1", "", []string{}},
	} {
		t.Run(c.why, func(t *testing.T) {
			by := home(t).signedTable(t, aztables.SASSignatureValues{
				TableName: table, Permissions: "r",
				StartPartitionKey: c.startPK, StartRowKey: c.startRK, EndPartitionKey: c.endPK, EndRowKey: c.endRK,
			})
			wantRows(t, list(t, by, nil), c.want...)
			one := int32(1)
			wantRows(t, list(t, by, &aztables.ListEntitiesOptions{Top: &one}), c.want...) // read again with one entity per page
			filter := "PartitionKey ge 'p2'"
			for _, row := range list(t, by, &aztables.ListEntitiesOptions{Filter: &filter}) {
				if row[2:] < "p2" {
					t.Errorf("%s is not what %s asks for", row, filter)
				}
			}
		})
	}
}

func TestSASRangeOfEntities(t *testing.T) {
	t.Parallel()
	table, owner := newGrid(t)
	by := home(t).signedTable(t, aztables.SASSignatureValues{
		TableName: table, Permissions: "raud",
		StartPartitionKey: "p2", StartRowKey: "r2", EndPartitionKey: "p2", EndRowKey: "r5",
	})
	deeds := map[string]func(partition, row string) error{
		"get": func(partition, row string) error {
			_, err := by.GetEntity(t.Context(), partition, row, nil)
			return err
		},
		"insert": func(partition, row string) error {
			_, err := by.AddEntity(t.Context(), entity(t, partition, row+"new", nil), nil)
			return err
		},
		"merge": func(partition, row string) error {
			_, err := by.UpdateEntity(t.Context(), entity(t, partition, row, nil), &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeMerge})
			return err
		},
		"insert or replace": func(partition, row string) error {
			_, err := by.UpsertEntity(t.Context(), entity(t, partition, row, nil), &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
			return err
		},
		"delete": func(partition, row string) error {
			_, err := by.DeleteEntity(t.Context(), partition, row, nil)
			return err
		},
		"transaction": func(partition, row string) error {
			_, err := by.SubmitTransaction(t.Context(), []aztables.TransactionAction{
				{ActionType: aztables.TransactionTypeInsertMerge, Entity: entity(t, partition, row, nil)},
			}, nil)
			return err
		},
	}
	before := list(t, owner, nil)
	for name, deed := range deeds {
		t.Run(name, func(t *testing.T) {
			for _, outside := range [][2]string{{"p2", "r1p2"}, {"p2", "r6"}, {"p1", "r3p1"}, {"p3", "r1p3"}} {
				err := deed(outside[0], outside[1])
				switch name {
				case "get": // an entity outside of the range is reported as missing
					wantError(t, err, http.StatusNotFound, "ResourceNotFound")
				case "transaction":
					wantFailedPart(t, err, "403", "AuthorizationFailure", "")
				default:
					wantError(t, err, http.StatusForbidden, "AuthorizationFailure")
				}
			}
		})
	}
	wantRows(t, list(t, owner, nil), before...)
	for _, name := range []string{"get", "insert", "merge", "insert or replace", "transaction", "delete"} {
		t.Run(name+" within", func(t *testing.T) {
			if err := deeds[name]("p2", "r3p2"); err != nil {
				t.Error(err)
			}
		})
	}
}
