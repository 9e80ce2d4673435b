package changefeed

import (
	"strconv"
	"strings"
	"time"

	"edgetable/core/key"
	"edgetable/core/percent"
	"edgetable/core/table"
)

const (
	mostEvents = 1000
	// longestWait is the maximum time that a request may wait for events.
	longestWait = 30 * time.Second
)

// Request holds the parameters of a request for changes.
type Request struct {
	Of        table.Name
	Range     key.Range           // keys whose changes the client may see
	From      *table.FeedPosition // start of the page; if nil, the page starts now, or at the oldest stored change if Oldest is set
	Oldest    bool
	MaxEvents int           // maximum number of events
	Wait      time.Duration // maximum time to wait for events
	Stream    bool          // whether the answer is an event stream
}

// Parse parses the query of a request and its headers Accept and Last-Event-ID (which a browser sends to resume a
// stream). A wait must end before timeout; 0 means no timeout.
func Parse(of table.Name, within *key.Range, query, accept, last string, timeout time.Duration) (r Request, err error) {
	r = Request{Of: of, MaxEvents: mostEvents, Stream: strings.Contains(accept, "text/event-stream")}
	if within != nil {
		r.Range = *within
	}
	var seen []string
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, ok1 := percent.Decode(rawName, true)
		value, ok2 := percent.Decode(rawValue, true)
		switch {
		case !ok1 || !ok2: // another parser reports a malformed query
		case strings.HasPrefix(name, "$"):
			return r, table.InvalidQueryParameterValue.With(badParameter + "Changes are not filtered: " + strconv.Quote(name) + " has no meaning here.")
		case name == "since", name == "wait", name == "max":
			for _, other := range seen {
				if other == name {
					return r, table.InvalidQueryParameterValue.With(badParameter + name + " occurs more than once.")
				}
			}
			seen = append(seen, name)
			if err := r.set(name, value); err != nil {
				return r, err
			}
		}
	}
	if last != "" {
		if err := r.set("since", last); err != nil {
			return r, err
		}
	}
	if r.From == nil && !r.Oldest { // without a position, a request does not wait but gets the newest position
		r.Wait = 0
	}
	if timeout > 0 {
		r.Wait = max(0, min(r.Wait, timeout-time.Second))
	}
	return r, nil
}

func (r *Request) set(name, value string) (err error) {
	n, notNumber := strconv.Atoi(value)
	switch {
	case name == "since" && value == "start":
		r.Oldest, r.From = true, nil
	case name == "since":
		r.Oldest = false
		r.From, err = ParseToken(r.Of, value)
	case name == "wait" && notNumber == nil && n >= 0 && n <= int(longestWait/time.Second):
		r.Wait = time.Duration(n) * time.Second
	case name == "wait":
		return table.InvalidQueryParameterValue.With(badParameter + "wait must be a number of seconds up to 30.")
	case notNumber == nil && n >= 1 && n <= mostEvents:
		r.MaxEvents = n
	default:
		return table.InvalidQueryParameterValue.With(badParameter + "max must be a number of events from 1 to 1000. A response divides no commit of a usual size, so it may have more events than max.")
	}
	return err
}
