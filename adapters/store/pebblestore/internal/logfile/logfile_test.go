package logfile_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/logfile"
)

// newLog returns the content and the number of a log with records of many sizes. The log is as
// Pebble has written it when the process is killed.
func newLog(t testing.TB, seed uint64) (content []byte, number uint32) {
	t.Helper()
	fs := vfs.NewMem()
	db, err := pebble.Open("d", &pebble.Options{FS: fs, FormatMajorVersion: pebble.FormatTableFormatV6, MemTableSize: 16 << 20, Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	for range 200 {
		size := random.IntN(600)
		if random.IntN(20) == 0 {
			size = random.IntN(3 * 32 << 10)
		}
		value := make([]byte, size)
		for i := range value {
			value[i] = byte(random.Uint32())
		}
		if err := db.Set([]byte("k"), value, pebble.Sync); err != nil {
			t.Fatal(err)
		}
	}
	names, err := fs.List("d")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		var n uint32
		if _, err := fscan(name, &n); err == nil {
			number = max(number, n)
		}
	}
	f, err := fs.Open(fs.PathJoin("d", logName(number)))
	if err != nil {
		t.Fatal(err)
	}
	content, err = io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	return content, number
}

// TestScan checks that Scan returns the same records of undamaged logs as Pebble's own reader.
func TestScan(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		content, number := newLog(t, seed)
		got := logfile.Scan(content, number)
		if len(got.Damage) > 0 {
			t.Errorf("seed %d: damage in an undamaged log: %v", seed, got.Damage)
		}
		want := pebbleReads(t, content, number)
		if len(got.Records) != len(want) || len(want) < 20 {
			t.Fatalf("seed %d: %d records, Pebble reads %d", seed, len(got.Records), len(want))
		}
		for i, r := range got.Records {
			if !bytes.Equal(r.Payload, want[i]) || r.Found {
				t.Fatalf("seed %d: record %d differs from Pebble's", seed, i)
			}
		}
	}
}

// TestScanDamaged flips bytes at many offsets, one after the other. It checks that only records at
// the offset are lost, and that Scan reports the damage unless it is in the last record.
func TestScanDamaged(t *testing.T) {
	t.Parallel()
	content, number := newLog(t, 9)
	whole := logfile.Scan(content, number).Records
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		damaged := bytes.Clone(content)
		end := whole[len(whole)-1].Offset
		at := random.IntN(end)
		for i := range 1 + random.IntN(8) {
			damaged[min(at+i, end-1)] ^= byte(1 + random.IntN(255))
		}
		got := logfile.Scan(damaged, number)
		if len(got.Damage) == 0 {
			t.Fatalf("damage at %d of %d is not found", at, len(content))
		}
		if lost := len(whole) - len(got.Records); lost > 4 || lost < 1 {
			t.Errorf("damage at %d: %d of %d records are lost", at, lost, len(whole))
		}
		if got.Records[len(got.Records)-1].Behind == 0 {
			t.Errorf("damage at %d is not before the last record", at)
		}
	}
}

// TestScanTorn checks that Scan reports no damage of a truncated log.
func TestScanTorn(t *testing.T) {
	t.Parallel()
	content, number := newLog(t, 3)
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		n := random.IntN(len(content))
		torn := append(bytes.Clone(content[:n]), make([]byte, random.IntN(3)*1000)...)
		if got := logfile.Scan(torn, number); len(got.Damage) > 0 {
			t.Fatalf("a log cut at %d counts as damaged: %v", n, got.Damage)
		}
	}
}

// TestWrite checks that Pebble can read a log that Write has written with the
// readable records of a damaged log.
func TestWrite(t *testing.T) {
	t.Parallel()
	content, number := newLog(t, 4)
	content[len(content)/3] ^= 1
	got := logfile.Scan(content, number).Replayable()
	var b bytes.Buffer
	if err := logfile.Write(&b, number, got); err != nil {
		t.Fatal(err)
	}
	want := pebbleReads(t, b.Bytes(), number)
	if len(got) != len(want) {
		t.Fatalf("Pebble reads %d of %d records", len(want), len(got))
	}
	again := logfile.Scan(b.Bytes(), number)
	if len(again.Records) != len(want) || len(again.Damage) != 0 || !again.Closed {
		t.Fatalf("%d of %d records, damage %v", len(again.Records), len(want), again.Damage)
	}
}

// TestScanClosed checks that Scan finds damage anywhere in a closed log, also in the last record.
func TestScanClosed(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		content, number := newLog(t, seed)
		records := logfile.Scan(content, number).Records
		for n := len(records); n > len(records)-20; n-- {
			var b bytes.Buffer
			if err := logfile.Write(&b, number, records[:n]); err != nil {
				t.Fatal(err)
			}
			closed := b.Bytes()
			whole := logfile.Scan(closed, number)
			if !whole.Closed || len(whole.Damage) > 0 || len(whole.Records) != n {
				t.Fatalf("seed %d: %d of %d records, damage %v", seed, len(whole.Records), n, whole.Damage)
			}
			last := whole.Records[n-1].Offset
			closed[last+11+(whole.End-last-11)/2] ^= 8 // an offset in the payload of a chunk, because a chunk is larger than its header
			if got := logfile.Scan(closed, number); !got.Closed || len(got.Damage) != 1 || len(got.Records) != n-1 {
				t.Errorf("seed %d: %d of %d records, closed %v, damage %v", seed, len(got.Records), n, got.Closed, got.Damage)
			}
		}
	}
}

// TestForged checks a record whose payload contains valid records. Scan must not return these inner
// records, unless there is damage before them. In this case Scan must set Found.
func TestForged(t *testing.T) {
	t.Parallel()
	content, number := newLog(t, 5)
	// The payload contains chunks with the number of this log. If Scan searched the payload byte by
	// byte, it would regard these chunks as valid records of the log.
	records := logfile.Scan(content, number).Records
	inner := content[records[1].Offset:records[4].Offset]
	fs := vfs.NewMem()
	f, err := fs.Create("log", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	w := record.NewWriter(f)
	for _, p := range [][]byte{{1, 2, 3}, bytes.Repeat(inner, 3), {4, 5, 6}} {
		if _, err := w.WriteRecord(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := fs.Open("log")
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if got := logfile.Scan(b, number); len(got.Records) != 3 || len(got.Replayable()) != 3 {
		t.Errorf("%d records in an undamaged log of 3", len(got.Records))
	}
	b[10+4] ^= 1 // damages the length in the chunk header
	if got := logfile.Scan(b, number); len(got.Records) < 4 || len(got.Replayable()) != 1 {
		t.Errorf("%d records, %d to replay: forged records must be found and not replayed", len(got.Records), len(got.Replayable()))
	}
}

func FuzzScan(f *testing.F) {
	content, number := newLog(f, 6)
	f.Add(content[:2000], number)
	f.Fuzz(func(t *testing.T, b []byte, number uint32) {
		log := logfile.Scan(b, number)
		for i, r := range log.Records {
			if r.Offset < 0 || r.Offset >= len(b) || i > 0 && r.Offset <= log.Records[i-1].Offset || r.Behind > len(log.Damage) {
				t.Fatalf("record %d: %+v", i, r)
			}
		}
	})
}
