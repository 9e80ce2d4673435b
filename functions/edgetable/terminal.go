package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// terminal is what a command may touch of its process, and what it tells there.
type terminal struct {
	environment func(string) string
	in          io.Reader
	out, err    io.Writer
	alone       bool // in the process
	events      bool // a command for data tells on err what happens, in JSON
	totals      any  // of that command
}

// event is a line that --json prints.
type event struct {
	Event string `json:"event"` // progress, note, done or failed
	Time  string `json:"time"`
	Text  string `json:"text,omitempty"` // of all but progress

	Work           string  `json:"work,omitempty"` // the tables or files
	Rows           int64   `json:"rows,omitempty"`
	RowsPerSecond  int64   `json:"rowsPerSecond,omitempty"`
	BytesPerSecond int64   `json:"bytesPerSecond,omitempty"`
	Percent        float64 `json:"percent,omitempty"`
	SecondsLeft    int64   `json:"secondsLeft,omitempty"`
	Refused        int64   `json:"refused,omitempty"`     // requests that a service refused for its load
	Concurrency    int     `json:"concurrency,omitempty"` // requests that may be under way
	Totals         any     `json:"totals,omitempty"`
	Status         int     `json:"status,omitempty"` // with which the command ends
}

// tell prints an event.
func (p *terminal) tell(e event) {
	e.Time = time.Now().UTC().Format(time.RFC3339)
	text, err := json.Marshal(e)
	if err != nil {
		text = []byte(`{"event":"failed"}`) // a float that is no number; there is none
	}
	_, _ = p.err.Write(append(text, '\n')) // there is no other place to say so
}

// note tells something that is not the result of the command.
func (p *terminal) note(format string, args ...any) {
	if p.events {
		p.tell(event{Event: "note", Text: fmt.Sprintf(format, args...)})
		return
	}
	fmt.Fprintf(p.err, format+"\n", args...)
}
