package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Terminal is the input, output and environment of a command.
type Terminal struct {
	Environment func(string) string
	In          io.Reader
	Out, Err    io.Writer
	Columns     int  // width of the terminal; 0 if the output is not a terminal
	Alone       bool // true if no other command runs in this process
	Events      bool // true if events are printed to Err as JSON
	Totals      any  // result of the command, for its last event
	// Packaged is the configuration file of an installed package, or "".
	Packaged string
	// Variables returns the names of all environment variables. It may be nil.
	Variables func() []string
	// Remarks are logged when a server starts.
	Remarks []string
	// AzuriteAccounts contains the accounts of a server that was started as Azurite. Unless it is "", these replace all
	// other accounts.
	AzuriteAccounts string
	// Announce returns lines that a server at url prints before it reports that it is ready. It may be nil.
	Announce func(url string) []string

	known      []string
	overridden []Overridden
	lines      map[string][]configLine // lines of the configuration file, by flag
}

// Unknown is an environment variable with the prefix EDGETABLE_ that no command reads.
type Unknown struct {
	Name string
	Like string // known variable with a similar name, or ""
}

// Overridden is a line of the configuration file that has no effect, because an environment variable sets the same
// flag.
type Overridden struct {
	Flag, Variable, Value, Line string
}

// Event is an event of a command with --json, printed as one line.
type Event struct {
	Event string `json:"event"` // "progress", "note", "done" or "failed"
	Time  string `json:"time"`
	Text  string `json:"text,omitempty"` // text of the event; progress has no text

	Work           string  `json:"work,omitempty"` // names of the tables or files that the command processes
	Rows           int64   `json:"rows,omitempty"`
	RowsPerSecond  int64   `json:"rowsPerSecond,omitempty"`
	BytesPerSecond int64   `json:"bytesPerSecond,omitempty"`
	Percent        float64 `json:"percent,omitempty"`
	SecondsLeft    int64   `json:"secondsLeft,omitempty"`
	BehindSeconds  float64 `json:"behindSeconds,omitempty"` // age of the last change that was read; 0 if no changes are left
	Refused        int64   `json:"refused,omitempty"`       // number of requests that the service rejected because of overload
	Concurrency    int     `json:"concurrency,omitempty"`   // current limit of requests in flight
	Totals         any     `json:"totals,omitempty"`
	Status         int     `json:"status,omitempty"`
}

// PrintEvent prints an event.
func (p *Terminal) PrintEvent(e Event) {
	e.Time = time.Now().UTC().Format(time.RFC3339)
	text, err := json.Marshal(e)
	if err != nil {
		text = []byte(`{"event":"failed"}`) // Marshal fails only for NaN and infinities, which do not occur
	}
	_, _ = p.Err.Write(append(text, '\n')) // an error of this write cannot be reported anywhere
}

// PrintJSON prints the result of a command with --json as one line. The fields are documented in docs/json.md.
func (p *Terminal) PrintJSON(v any) error {
	e := json.NewEncoder(p.Out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Note prints a message that is not part of the result.
func (p *Terminal) Note(format string, args ...any) {
	if p.Events {
		p.PrintEvent(Event{Event: "note", Text: fmt.Sprintf(format, args...)})
		return
	}
	if isTerminal(p.Err) {
		format = "\r\x1b[K" + format // this clears the progress line
	}
	fmt.Fprintf(p.Err, format+"\n", args...)
}

// NoteSlow prints after some seconds that the named source does not answer. If the returned function is called earlier,
// NoteSlow prints nothing.
func (p *Terminal) NoteSlow(whence string) (stop func()) {
	timer := time.AfterFunc(Quiet, func() { p.Note("%s does not answer; still waiting", whence) })
	return func() { timer.Stop() }
}
