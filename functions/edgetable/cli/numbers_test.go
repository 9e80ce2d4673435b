package cli

import (
	"testing"
	"time"
)

func TestNumbers(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0 rows":         Things(0, "rows"),
		"1 row":          Things(int64(1), "rows"),
		"1 entity":       Things(uint64(1), "entities"),
		"1 batch":        Things(1, "batches"),
		"1 file":         Things(1, "files"),
		"2,000 entities": Things(2000, "entities"),
		"1,234,567":      Commas(1234567),
		"1 byte":         ShowBytes(1),
		"1,023 bytes":    ShowBytes(1023),
		"1.5 KiB":        ShowBytes(1536),
		"487 µs":         ShowLatency(487_423 * time.Nanosecond),
		"3.28 ms":        ShowLatency(3_276_799 * time.Nanosecond),
		"1000 µs":        ShowLatency(999_900 * time.Nanosecond),
		"0.00 µs":        ShowLatency(0),
		"90.3 ms":        ShowLatency(90_268_061 * time.Nanosecond),
		"1.50 s":         ShowLatency(1500 * time.Millisecond),
		"1m1s":           ShowLatency(61 * time.Second),
		"4.0 GiB":        ShowBytes(4 << 30),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
