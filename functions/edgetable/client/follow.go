package client

import (
	"fmt"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/transfer"
)

// follow shows how far work is, until the result is called.
func (p *program) follow(work string, progress *transfer.Progress, clients ...*remote.Client) (stop func()) {
	f := &follower{p: p, work: work, progress: progress, clients: clients, show: cli.NewProgress(p.Err), begin: time.Now()}
	tick, done, ended := time.NewTicker(time.Second), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-tick.C:
				f.look()
			case <-done:
				if f.p.Events {
					f.look()
				}
				f.show.End()
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
	show     *cli.Progress
	begin    time.Time
	known    time.Time // when a share of the work was known first
	share    float64   // that share
}

func (f *follower) look() {
	e := cli.Event{Event: "progress", Work: f.work, Rows: f.progress.Rows.Load()}
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
	if f.p.Events {
		f.p.Tell(e)
		return
	}
	text := fmt.Sprintf("%s: %s rows, %s/s, %s/s", f.work, cli.Commas(e.Rows), cli.Commas(e.RowsPerSecond), cli.ShowBytes(e.BytesPerSecond))
	if e.Percent > 0 {
		text += fmt.Sprintf(", %.0f%%", e.Percent)
	}
	if e.SecondsLeft > 0 {
		text += fmt.Sprintf(", %v left", time.Duration(e.SecondsLeft)*time.Second)
	}
	if e.Refused > 0 {
		text += fmt.Sprintf(", %s requests refused", cli.Commas(e.Refused))
	}
	text += fmt.Sprintf(", %d at once", e.Concurrency)
	f.show.ShowPart(share, text)
}
