package protocol_test

import (
	"slices"
	"strings"
	"testing"

	"edgetable/core/table"
	"edgetable/core/wiretest"
)

func TestWire(t *testing.T) { wiretest.Run(t, wiretest.Direct) }

// unreached are the codes that no transcript can show, and why.
var unreached = map[table.Code]string{
	table.AuthorizationFailure:       "of shared access signatures, which are not supported yet",
	table.InternalError:              "the reference store does not fail",
	table.KeyValueTooLarge:           "the reference store takes keys of any length",
	table.MissingContentLengthHeader: "a body of unknown length is read up to the limit instead",
	table.OperationTimedOut:          "the reference store loses no reply",
	table.ServerBusy:                 "the reference store is never busy",
	table.TableBeingDeleted:          "a name is free as soon as its table was deleted",
}

// TestWireCodes: every code the server knows is in a transcript, or has a
// reason not to be.
func TestWireCodes(t *testing.T) {
	t.Parallel()
	list, err := wiretest.Load()
	if err != nil {
		t.Fatal(err)
	}
	var corpus strings.Builder
	exchanges := 0
	for _, transcript := range list {
		exchanges += len(transcript.Exchanges)
		for _, e := range transcript.Exchanges {
			corpus.WriteString(e.Response)
		}
	}
	codes := table.Codes()
	slices.Sort(codes)
	for _, code := range codes {
		shown := strings.Contains(corpus.String(), `"code":"`+string(code)+`"`)
		switch reason, listed := unreached[code]; {
		case !shown && !listed:
			t.Errorf("no transcript shows %s", code)
		case shown && listed:
			t.Errorf("a transcript shows %s, which is listed as unreached: %s", code, reason)
		}
	}
	t.Logf("%d exchanges in %d transcripts", exchanges, len(list))
}
