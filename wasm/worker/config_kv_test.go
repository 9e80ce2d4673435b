package main

import (
	"testing"
	"time"
)

func TestConfigKV(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text     string
		single   bool
		interval time.Duration
		fine     bool
	}{
		{variables(acme), false, time.Second, true}, // as Workers KV wants it
		{variables("EDGETABLE_KV_SINGLE_WRITER=false"), false, time.Second, true},
		{variables("EDGETABLE_KV_SINGLE_WRITER=true", "EDGETABLE_KV_INTERVAL=0.01"), true, 10 * time.Millisecond, true},
		{variables("EDGETABLE_KV_SINGLE_WRITER=1"), false, 0, false}, // who means it writes it
		{variables("EDGETABLE_KV_INTERVAL=0"), false, 0, false},      // which is none
		{variables("EDGETABLE_KV_INTERVAL=1s"), false, 0, false},
		{variables("EDGETABLE_KV_MEMORY=64"), false, 0, false}, // more than there is
	} {
		o, err := readKV(tt.text)
		if o.SingleWriter != tt.single || o.Interval != tt.interval || (err == nil) != tt.fine {
			t.Errorf("%q: %t, %v, %v", tt.text, o.SingleWriter, o.Interval, err)
		}
	}
}
