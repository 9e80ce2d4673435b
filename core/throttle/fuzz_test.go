package throttle_test

import (
	"encoding/binary"
	"testing"
	"time"

	"edgetable/core/throttle"
)

// FuzzBuckets checks Buckets with many keys and a clock that can step forward and back. After the wait
// that Take returns, Take must succeed. Peek and Take must agree. Debts and memory must be bounded.
func FuzzBuckets(f *testing.F) {
	f.Add([]byte("a\x00\x01\x05b\x01\x02\x06c\x02\x03\x07"), uint16(3))
	f.Add([]byte("a\x01\xff\xffa\x00\xff\xff\x00\x02\xff\xffa\x03\x00\x01"), uint16(1))
	f.Fuzz(func(t *testing.T, operations []byte, room uint16) {
		const rate, burst = 10, 20
		c := newClock()
		keys := 1 + int(room)%600
		b := throttle.New(throttle.Options{Rate: rate, Burst: burst, Keys: keys, Now: c.now})
		for ; len(operations) >= 4; operations = operations[4:] {
			key, n := string(operations[:1]), int(binary.LittleEndian.Uint16(operations[2:]))
			switch operations[1] % 5 {
			case 0:
				c.advance(time.Duration(n) * time.Millisecond)
			case 1:
				c.advance(-time.Duration(n) * time.Second)
			case 2:
				b.Charge(key, n)
				if wait := b.Peek(key); wait > (burst+1)*time.Second/rate {
					t.Fatalf("%q owes so much that a token comes after %v", key, wait)
				}
			case 3:
				if peek, take := b.Peek(key), b.Take(key, 1); peek != take {
					t.Fatalf("Peek says %v, Take %v", peek, take)
				}
			case 4:
				n = 1 + n%burst
				wait := b.Take(key, n)
				c.advance(wait)
				if again := b.Take(key, n); wait > 0 && again != 0 {
					t.Fatalf("%d tokens after %v, and then after %v", n, wait, again)
				}
			}
			if b.Len() > keys {
				t.Fatalf("%d buckets, want at most %d", b.Len(), keys)
			}
		}
	})
}
