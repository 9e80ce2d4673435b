package changefeed

import (
	"strconv"

	"edgetable/core/edm"
	"edgetable/core/multipart"
	"edgetable/core/payload"
	"edgetable/core/table"
)

// page is one page of a feed, with the other data that its encoding needs.
type page struct {
	events payload.Events
	of     table.Name
	table.FeedPage
	now edm.Ticks
}

// isIdle reports whether the page has no events and the client has read the whole feed.
func (p *page) isIdle() bool { return len(p.Commits) == 0 && !p.More }

// appendList appends the events as a JSON array. The parameter most limits the length of the array in bytes. If the
// array would be longer, appendList leaves out commits at the end of the page. It appends the first commit in any case.
// It never divides a commit; the store has already divided very large ones: see [table.LargestPart].
func (p *page) appendList(dst []byte, most int) []byte {
	begin := len(dst)
	dst = append(dst, '[')
	for i := range p.Commits {
		before := len(dst)
		for j := range changesOf(&p.Commits[i]) {
			if dst[len(dst)-1] != '[' {
				dst = append(dst, ',')
			}
			dst = p.events.Append(dst, &p.Commits[i], j)
		}
		if len(dst)-begin > most && i > 0 {
			dst = dst[:before]
			p.Commits, p.More = p.Commits[:i], true
			p.Next.At = p.Commits[i-1].At
			break
		}
	}
	return append(dst, ']')
}

// appendFrames appends commit i as server-sent events. Only the last event contains a position, the position after the
// commit, or after the part of a commit. So a client that resumes gets no event of a commit twice.
func (p *page) appendFrames(dst []byte, i int) []byte {
	c := &p.Commits[i]
	n := changesOf(c)
	for j := range n {
		if j == n-1 {
			next := p.Next
			next.At = c.At
			dst = append(append(append(dst, "id: "...), Token(p.of, &next)...), '\n')
		}
		dst = append(p.events.Append(append(dst, "data: "...), c, j), "\n\n"...)
	}
	return dst
}

// changesOf returns the number of events that a commit has.
func changesOf(c *table.FeedCommit) int {
	if c.Dropped {
		return 1
	}
	return len(c.Changes)
}

// header returns the headers of a response with a list of events.
func (p *page) header() multipart.Header {
	h := multipart.Header{
		{Name: "Content-Type", Value: payload.EventType},
		{Name: "Cache-Control", Value: "no-store"},
		{Name: "x-edgetable-next", Value: Token(p.of, &p.Next)},
	}
	if n := len(p.Commits); !p.More || n > 0 {
		behind := edm.Ticks(0)
		if p.More {
			behind = max(0, p.now-p.Commits[n-1].Ticks)
		}
		tenths := int64(behind / (edm.TicksPerSecond / 10))
		h = append(h, multipart.Field{Name: "x-edgetable-behind", Value: strconv.FormatInt(tenths/10, 10) + "." + strconv.FormatInt(tenths%10, 10)})
	}
	return h
}
