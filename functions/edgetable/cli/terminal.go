package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Terminal is a command's access to its process: input, output and environment.
type Terminal struct {
	Environment func(string) string
	In          io.Reader
	Out, Err    io.Writer
	Columns     int  // width of the terminal; 0 if the output is not a terminal
	Alone       bool // no other command runs in this process
	Events      bool // print events as JSON to Err
	Totals      any  // result of that command
	// Packaged is the settings file of an installed package, or "".
	Packaged string
	// Variables are the names of the environment variables; nil if they are not known.
	Variables func() []string
	// Remarks are messages for the log of a server that starts.
	Remarks []string
	// AzuriteAccounts replace all other accounts if a server stands in for Azurite; "" means that they do not.
	AzuriteAccounts string
	// Announce returns lines that a server prints before it reports that it is ready. Its argument is the server's
	// URL. Nil means no lines.
	Announce func(url string) []string

	known      []string // variables of flags
	overridden []Overridden
	lines      map[string][]configLine // lines of the configuration file
}

// Unknown is an environment variable whose name looks like one of edgetable's.
type Unknown struct {
	Name string
	Like string // a similar known name, or ""
}

// Overridden is a line of the configuration file that a variable overrides.
type Overridden struct {
	Flag, Variable, Value, Line string
}

// Event is an event that --json prints as a line.
type Event struct {
	Event string `json:"event"` // progress, note, done or failed
	Time  string `json:"time"`
	Text  string `json:"text,omitempty"` // for all events but progress

	Work           string  `json:"work,omitempty"` // names of the tables or files
	Rows           int64   `json:"rows,omitempty"`
	RowsPerSecond  int64   `json:"rowsPerSecond,omitempty"`
	BytesPerSecond int64   `json:"bytesPerSecond,omitempty"`
	Percent        float64 `json:"percent,omitempty"`
	SecondsLeft    int64   `json:"secondsLeft,omitempty"`
	BehindSeconds  float64 `json:"behindSeconds,omitempty"` // how old the last change that was read is; 0 if no further changes are waiting
	Refused        int64   `json:"refused,omitempty"`       // number of requests refused because of the service's load
	Concurrency    int     `json:"concurrency,omitempty"`   // current limit of requests in flight
	Totals         any     `json:"totals,omitempty"`
	Status         int     `json:"status,omitempty"` // exit status of the command
}

// Tell prints an event.
func (p *Terminal) Tell(e Event) {
	e.Time = time.Now().UTC().Format(time.RFC3339)
	text, err := json.Marshal(e)
	if err != nil {
		text = []byte(`{"event":"failed"}`) // only fails for NaN or an infinity, which do not occur
	}
	_, _ = p.Err.Write(append(text, '\n')) // a write error cannot be reported anywhere else
}

// PrintJSON prints the result of a command with --json: one value on a line. docs/json.md lists the fields.
func (p *Terminal) PrintJSON(v any) error {
	e := json.NewEncoder(p.Out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Note prints a message that is not part of the command's result.
func (p *Terminal) Note(format string, args ...any) {
	if p.Events {
		p.Tell(Event{Event: "note", Text: fmt.Sprintf(format, args...)})
		return
	}
	if isTerminal(p.Err) {
		format = "\r\x1b[K" + format // clears a line of progress, if there is one
	}
	fmt.Fprintf(p.Err, format+"\n", args...)
}

// Waiting prints, after some seconds, that the command still waits for whence, unless stop is called before.
// whence names the source, such as a service.
func (p *Terminal) Waiting(whence string) (stop func()) {
	timer := time.AfterFunc(Quiet, func() { p.Note("%s does not answer; still waiting", whence) })
	return func() { timer.Stop() }
}
