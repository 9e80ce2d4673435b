package lend

import "testing"

// TestSessions checks the method Followed, which gets a database process and the number of a
// connection. Followed must return true if this process serves a connection with a higher number.
// Only the newest 256 connections are remembered.
func TestSessions(t *testing.T) {
	var s Sessions
	first, second := s.Begin("a"), s.Begin("b")
	if s.Followed("a", first) || s.Followed("b", second) {
		t.Error("a process works for its own connection alone")
	}
	third := s.Begin("a")
	if !s.Followed("a", first) || s.Followed("a", third) || s.Followed("b", second) {
		t.Error("the process of the first one works for the third one")
	}
	for range 256 {
		s.Begin("c")
	}
	if s.Followed("a", first) {
		t.Error("it is remembered longer than 256 connections")
	}
}
