package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Terminal gives a command access to the input, the output and the environment of the process.
type Terminal struct {
	Environment func(string) string
	In          io.Reader
	Out, Err    io.Writer
	Columns     int  // width of the terminal; 0 if the output is not a terminal
	Alone       bool // this command is the only one in this process
	Events      bool // print events as JSON to Err
	Totals      any  // result of the command, for its last event
	// Packaged is the path of the configuration file of an installed package, or "".
	Packaged string
	// Variables returns the names of the environment variables. It is nil if they are not known.
	Variables func() []string
	// Remarks are messages that a server writes to its log when it starts.
	Remarks []string
	// AzuriteAccounts are the accounts of a server that was started in place of Azurite. They replace all other
	// accounts, unless the text is "".
	AzuriteAccounts string
	// Announce returns lines that a server prints just before it reports that it is ready. Its argument is the
	// server's URL. If Announce is nil, there are no such lines.
	Announce func(url string) []string

	known      []string // known environment variables
	overridden []Overridden
	lines      map[string][]configLine // lines of the configuration file
}

// Unknown is an environment variable whose name begins with EDGETABLE_ and that no command reads.
type Unknown struct {
	Name string
	Like string // a known variable with a similar name, or ""
}

// Overridden is a line of the configuration file that has no effect, because an environment variable sets the same
// flag.
type Overridden struct {
	Flag, Variable, Value, Line string
}

// Event is an event of a command with --json. It is printed as one line.
type Event struct {
	Event string `json:"event"` // "progress", "note", "done" or "failed"
	Time  string `json:"time"`
	Text  string `json:"text,omitempty"` // present in all events except progress

	Work           string  `json:"work,omitempty"` // names of the tables or files
	Rows           int64   `json:"rows,omitempty"`
	RowsPerSecond  int64   `json:"rowsPerSecond,omitempty"`
	BytesPerSecond int64   `json:"bytesPerSecond,omitempty"`
	Percent        float64 `json:"percent,omitempty"`
	SecondsLeft    int64   `json:"secondsLeft,omitempty"`
	BehindSeconds  float64 `json:"behindSeconds,omitempty"` // age of the last change that was read; 0 if no further changes are waiting
	Refused        int64   `json:"refused,omitempty"`       // number of requests that the service refused because of its load
	Concurrency    int     `json:"concurrency,omitempty"`   // current maximum number of requests in flight
	Totals         any     `json:"totals,omitempty"`
	Status         int     `json:"status,omitempty"` // exit status of the command
}

// Tell prints an event.
func (p *Terminal) Tell(e Event) {
	e.Time = time.Now().UTC().Format(time.RFC3339)
	text, err := json.Marshal(e)
	if err != nil {
		text = []byte(`{"event":"failed"}`) // Marshal only fails for NaN and infinities, which do not occur
	}
	_, _ = p.Err.Write(append(text, '\n')) // an error is ignored, because it could not be reported anywhere
}

// PrintJSON prints the result of a command with --json as one line. docs/json.md lists the fields.
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
		format = "\r\x1b[K" + format // first clear the progress line, if there is one
	}
	fmt.Fprintf(p.Err, format+"\n", args...)
}

// Waiting prints that the command still waits for an answer from a service or another source. The argument is the
// name of this source. The text appears after some seconds, unless the returned function is called before.
func (p *Terminal) Waiting(whence string) (stop func()) {
	timer := time.AfterFunc(Quiet, func() { p.Note("%s does not answer; still waiting", whence) })
	return func() { timer.Stop() }
}
