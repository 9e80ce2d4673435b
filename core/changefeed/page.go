package changefeed

import (
	"slices"
	"strconv"

	"edgetable/core/edm"
	"edgetable/core/multipart"
	"edgetable/core/payload"
	"edgetable/core/table"
)

type page struct {
	events payload.Events
	of     table.Name
	table.FeedPage
	now edm.Ticks
}

// isIdle reports whether the page is empty and the client has read the whole feed.
func (p *page) isIdle() bool { return len(p.Commits) == 0 && !p.More }

// appendList appends the events as a JSON array. If the array would exceed the given number of bytes, the page ends
// after an earlier commit, or within the first. The array has at least one event.
func (p *page) appendList(dst []byte, most int) []byte {
	begin := len(dst)
	dst = append(dst, '[')
	for i := range p.Commits {
		commit := len(dst)
		for j := range changesOf(&p.Commits[i]) {
			event := len(dst)
			if dst[len(dst)-1] != '[' {
				dst = append(dst, ',')
			}
			dst = p.events.Append(dst, &p.Commits[i], j)
			switch {
			case len(dst)-begin <= most:
			case i > 0:
				p.endBefore(i, 0)
				return append(dst[:commit], ']')
			case j > 0:
				p.endBefore(i, j)
				return append(dst[:event], ']')
			}
		}
	}
	return append(dst, ']')
}

// endBefore ends the page before commit i. If j is not 0, endBefore instead ends it after j changes of commit i.
func (p *page) endBefore(i, j int) {
	p.More = true
	if j == 0 {
		p.Commits = p.Commits[:i]
	} else {
		c := &p.Commits[i]
		c.Changes = c.Changes[:j]
		c.At = c.After(c.Changes[j-1].Index)
		p.Commits = p.Commits[:i+1]
	}
	p.Next.At = p.Commits[len(p.Commits)-1].At
}

// appendFrames appends commit i as server-sent events, up to about the given number of bytes. Only the last event has a
// position, so that a client that resumes gets no event twice.
func (p *page) appendFrames(dst []byte, i, most int) []byte {
	begin, last := len(dst), len(dst)
	for j := 0; j < changesOf(&p.Commits[i]); j++ {
		event := len(dst)
		dst = append(p.events.Append(append(dst, "data: "...), &p.Commits[i], j), "\n\n"...)
		if j > 0 && len(dst)-begin > most {
			p.endBefore(i, j)
			dst = dst[:event]
			break
		}
		last = event
	}
	next := p.Next
	next.At = p.Commits[i].At
	return slices.Insert(dst, last, []byte("id: "+Token(p.of, &next)+"\n")...)
}

// changesOf returns the number of events of a commit.
func changesOf(c *table.FeedCommit) int {
	if c.Dropped {
		return 1
	}
	return len(c.Changes)
}

const tenth = edm.TicksPerSecond / 10

func (p *page) header() multipart.Header {
	h := multipart.Header{
		{Name: "Content-Type", Value: payload.EventType},
		{Name: "Cache-Control", Value: "no-store"},
		{Name: "x-edgetable-next", Value: Token(p.of, &p.Next)},
	}
	if n := len(p.Commits); !p.More || n > 0 {
		behind := edm.Ticks(0)
		if p.More {
			behind = max(tenth, p.now-p.Commits[n-1].Ticks) // a lag of 0.0 would mean that there are no more changes
		}
		tenths := int64(behind / tenth)
		h = append(h, multipart.Field{Name: "x-edgetable-behind", Value: strconv.FormatInt(tenths/10, 10) + "." + strconv.FormatInt(tenths%10, 10)})
	}
	return h
}
