package repository

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// NewTimelineID returns the random name of a timeline.
func NewTimelineID() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

func isTimelineID(s string) bool { return len(s) == 16 && strings.Trim(s, "0123456789abcdef") == "" }
