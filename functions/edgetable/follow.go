package main

import (
	"encoding/json"
	"fmt"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer"
)

// event is a line that --json prints.
type event struct {
	Event string `json:"event"` // progress, note, done or failed
	Time  string `json:"time"`
	Text  string `json:"text,omitempty"` // of all but progress

	Work           string           `json:"work,omitempty"` // the tables or files
	Rows           int64            `json:"rows,omitempty"`
	RowsPerSecond  int64            `json:"rowsPerSecond,omitempty"`
	BytesPerSecond int64            `json:"bytesPerSecond,omitempty"`
	Percent        float64          `json:"percent,omitempty"`
	SecondsLeft    int64            `json:"secondsLeft,omitempty"`
	Refused        int64            `json:"refused,omitempty"`     // requests that a service refused for its load
	Concurrency    int              `json:"concurrency,omitempty"` // requests that may be under way
	Totals         *transfer.Totals `json:"totals,omitempty"`
	Status         int              `json:"status,omitempty"` // with which the command ends
}

// tell prints an event.
func (p *program) tell(e event) {
	e.Time = time.Now().UTC().Format(time.RFC3339)
	text, err := json.Marshal(e)
	if err != nil {
		text = []byte(`{"event":"failed"}`) // a float that is no number; there is none
	}
	_, _ = p.err.Write(append(text, '\n')) // there is no other place to say so
}

// note tells something that is not the result of the command.
func (p *program) note(format string, args ...any) {
	if p.events {
		p.tell(event{Event: "note", Text: fmt.Sprintf(format, args...)})
		return
	}
	fmt.Fprintf(p.err, format+"\n", args...)
}

// follow shows how far work is, until the result is called.
func (p *program) follow(work string, progress *transfer.Progress, clients ...*remote.Client) (stop func()) {
	f := &follower{p: p, work: work, progress: progress, clients: clients, show: newProgress(p.err), begin: time.Now()}
	tick, done, ended := time.NewTicker(time.Second), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-tick.C:
				f.look()
			case <-done:
				if f.p.events {
					f.look()
				}
				f.show.end()
				return
			}
		}
	}()
	return func() {
		tick.Stop()
		close(done)
		<-ended
	}
}

// follower looks at work once a second.
type follower struct {
	p        *program
	work     string
	progress *transfer.Progress
	clients  []*remote.Client
	show     *progress
	begin    time.Time
	known    time.Time // when a share of the work was known first
	share    float64   // that share
}

func (f *follower) look() {
	e := event{Event: "progress", Work: f.work, Rows: f.progress.Rows.Load()}
	seconds := time.Since(f.begin).Seconds()
	share := f.progress.Share()
	if f.share == 0 && share > 0 { // what an earlier run did says nothing about the speed of this one
		f.share, f.known = share, time.Now()
	}
	e.RowsPerSecond = int64(float64(f.progress.New()) / seconds)
	var traffic int64
	for i, c := range f.clients {
		_, refusals, bound := c.Load()
		traffic += c.Traffic()
		e.Refused += refusals
		if i == 0 {
			e.Concurrency = bound
		}
		e.Concurrency = min(e.Concurrency, bound)
	}
	e.BytesPerSecond = int64(float64(traffic) / seconds)
	if e.Percent = float64(int(1000*share)) / 10; share > f.share {
		e.SecondsLeft = int64(time.Since(f.known).Seconds()*(1-share)/(share-f.share)) + 1
	}
	if f.p.events {
		f.p.tell(e)
		return
	}
	text := fmt.Sprintf("%s: %s rows, %s/s, %s/s", f.work, group(e.Rows), group(e.RowsPerSecond), showBytes(e.BytesPerSecond))
	if e.Percent > 0 {
		text += fmt.Sprintf(", %.0f%%", e.Percent)
	}
	if e.SecondsLeft > 0 {
		text += fmt.Sprintf(", %v left", time.Duration(e.SecondsLeft)*time.Second)
	}
	if e.Refused > 0 {
		text += fmt.Sprintf(", %s requests refused", group(e.Refused))
	}
	text += fmt.Sprintf(", %d at once", e.Concurrency)
	f.show.showPart(share, text)
}
