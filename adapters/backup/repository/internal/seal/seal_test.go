package seal_test

import (
	"errors"
	"strings"
	"testing"

	"edgetable/adapters/backup/repository/internal/seal"
)

// TestOpen checks which objects are accepted, and how an object of a newer version differs from a damaged one.
func TestOpen(t *testing.T) {
	t.Parallel()
	const sum = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae" // checksum of the content "foo"
	for _, row := range []struct {
		object  string
		version int
		err     error
	}{
		{"edgetable log 1, sha256 " + sum + "\nfoo", 1, nil},
		{"edgetable log 2, sha256 " + sum + "\nfoo", 2, nil},
		{"edgetable log 2, sha256 " + sum + "\nfoo\n", 0, seal.ErrSum},
		{"edgetable log 1, sha256 " + strings.ToUpper(sum) + "\nfoo", 0, seal.ErrSum},
		{"edgetable log 3, sha256 " + sum + "\nfoo", 0, seal.ErrNewer},
		{"edgetable log 1, sha512 " + sum + "\nfoo", 0, seal.ErrNewer},
		{"edgetable log 1", 0, seal.ErrNewer}, // the object is truncated, but an object in a newer form might look like this
		{"edgetable backup 1, sha256 " + sum + "\nfoo", 0, seal.ErrSum},
		{"foo", 0, seal.ErrSum},
		{"", 0, seal.ErrSum},
	} {
		version, content, err := seal.Open([]byte(row.object), "log", 2)
		if version != row.version || !errors.Is(err, row.err) || err == nil && string(content) != "foo" || err != nil && content != nil {
			t.Errorf("%q: version %d, %q, %v; want version %d, %v", row.object, version, content, err, row.version, row.err)
		}
	}
}

// TestEncode checks the bytes of an object, and that Decode returns the value.
func TestEncode(t *testing.T) {
	t.Parallel()
	b, err := seal.Encode([]int{1})
	if want := "edgetable backup 1, sha256 85990b7f9599320e7e8d42f57e6970988ec93806e3034a1d76948c740fd70292\n[\n 1\n]"; err != nil || string(b) != want {
		t.Errorf("%q, %v; want %q", b, err, want)
	}
	var got []int
	if err := seal.Decode(b, &got); err != nil || len(got) != 1 || got[0] != 1 {
		t.Errorf("%v, %v", got, err)
	}
}
