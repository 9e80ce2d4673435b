package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Terminal is what a command may touch of its process, and what it tells there.
type Terminal struct {
	Environment func(string) string
	In          io.Reader
	Out, Err    io.Writer
	Columns     int  // of the terminal that Out is; 0: it is none
	Alone       bool // in the process
	Events      bool // a command for data tells on err what happens, in JSON
	Totals      any  // of that command
	// Packaged is the file of settings that a package installs; "" for none.
	Packaged string
	// Variables are the names of the variables of the process; nil if they are not known.
	Variables func() []string
	// Remarks are for the log of a server that starts.
	Remarks []string
	// AzuriteAccounts are the accounts of a server that stands in for Azurite, in place of all others; "" for none.
	AzuriteAccounts string
	// Announce returns lines that a server prints before it says that it is ready, given its URL; nil: none.
	Announce func(url string) []string

	known      []string // variables of flags
	overridden []Overridden
	lines      map[string][]configLine // of the configuration file
}

// Unknown is a variable that looks like one of ours.
type Unknown struct {
	Name string
	Like string // the one that may be meant, or ""
}

// Overridden is a line of the configuration file in whose place a variable is.
type Overridden struct {
	Flag, Variable, Value, Line string
}

// Event is a line that --json prints.
type Event struct {
	Event string `json:"event"` // progress, note, done or failed
	Time  string `json:"time"`
	Text  string `json:"text,omitempty"` // of all but progress

	Work           string  `json:"work,omitempty"` // the tables or files
	Rows           int64   `json:"rows,omitempty"`
	RowsPerSecond  int64   `json:"rowsPerSecond,omitempty"`
	BytesPerSecond int64   `json:"bytesPerSecond,omitempty"`
	Percent        float64 `json:"percent,omitempty"`
	SecondsLeft    int64   `json:"secondsLeft,omitempty"`
	BehindSeconds  float64 `json:"behindSeconds,omitempty"` // the age of the last change that was read, if more follow
	Refused        int64   `json:"refused,omitempty"`       // requests that a service refused for its load
	Concurrency    int     `json:"concurrency,omitempty"`   // requests that may be under way
	Totals         any     `json:"totals,omitempty"`
	Status         int     `json:"status,omitempty"` // with which the command ends
}

// Tell prints an event.
func (p *Terminal) Tell(e Event) {
	e.Time = time.Now().UTC().Format(time.RFC3339)
	text, err := json.Marshal(e)
	if err != nil {
		text = []byte(`{"event":"failed"}`) // a float that is no number; there is none
	}
	_, _ = p.Err.Write(append(text, '\n')) // there is no other place to say so
}

// PrintJSON prints the result of a command with --json: one value on a line. docs/json.md lists the fields.
func (p *Terminal) PrintJSON(v any) error {
	e := json.NewEncoder(p.Out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Note tells something that is not the result of the command.
func (p *Terminal) Note(format string, args ...any) {
	if p.Events {
		p.Tell(Event{Event: "note", Text: fmt.Sprintf(format, args...)})
		return
	}
	if isTerminal(p.Err) {
		format = "\r\x1b[K" + format // there may be a line of progress
	}
	fmt.Fprintf(p.Err, format+"\n", args...)
}

// Waiting notes that nothing has come from somewhere for a while, unless it is stopped before.
func (p *Terminal) Waiting(whence string) (stop func()) {
	timer := time.AfterFunc(Quiet, func() { p.Note("%s does not answer; still waiting", whence) })
	return func() { timer.Stop() }
}
