package pace

import (
	"fmt"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/transfer/scan"
)

// Follow shows the progress of work until the returned function is called.
func Follow(p *cli.Terminal, work string, progress *scan.Progress, clients ...*remote.Client) (stop func()) {
	f := &follower{p: p, work: work, progress: progress, clients: clients, show: cli.NewProgress(p.Err), begin: time.Now()}
	f.earlier, f.refused = f.sums()
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

type follower struct {
	p        *cli.Terminal
	work     string
	progress *scan.Progress
	clients  []*remote.Client
	show     *cli.Progress
	begin    time.Time
	earlier  int64     // number of bytes transferred before Follow was called
	refused  int64     // number of requests rejected before Follow was called
	known    time.Time // time at which share was set
	share    float64   // first known share of finished work
}

func (f *follower) look() {
	e := cli.Event{Event: "progress", Work: f.work, Rows: f.progress.Rows.Load()}
	seconds := time.Since(f.begin).Seconds()
	share := f.progress.Share()
	if f.share == 0 && share > 0 { // the speed must not include the part that an earlier run finished
		f.share, f.known = share, time.Now()
	}
	e.RowsPerSecond = int64(float64(f.progress.New()) / seconds)
	traffic, refusals := f.sums()
	traffic -= f.earlier
	e.Refused = refusals - f.refused
	for i, c := range f.clients {
		_, _, bound := c.Load()
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
		f.p.PrintEvent(e)
		return
	}
	text := fmt.Sprintf("%s: %s, %s/s, %s/s", f.work, cli.Things(e.Rows, "rows"), cli.Commas(e.RowsPerSecond), cli.ShowBytes(e.BytesPerSecond))
	if e.Percent > 0 {
		text += fmt.Sprintf(", %.0f%%", e.Percent)
	}
	if e.SecondsLeft > 0 {
		text += fmt.Sprintf(", %v left", time.Duration(e.SecondsLeft)*time.Second)
	}
	if e.Refused > 0 {
		text += fmt.Sprintf(", %s refused", cli.Things(e.Refused, "requests"))
	}
	text += fmt.Sprintf(", %d at once", e.Concurrency)
	f.show.ShowPart(share, text)
}

// sums returns the transferred bytes and the rejected requests of all clients.
func (f *follower) sums() (traffic, refusals int64) {
	for _, c := range f.clients {
		_, refused, _ := c.Load()
		traffic += c.Traffic()
		refusals += refused
	}
	return traffic, refusals
}
