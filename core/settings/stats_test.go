package settings_test

import (
	"testing"

	"edgetable/core/settings"
	"edgetable/core/table"
)

func TestAppendStats(t *testing.T) {
	t.Parallel()
	synced := *at(t, "2022-04-13T19:22:46.789Z")
	for _, row := range []struct {
		state table.Replication
		want  string
	}{
		{table.Replication{Status: table.Live, LastSync: synced}, "<Status>live</Status><LastSyncTime>Wed, 13 Apr 2022 19:22:46 GMT</LastSyncTime>"},
		{table.Replication{Status: table.Bootstrap}, "<Status>bootstrap</Status><LastSyncTime></LastSyncTime>"},
		{table.Replication{Status: table.Unavailable, LastSync: synced}, "<Status>unavailable</Status><LastSyncTime>Wed, 13 Apr 2022 19:22:46 GMT</LastSyncTime>"},
	} {
		want := `before<?xml version="1.0" encoding="utf-8"?><StorageServiceStats><GeoReplication>` + row.want + `</GeoReplication></StorageServiceStats>`
		if got := settings.AppendStats([]byte("before"), row.state); string(got) != want {
			t.Errorf("%+v:\n got %s\nwant %s", row.state, got, want)
		}
	}
}
