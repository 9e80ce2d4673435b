//go:build linux

package main

import (
	"testing"
	"time"
)

// TestGrows checks that noise and a rise at the start do not count as growth, but a slow leak does.
func TestGrows(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		at   func(second int) int
		want bool
	}{
		"flat with noise": {func(i int) int { return 200 + i*7919%40 }, false},
		"a cache fills":   {func(i int) int { return 100 + min(i, 150) }, false},
		"a leak":          {func(i int) int { return 150 + i/6 }, true},
		"small numbers":   {func(i int) int { return i / 100 }, false},
	} {
		var list []sample
		for i := range 600 {
			list = append(list, sample{time.Duration(i) * time.Second, tt.at(i), 0})
		}
		if err := grows(list, memory, 10); (err != nil) != tt.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
