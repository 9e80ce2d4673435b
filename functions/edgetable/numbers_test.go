package main

import "testing"

func TestNumbers(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0 rows":         things(0, "rows"),
		"1 row":          things(int64(1), "rows"),
		"1 entity":       things(uint64(1), "entities"),
		"1 batch":        things(1, "batches"),
		"1 file":         things(1, "files"),
		"2,000 entities": things(2000, "entities"),
		"1,234,567":      commas(1234567),
		"1 byte":         showBytes(1),
		"1,023 bytes":    showBytes(1023),
		"1.5 KiB":        showBytes(1536),
		"4.0 GiB":        showBytes(4 << 30),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
