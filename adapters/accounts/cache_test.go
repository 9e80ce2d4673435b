package accounts_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/accounts"
)

// source is a text that changes, or cannot be read.
type source struct {
	text  string
	err   error
	reads int
}

func (s *source) read(context.Context) (string, error) {
	s.reads++
	return s.text, s.err
}

// cache is a Cache over a source at a time of its own, which logs.
func cache(s *source) (c *accounts.Cache, now *time.Time, log *bytes.Buffer) {
	log = new(bytes.Buffer)
	t := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	return &accounts.Cache{Options: accounts.Options{
		Read: s.read, Refresh: 5 * time.Minute, Stale: time.Hour,
		Log: slog.New(slog.NewTextHandler(log, nil)), Now: func() time.Time { return t },
	}}, &t, log
}

// A step of a Cache's life: time passes, the source changes, somebody asks.
type step struct {
	after time.Duration
	text  string // "": cannot be read
	want  string // names and which key of acme's; "": an error
	reads int    // until now
	why   string
}

func TestCache(t *testing.T) {
	t.Parallel()
	const one, two, both = "acme:" + key1, "acme:" + key2, "acme:" + key2 + ";beta:" + key3
	for name, steps := range map[string][]step{
		"rotation": {
			{0, one, "acme 1", 1, "the first request reads"},
			{5*time.Minute - 1, two, "acme 1", 1, "what is known is good for a while"},
			{1, two, "acme 2", 2, "and no longer"},
			{5 * time.Minute, both, "acme 2 beta", 3, "an account is added"},
			{5 * time.Minute, both, "acme 2 beta", 4, "nothing is new"},
			{5 * time.Minute, two, "acme 2", 5, "one is taken away"},
		},
		"unreachable at first": {
			{0, "", "", 1, "there is nothing to go by"},
			{time.Second, one, "", 1, "an attempt is not repeated at once"},
			{4 * time.Second, one, "acme 1", 2, "but soon"},
		},
		"unreachable later": {
			{0, one, "acme 1", 1, ""},
			{5 * time.Minute, "", "acme 1", 2, "what is known serves on"},
			{time.Second, "", "acme 1", 2, "without asking for each request"},
			{4 * time.Second, "", "acme 1", 3, ""},
			{55*time.Minute - 6*time.Second, "", "acme 1", 4, "nearly an hour"},
			{time.Second, "", "", 4, "the keys may have been taken away long ago"},
			{4 * time.Second, two, "acme 2", 5, "it comes back"},
		},
		"nonsense": {
			{0, one, "acme 1", 1, ""},
			{5 * time.Minute, "acme=" + key2, "acme 1", 2, "a text that cannot be understood is like none"},
			{5 * time.Second, "#", "acme 1", 3, "nor is an empty one an order to forget everybody"},
			{5 * time.Second, "acme:" + accounts.DevelopmentKey, "acme 1", 4, "nor one that lets everybody in"},
		},
		"clock set back": {
			{0, one, "acme 1", 1, ""},
			{-time.Hour, two, "acme 2", 2, "an age below zero is none"},
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
				list, err := c.Load(t.Context())
				if got := describe(t, list); got != step.want || s.reads != step.reads || (err == nil) != (step.want != "") {
					t.Errorf("step %d: %q after %d reads, %v; want %q after %d: %s", i+1, got, s.reads, err, step.want, step.reads, step.why)
				}
			}
			for _, key := range []string{key1, key2, key3, accounts.DevelopmentKey} {
				if strings.Contains(log.String(), key[:8]) {
					t.Errorf("the log shows a key: %s", log)
				}
			}
			if name != "rotation" && !strings.Contains(log.String(), "level=ERROR") {
				t.Errorf("nothing is logged of the failure: %s", log)
			}
		})
	}
}

// describe names the accounts of a list, and of acme the key.
func describe(t *testing.T, list accounts.List) string {
	t.Helper()
	var words []string
	if a, ok := list.Find("acme"); ok {
		words = append(words, "acme")
		for word, key := range map[string]string{"1": key1, "2": key2} {
			other, err := accounts.Parse("acme:" + key)
			if err != nil {
				t.Fatal(err)
			}
			if a.Keys[0].Sign("x") == other["acme"].Keys[0].Sign("x") {
				words = append(words, word)
			}
		}
	}
	if _, ok := list.Find("beta"); ok {
		words = append(words, "beta")
	}
	return strings.Join(words, " ")
}

// The protocol keeps settings with an account, so that one which is what it was
// stays the same one, whatever becomes of others.
func TestCacheKeepsAccounts(t *testing.T) {
	t.Parallel()
	s := &source{text: "acme:" + key1 + ";beta:" + key2}
	c, now, _ := cache(s)
	before, err := c.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text string
		same bool
		why  string
	}{
		{"acme:" + key1 + ";beta:" + key3, true, "another account has a new key"},
		{" acme : " + key1, true, "it is written otherwise"},
		{"acme:" + key1 + " disabled", false, "it was disabled"},
		{"acme:" + key1 + ":" + key2, false, "it got a second key"},
		{"acme:" + key1 + " allow=10.0.0.0/8", false, "it got a firewall"},
		{"acme:" + key2, false, "its key was replaced"},
	} {
		s.text = tt.text
		*now = now.Add(5 * time.Minute)
		after, err := c.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := after["acme"] == before["acme"]; got != tt.same {
			t.Errorf("the same account: %t, but %s", got, tt.why)
		}
		if found, ok := c.Find("acme"); !ok || found != after["acme"] {
			t.Errorf("Find: %v, %t", found, ok)
		}
		before = after
	}
}
