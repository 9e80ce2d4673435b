package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"edgetable/core/protocol"
	"edgetable/core/wiretest"
)

func TestRecord(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		resp  protocol.Response
		level int
		want  map[string]any
		why   string
	}{
		{
			protocol.Response{Status: 200, Summary: protocol.Summary{
				Method: "GET", Operation: "GetEntity", Account: "acme", Table: "people", RequestID: "id",
				Received: 5, Sent: 2, Duration: 12 * time.Millisecond,
			}}, levelInfo,
			map[string]any{"msg": "request", "method": "GET", "operation": "GetEntity", "account": "acme", "table": "people", "request": "id", "status": 200.0, "ms": 12.0, "received": 5.0, "sent": 2.0},
			"an answer",
		},
		{
			protocol.Response{Status: 500, Summary: protocol.Summary{
				Method: "GET", Code: "InternalError", Table: "a\"\\\n\xff" + strings.Repeat("é", 1000), Err: errors.New("bit \"rot\""),
				Received: 5, Duration: 12 * time.Millisecond,
			}}, levelError,
			map[string]any{"msg": "request", "method": "GET", "code": "InternalError", "status": 500.0, "ms": 12.0, "received": 5.0, "sent": 0.0, "cause": `bit "rot"`},
			"a failure, with a name that is none",
		},
	} {
		line, level := appendRecord(nil, &tt.resp)
		var got map[string]any
		if err := json.Unmarshal(line, &got); err != nil || !utf8.Valid(line) || len(line) > 1000 {
			t.Fatalf("%s: %v in %s", tt.why, err, line)
		}
		if tt.want["table"] == nil {
			delete(got, "table")
		}
		if level != tt.level || len(got) != len(tt.want) {
			t.Errorf("%s: level %d, %s", tt.why, level, line)
		}
		for name, value := range tt.want {
			if got[name] != value {
				t.Errorf("%s: %s is %v", tt.why, name, got[name])
			}
		}
	}
}

// TestRecordShowsNoSecrets checks that a log line contains only the parts of a request that core permits.
func TestRecordShowsNoSecrets(t *testing.T) {
	t.Parallel()
	wiretest.Hostile(t, func(h *protocol.Handler, req *protocol.Request) string {
		resp := h.Serve(t.Context(), req)
		defer resp.Release()
		line, _ := appendRecord(nil, &resp)
		return string(line)
	})
}

// TestLineOfRange checks that the log line for an event of a range is JSON and contains no PartitionKey.
func TestLineOfRange(t *testing.T) {
	t.Parallel()
	want := `{"msg":"split","event":"join finished","account":"acct","table":"people","bucket":3,"range":17}`
	if got := lineOfRange("table/acct/people", 3, 17, "join finished"); string(got) != want {
		t.Errorf("the line is %s, not %s", got, want)
	}
}
