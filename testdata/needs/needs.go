// Package needs is for tests of packages whose other tests need Go alone. A step of the Makefile asks for the programs that it
// has, in EDGETABLE_NEEDS: tests that need others are skipped, and those that need these fail if they are missing.
package needs

import (
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// Variable lists the programs that a step has, with commas between them.
const Variable = "EDGETABLE_NEEDS"

// What tests may need.
const (
	ACME       = "acme"       // Pebble, an ACME server, built by Go
	AWS        = "aws"        // DynamoDB Local and Lambda's emulator: Java and Maven
	Edge       = "edge"       // TinyGo and Node.js
	Make       = "make"       // make, bash and Python
	Patroni    = "patroni"    // Debian's, with its PostgreSQL and etcd
	Postgres   = "postgres"   // Debian's, or one of Maven Central
	Prometheus = "prometheus" // Debian's
)

// These skips a test unless all programs are asked for.
func These(t testing.TB, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if !Asked(program) {
			if tag := ownTag(); tag != "" {
				t.Fatalf("no build tag %s exists: set %s=%s", tag, Variable, program)
			}
			t.Skipf("it needs %s: a step of the Makefile runs it, with %s=%[1]s", program, Variable)
		}
	}
}

// Asked reports whether a program is asked for.
func Asked(program string) bool {
	return slices.Contains(strings.Split(os.Getenv(Variable), ","), program)
}

// ownTag is a build tag for tests with which the program was built: a test that it is to choose must not be skipped.
func ownTag() string {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		for tag := range strings.SplitSeq(s.Value, ",") {
			if s.Key == "-tags" && strings.HasPrefix(tag, "test") {
				return tag
			}
		}
	}
	return ""
}
