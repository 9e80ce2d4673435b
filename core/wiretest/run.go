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

// updating reports whether the test's flag -update is set. This package does not define the flag, because some test
// packages that import it define a flag of this name.
func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// Target sends a request to a server and returns the response.
type Target func(*Request) (*Response, error)

// Run plays the corpus. For each scenario it creates a handler, which start puts behind a transport.
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

// Dialect describes how the responses of a server with another store may differ from the transcripts, which were made
// with the reference store. For the reference store it is empty.
type Dialect struct {
	// Tokens is set if continuation tokens have another form.
	Tokens bool
	// TooLong lists exchanges, as scenario/NN, that the store refuses because their keys are too long for it.
	TooLong []string
	// Ascending is set if the store cannot scan in descending order. It refuses such queries, and requests for their
	// next pages are skipped.
	Ascending bool
	// Others lists exchanges, as scenario/NN, whose response must differ from the transcript.
	Others []string
	// Timestamps is set if the store chooses other Timestamps than the reference store. Then responses need only agree
	// in which Timestamps of a scenario are equal, including those in ETags.
	Timestamps bool
}

var token = regexp.MustCompile(`(Next(?:PartitionKey|RowKey|TableName)(?:: |=))[^"&\s⏎]+`)

// descends matches a response in descending order.
var descends = regexp.MustCompile(`\nx-edgetable-orderby: .*desc\n`)

// equal reports whether a response is as expected for this exchange.
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

// RunScenes plays the corpus to servers that start creates, for example with [scene.New]. It calls start once per
// scenario with the scenario's directives. Before each request it sets the clock, which the server must use.
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
	var ours, theirs moments // the Timestamps of the server and of the transcript; empty if they must be equal
	for i := range transcript.Exchanges {
		e := &transcript.Exchanges[i]
		name := fmt.Sprintf("%02d-%s", e.Number, e.Name)
		now := Start.Add(time.Duration(e.Number) * time.Second)
		clock.Set(now)
		req, err := newRequest(theirs.translate(e.Request, ours), now, captured)
		if err != nil && dialect.Ascending {
			continue // the request needs a continuation token that an earlier response lacks
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

// reason matches a status line that has a phrase of its own.
var reason = regexp.MustCompile(`\A(HTTP/1.1 \d{3}) .*`)

// difference shows two texts from the first line that differs.
func difference(got, want string) string {
	g, w := strings.SplitAfter(got, "\n"), strings.SplitAfter(want, "\n")
	same := 0
	for same < len(g) && same < len(w) && g[same] == w[same] {
		same++
	}
	return fmt.Sprintf("from line %d on, got\n%s\nwant\n%s", same+1, strings.Join(g[same:], ""), strings.Join(w[same:], ""))
}
