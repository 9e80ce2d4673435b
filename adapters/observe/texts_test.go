package observe

import (
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"edgetable/core/protocol"
)

// TestTexts checks that the log and the access log contain the same texts about a request under the same names.
func TestTexts(t *testing.T) {
	t.Parallel()
	resp := &protocol.Response{Status: 404, Summary: protocol.Summary{
		Method: "GET", Source: netip.AddrFrom4([4]byte{127, 0, 0, 1}), Operation: "GetEntity", Account: "acme", SignedIn: true, Table: "people", Code: "ResourceNotFound",
		Refused: protocol.RefusedPermission, RequestID: "0af76519-16cd-43dd-8448-eb211c80319c", ClientRequestID: "mine",
	}}
	for _, format := range []string{"text", "json"} {
		var log, access strings.Builder
		options := &slog.HandlerOptions{Level: slog.LevelDebug}
		to := slog.New(slog.NewTextHandler(&log, options))
		if format == "json" {
			to = slog.New(slog.NewJSONHandler(&log, options))
		}
		a, err := OpenAccessLog("-", format == "json", &access, to)
		if err != nil {
			t.Fatal(err)
		}
		NewRequestLog(to, a, time.Second).Observe(resp, time.Now())
		a.Close()
		shown := resp.Redacted()
		for _, row := range protocol.Texts {
			want := " " + row.Name + "=" + row.Of(&shown)
			if format == "json" {
				want = `,"` + row.Name + `":"` + row.Of(&shown) + `"`
			}
			if row.Of(&shown) == "" {
				t.Errorf("the request has no %s", row.Name)
			}
			for name, text := range map[string]string{"log": log.String(), "access log": access.String()} {
				if strings.Count(text, want) != 1 {
					t.Errorf("the %s in %s has no%s:\n%s", name, format, want, text)
				}
			}
		}
	}
}
