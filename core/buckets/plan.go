package buckets

import (
	"bytes"
	"slices"

	"edgetable/core/key"
)

// refill reads what the merge needs to go on, and sorts the streams again.
func (s *scan) refill() error {
	s.plan()
	if err := s.read(s.wave); err != nil {
		return err
	}
	s.cost.Waves++
	for i := range s.wave {
		f := &s.wave[i]
		c := &f.chunk
		if err := f.stream.take(f.r, c); err != nil {
			return err
		}
		visible := 0
		for j := range c.Rows {
			visible += len(c.Rows[j].Key) + len(c.Rows[j].Properties)
		}
		f.stream.hidden = max(c.Scanned-visible, 0)
		s.cost.Reads++
		s.cost.Rows += max(c.Examined, len(c.Rows))
		s.cost.Bytes += max(c.Scanned, visible)
	}
	for i := len(s.wave) - 1; i >= 0; i-- {
		s.resort(s.wave[i].stream)
	}
	clear(s.wave)
	return nil
}

// resort is settle for a stream anywhere in the order.
func (s *scan) resort(st *stream) {
	i := slices.Index(s.order, st)
	tail := &scan{order: s.order[i:]}
	tail.settle()
	s.page.Scanned += tail.page.Scanned
	s.order = s.order[:i+len(tail.order)]
}

// plan fills s.wave: the reads of all streams at the smallest position.
func (s *scan) plan() {
	s.wave = s.wave[:0]
	at := s.order[0].position()
	for _, st := range s.order {
		if len(st.rows) > 0 || !bytes.Equal(st.position(), at) {
			break
		}
		s.wave = append(s.wave, fetch{stream: st, r: key.Range{Start: st.rest.Start, End: st.rest.End}, limit: Limit{
			Rows: 1000, Bytes: s.o.ReadBytes, Filter: s.req.Filter, Consistency: s.req.Consistency,
		}})
	}
}
