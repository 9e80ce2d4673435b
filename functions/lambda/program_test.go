package main

import (
	"os"
	"slices"
	"testing"
)

// Keys for tests: base64 of 32 bytes each.
const (
	key1 = "Zmlyc3QgZmlyc3QgZmlyc3QgZmlyc3QgZmlyc3QgMTI="
	key2 = "c2Vjb25kIHNlY29uZCBzZWNvbmQgc2Vjb25kIDEyMzQ="
)

// The functions in the list endings are called after all tests. They release the resources that
// several tests use.
var endings []func()

func TestMain(m *testing.M) {
	code := m.Run()
	for _, end := range slices.Backward(endings) {
		end()
	}
	os.Exit(code)
}
