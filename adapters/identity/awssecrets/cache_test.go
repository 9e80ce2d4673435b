package awssecrets_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unsafe"

	"edgetable/adapters/identity/awssecrets"
)

// source provides a text that changes, or that cannot be read.
type source struct {
	text  string
	err   error
	reads int
}

func (s *source) read(context.Context) (string, error) {
	s.reads++
	return s.text, s.err
}

// cache returns a Cache over a source, the clock of the Cache, and its log. A parsed value consists of dots and of
// the text in upper case. The number of dots is the number of earlier values.
func cache(s *source) (c *awssecrets.Cache[string], now *time.Time, log *bytes.Buffer) {
	log = new(bytes.Buffer)
	t := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	return &awssecrets.Cache[string]{Options: awssecrets.Options[string]{
		Name: "text", Read: s.read, Refresh: 5 * time.Minute, MaxStale: time.Hour,
		Parse: func(old, text string) (string, error) {
			if text == "nonsense" {
				return "", errors.New("cannot be understood")
			}
			return strings.Repeat(".", strings.Count(old, ".")+min(len(old), 1)) + strings.ToUpper(text), nil
		},
		Log: slog.New(slog.NewTextHandler(log, nil)), Now: func() time.Time { return t },
	}}, &t, log
}

// step is one step of a test: time passes, the source changes, and Get is called.
type step struct {
	after time.Duration
	text  string // "" if the text cannot be read
	want  string // wanted value; "" for an error
	reads int    // total number of reads so far
	why   string
}

func TestCache(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]step{
		"rotation": {
			{0, "one", "ONE", 1, "the first request reads"},
			{5*time.Minute - 1, "two", "ONE", 1, "what is known is good for a while"},
			{1, "two", ".TWO", 2, "and no longer"},
			{5 * time.Minute, "two", ".TWO", 3, "nothing is new, and is not read as if it were"},
			{5 * time.Minute, "one", "..ONE", 4, "a third one"},
		},
		"unreachable at first": {
			{0, "", "", 1, "there is nothing to go by"},
			{time.Second, "one", "", 1, "an attempt is not repeated at once"},
			{4 * time.Second, "one", "ONE", 2, "but soon"},
		},
		"unreachable later": {
			{0, "one", "ONE", 1, ""},
			{5 * time.Minute, "", "ONE", 2, "what is known serves on"},
			{time.Second, "", "ONE", 2, "without asking for each request"},
			{4 * time.Second, "", "ONE", 3, ""},
			{55*time.Minute - 6*time.Second, "", "ONE", 4, "nearly an hour"},
			{time.Second, "", "", 4, "keys may have been taken away long ago"},
			{4 * time.Second, "one", "ONE", 5, "it comes back, from nothing"},
		},
		"nonsense": {
			{0, "one", "ONE", 1, ""},
			{5 * time.Minute, "nonsense", "ONE", 2, "a text that cannot be understood is like none"},
			{5 * time.Second, "two", ".TWO", 3, "it was mended"},
		},
		"clock set back": {
			{0, "one", "ONE", 1, ""},
			{-time.Hour, "two", ".TWO", 2, "an age below zero is none"},
			{-time.Hour, "", "", 3, "nor is it an excuse"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &source{}
			c, now, log := cache(s)
			for i, step := range steps {
				*now = now.Add(step.after)
				s.text, s.err = step.text, nil
				if step.text == "" {
					s.err = errors.New("unreachable")
				}
				value, err := c.Get(t.Context())
				if value != step.want || s.reads != step.reads || (err == nil) != (step.want != "") {
					t.Errorf("step %d: %q after %d reads, %v; want %q after %d: %s", i+1, value, s.reads, err, step.want, step.reads, step.why)
				}
			}
			if strings.Contains(strings.ToLower(log.String()), "one") || strings.Contains(log.String(), "two") {
				t.Errorf("the log shows the secret: %s", log)
			}
			if name != "rotation" && !strings.Contains(log.String(), "level=ERROR") {
				t.Errorf("nothing is logged of the failure: %s", log)
			}
		})
	}
}

// TestCacheOfFrozenMachine checks that the wall clock determines the age of a value if the monotonic clock stopped
// while the machine was frozen.
func TestCacheOfFrozenMachine(t *testing.T) {
	t.Parallel()
	s := &source{text: "one"}
	c, _, _ := cache(s)
	before := time.Now()
	after := before
	// The next line adds an hour to the wall clock of a Time, but not to its monotonic clock. The first word of such
	// a Time contains nanoseconds in the low 30 bits, and seconds above them.
	*(*uint64)(unsafe.Pointer(&after)) += 3600 << 30
	if after.Sub(before) != 0 || after.Round(0).Sub(before.Round(0)) != time.Hour {
		t.Fatalf("a Time looks otherwise: %v, %v", before, after)
	}
	c.Now = func() time.Time { return before }
	if value, err := c.Get(t.Context()); value != "ONE" || err != nil {
		t.Fatal(value, err)
	}
	c.Now = func() time.Time { return after }
	s.text = "two"
	if value, err := c.Get(t.Context()); value != ".TWO" || err != nil {
		t.Errorf("%q, %v after an hour", value, err)
	}
}
