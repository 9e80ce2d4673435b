package logfile_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"edgetable/adapters/store/pebblestore/internal/logfile"
)

// TestFollow reads a growing log in steps, and then a log with damage. It checks that Follow
// returns the records that Pebble's own reader returns.
func TestFollow(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		content, number := newLog(t, seed)
		random := rand.New(rand.NewPCG(seed, 1))
		damaged := bytes.Clone(content)
		damaged[len(content)/2+random.IntN(len(content)/4)] ^= 1
		for _, content := range [][]byte{content, damaged} {
			want := pebbleReads(t, content, number)
			var got [][]byte
			for size, offset := 0, int64(0); size < len(content); {
				size = min(len(content), size+random.IntN(100_000))
				start := logfile.BlockOf(offset)
				end, _ := logfile.Follow(bytes.Clone(content[start:size]), int(offset-start), number, func(record []byte) { got = append(got, record) })
				offset = start + int64(end)
			}
			if len(got) != len(want) || !bytes.Equal(bytes.Join(got, nil), bytes.Join(want, nil)) {
				t.Fatalf("seed %d: %d records, Pebble reads %d", seed, len(got), len(want))
			}
		}
	}
}
