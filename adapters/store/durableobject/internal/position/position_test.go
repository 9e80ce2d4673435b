package position

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
)

// TestPosition checks that a position of any ranges is parsed as it was encoded, and that other
// bytes are refused, or parsed without a panic.
func TestPosition(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		p := Position{
			Layout: message.Layout{Buckets: uint16(1 + r.IntN(4)), Location: []string{"", "eu/weur"}[r.IntN(2)]},
			Ended:  r.IntN(2) == 0, Busy: r.IntN(2) == 0, Drop: edm.Ticks(r.Int64N(1 << r.IntN(62))), From: uint64(r.IntN(2000)),
		}
		now := edm.Ticks(639_000_000_000_000_000)
		for range r.IntN(60) {
			o := message.Object{Bucket: uint16(r.IntN(int(p.Layout.Buckets))), Range: uint32(r.IntN(80))}
			p.Set(o, []edm.Ticks{message.FeedBegin, message.FeedOldest, now, now, now - edm.Ticks(r.Int64N(1<<40)), now - 6_000_000_000}[r.IntN(6)])
			if r.IntN(10) == 0 {
				p.Remove(o)
				p.Done = append(p.Done, o)
			}
		}
		if len(p.Ranges) > 0 && r.IntN(4) == 0 {
			one := p.Ranges[r.IntN(len(p.Ranges))].Object
			p.SetPart(one, now, 1+r.IntN(100))
			if at, _ := p.At(one); at != now-1 || p.PartIn(one) == 0 || p.PartIn(message.Object{Bucket: 9}) != 0 {
				t.Fatalf("inside a commit: %+v", p)
			}
		}
		b := p.Append(nil)
		got, ok := Read(b)
		if len(p.Ranges) == 0 {
			got.Ranges, p.Ranges = nil, nil
		}
		if !ok || !reflect.DeepEqual(got, p) {
			t.Fatalf("%+v\nbecomes\n%+v, %t", p, got, ok)
		}
		for i := range got.Ranges[:min(len(got.Ranges), 3)] {
			if at, ok := got.At(got.Ranges[i].Object); !ok || at != got.Ranges[i].At {
				t.Fatalf("%+v is at %d", got.Ranges[i], at)
			}
		}
		for range 5 {
			c := append([]byte(nil), b...)
			c[r.IntN(len(c))] ^= byte(1 + r.IntN(255))
			Read(c[:r.IntN(len(c)+1)])
		}
	}
}
