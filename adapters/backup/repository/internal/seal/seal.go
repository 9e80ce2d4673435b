// Package seal protects an object by its first line. The line has the object's kind, the version of its form, and the
// checksum of its content.
//
//	edgetable backup 1, sha256 5feceb66ffc86f38…
package seal

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrSum means that the content does not have the checksum of the first line.
	ErrSum = errors.New("its checksum is wrong")
	// ErrNewer means that a newer version of edgetable wrote the object.
	ErrNewer = errors.New("written by a newer edgetable version; run that version")
)

// Line returns the first line of an object, without the end of the line.
func Line(kind string, version int, sum []byte) string {
	return fmt.Sprintf("%s%x", begin(kind, version), sum)
}

func begin(kind string, version int) string {
	return fmt.Sprintf("edgetable %s %d, sha256 ", kind, version)
}

// Open verifies an object, and returns its content and the version of its form. If this version is higher than newest,
// Open returns ErrNewer.
func Open(b []byte, kind string, newest int) (version int, content []byte, err error) {
	first, content, _ := bytes.Cut(b, []byte("\n"))
	line := string(first)
	for version = newest; version > 1 && !strings.HasPrefix(line, begin(kind, version)); {
		version--
	}
	sum := sha256.Sum256(content)
	switch {
	case line == Line(kind, version, sum[:]):
		return version, content, nil
	case strings.HasPrefix(line, "edgetable "+kind+" ") && !strings.HasPrefix(line, begin(kind, version)):
		return 0, nil, ErrNewer
	}
	return 0, nil, ErrSum
}

// An object that contains one value as JSON has this kind and this version.
const kindValue, versionValue = "backup", 1

// Encode returns an object with a value as JSON.
func Encode(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return append([]byte(Line(kindValue, versionValue, sum[:])+"\n"), text...), nil
}

// Decode verifies an object that Encode returned, and decodes its value.
func Decode(b []byte, v any) error {
	_, text, err := Open(b, kindValue, versionValue)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}
