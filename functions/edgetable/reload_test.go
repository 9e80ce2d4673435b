package main

import "testing"

// Files are read when they have changed and rested, or when somebody asks.
func TestChanges(t *testing.T) {
	t.Parallel()
	var c changes
	for i, look := range []struct {
		stamp string
		asked bool
		want  bool
	}{
		{"1", true, true},
		{"1", false, false},
		{"2", false, false}, // it may be half written
		{"3", false, false}, // indeed
		{"3", false, true},
		{"3", false, false},
		{"3", true, true},
		{"4", true, true},
		{"4", false, false},
	} {
		if got := c.due(look.stamp, look.asked); got != look.want {
			t.Errorf("look %d: %t, want %t", i+1, got, look.want)
		}
	}
}
