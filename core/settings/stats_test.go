package settings_test

import (
	"testing"

	"edgetable/core/settings"

	"github.com/google/go-cmp/cmp"
)

func TestAppendStats(t *testing.T) {
	t.Parallel()
	const want = `<?xml version="1.0" encoding="utf-8"?><StorageServiceStats><GeoReplication><Status>live</Status><LastSyncTime>Wed, 13 Apr 2022 19:22:46 GMT</LastSyncTime></GeoReplication></StorageServiceStats>`
	got := settings.AppendStats([]byte("before"), *at(t, "2022-04-13T19:22:46.789Z"))
	if diff := cmp.Diff("before"+want, string(got)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
