package wiretest

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/core/protocol"
)

// updating reports whether the flag -update of the test is set. This package does not define the flag, because some
// packages that import it define it.
func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// Target sends a request to a server and returns the response.
type Target func(*Request) (*Response, error)

// Run plays all transcripts. For each scenario, it creates a handler and calls the function start, which must put the
// handler behind a transport.
func Run(t *testing.T, start func(t *testing.T, h *protocol.Handler) Target) {
	t.Helper()
	RunScenes(t, Dialect{}, func(t *testing.T, clock *Clock, directives []string) Target {
		h, err := newHandler(clock, directives)
		if err != nil {
			t.Fatal(err)
		}
		return start(t, h)
	})
}

// Dialect describes how the responses of a server over another store may differ from the transcripts of the reference
// store. The zero value permits no difference.
type Dialect struct {
	// Tokens means that the store's continuation tokens have another form than the tokens in the transcripts.
	Tokens bool
	// TooLong lists the exchanges (scenario/NN) that the store refuses because their keys are too long for it.
	TooLong []string
	// Ascending means that the store cannot scan in descending order. It then refuses such queries, and the test skips
	// the requests for their further pages.
	Ascending bool
	// Others lists the exchanges (scenario/NN) whose responses must differ from the transcript.
	Others []string
	// Timestamps means that the store issues other Timestamps than the reference store. Two Timestamps must be equal
	// exactly if they are equal in the transcript.
	Timestamps bool
}

var token = regexp.MustCompile(`(Next(?:PartitionKey|RowKey|TableName)(?:: |=))[^"&\s⏎]+`)

// descends matches the response to a query in descending order.
var descends = regexp.MustCompile(`\nx-edgetable-orderby: .*desc\n`)

// equal reports whether a response is correct for an exchange, given the recorded response.
func (d *Dialect) equal(exchange, want, got string) bool {
	if slices.Contains(d.Others, exchange) {
		return got != want
	}
	if slices.Contains(d.TooLong, exchange) {
		return strings.HasPrefix(got, "HTTP/1.1 400\n") && strings.Contains(got, "\nx-ms-error-code: KeyValueTooLarge\n")
	}
	if d.Ascending && descends.MatchString(want) {
		return strings.HasPrefix(got, "HTTP/1.1 501\n") && strings.Contains(got, "\nx-ms-error-code: NotImplemented\n")
	}
	if d.Tokens {
		got, want = token.ReplaceAllString(got, "$1{token}"), token.ReplaceAllString(want, "$1{token}")
	}
	return got == want
}

// RunScenes plays each scenario to a new server, which start creates from the directives of the scenario, for example
// with [scene.New]. RunScenes sets the clock before each request.
func RunScenes(t *testing.T, dialect Dialect, start func(t *testing.T, clock *Clock, directives []string) Target) {
	t.Helper()
	list, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, transcript := range list {
		t.Run(transcript.Name(), func(t *testing.T) {
			t.Parallel()
			var clock Clock
			play(t, transcript, &dialect, &clock, start(t, &clock, transcript.Directives))
		})
	}
}

func play(t *testing.T, transcript *Transcript, dialect *Dialect, clock *Clock, target Target) {
	captured := make(map[string]string)
	var ours, theirs moments // if dialect.Timestamps is set: the Timestamps in the server's responses and in the transcript, without repetitions, in order
	for i := range transcript.Exchanges {
		e := &transcript.Exchanges[i]
		name := fmt.Sprintf("%02d-%s", e.Number, e.Name)
		now := Start.Add(time.Duration(e.Number) * time.Second)
		clock.Set(now)
		req, err := newRequest(theirs.translate(e.Request, ours), now, captured)
		if err != nil && dialect.Ascending {
			continue // the request needs a continuation token that the earlier response did not contain
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		resp, err := target(req)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := resp.text(req.Method)
		if err != nil {
			t.Fatalf("%s: %v in\n%+v", name, err, resp)
		}
		captured[fmt.Sprintf("%02d", e.Number)] = string(resp.Body)
		for _, f := range resp.Header {
			captured[fmt.Sprintf("%02d.%s", e.Number, strings.ToLower(f.Name))] = f.Value
		}
		if updating() {
			e.Response = got
			continue
		}
		want := e.Response
		if resp.Reason == "" {
			want = reason.ReplaceAllString(want, "$1")
		}
		if dialect.Timestamps {
			got, want = ours.name(got), theirs.name(want)
		}
		if !dialect.equal(fmt.Sprintf("%s/%02d", transcript.Name(), e.Number), want, got) {
			t.Errorf("%s:\n%s", name, difference(got, want))
		}
	}
	if updating() {
		if err := transcript.save(); err != nil {
			t.Fatal(err)
		}
	}
}

// reason matches a status line with a phrase.
var reason = regexp.MustCompile(`\A(HTTP/1.1 \d{3}) .*`)

// difference returns the rest of both texts from the first different line on.
func difference(got, want string) string {
	g, w := strings.SplitAfter(got, "\n"), strings.SplitAfter(want, "\n")
	same := 0
	for same < len(g) && same < len(w) && g[same] == w[same] {
		same++
	}
	return fmt.Sprintf("from line %d on, got\n%s\nwant\n%s", same+1, strings.Join(g[same:], ""), strings.Join(w[same:], ""))
}
