package load_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/functions/edgetable/load"
)

// sends implements Sender. Each of its requests takes one second.
type sends func() (load.Answer, bool)

func (s sends) Send() (load.Answer, bool) {
	sent := time.Now()
	time.Sleep(time.Second)
	a, more := s()
	a.Sent, a.Done = sent, time.Now()
	return a, more
}

func TestDrive(t *testing.T) {
	t.Parallel()
	endless := sends(func() (load.Answer, bool) { return load.Answer{Entities: 2}, true })
	for name, tt := range map[string]struct {
		answers       []load.Answer // the first worker gets these responses, one for each request, and then ends
		other         load.Sender
		ops, refusals uint64
		elapsed       time.Duration
		err           error
	}{
		"all sent":       {make([]load.Answer, 3), nil, 3, 0, 4 * time.Second, nil},
		"error":          {[]load.Answer{{}, {Err: errors.ErrUnsupported}, {}}, endless, 1 + 2, 0, 2 * time.Second, errors.ErrUnsupported},
		"broken":         {[]load.Answer{{Err: errors.ErrUnsupported, Broken: true}, {}}, endless, 1, 0, time.Second, errors.ErrUnsupported},
		"refused, again": {[]load.Answer{{Refused: true, Wait: 3 * time.Second}, {}}, nil, 1, 1, (1 + 3 + 1 + 1) * time.Second, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				list := []load.Sender{sends(func() (a load.Answer, more bool) {
					if more = len(tt.answers) > 0; more {
						a, tt.answers = tt.answers[0], tt.answers[1:]
					}
					return a, more
				})}
				if tt.other != nil {
					list = append(list, tt.other)
				}
				r := load.Drive(list)
				// Before the error stops the run, the second worker may start one more request.
				late := time.Duration(0)
				if tt.err != nil && r.Elapsed > tt.elapsed {
					late = time.Second
				}
				if r.Ops != tt.ops+uint64(late/time.Second) || r.Refusals != tt.refusals || r.Elapsed != tt.elapsed+late || !errors.Is(r.First, tt.err) || r.Latency.Max() != time.Second {
					t.Errorf("%+v, want %+v", r, tt)
				}
			})
		})
	}
}
