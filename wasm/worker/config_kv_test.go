package main

import "testing"

func TestConfigKV(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text         string
		single, fine bool
	}{
		{variables(acme), false, true},
		{variables("EDGETABLE_KV_SINGLE_WRITER=false"), false, true},
		{variables("EDGETABLE_KV_SINGLE_WRITER=true"), true, true},
		{variables("EDGETABLE_KV_SINGLE_WRITER=1"), false, false}, // who means it writes it
	} {
		o, err := readKV(tt.text)
		if o.SingleWriter != tt.single || (err == nil) != tt.fine {
			t.Errorf("%q: %t, %v", tt.text, o.SingleWriter, err)
		}
	}
}
