// Package needs declares the programs that tests need besides Go. Each step of the Makefile lists its available
// programs in the variable EDGETABLE_NEEDS. If a test needs a program that is not in the list, the test is skipped.
// If a program in the list is missing, the tests that need the program fail.
package needs

import (
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// Variable is the name of an environment variable. A step of the Makefile sets it to the list of programs that the
// step has, separated by commas.
const Variable = "EDGETABLE_NEEDS"

// The programs that a test can need.
const (
	ACME       = "acme"       // Pebble, an ACME server, built with Go
	AWS        = "aws"        // DynamoDB Local and Lambda's emulator: Java and Maven
	Edge       = "edge"       // TinyGo and Node.js
	Make       = "make"       // make, bash and Python
	Patroni    = "patroni"    // Debian's Patroni, with PostgreSQL and etcd
	Postgres   = "postgres"   // Debian's PostgreSQL, or one from Maven Central
	Prometheus = "prometheus" // Debian's package
)

// These skips the test t if the current step of the Makefile lacks one of the given programs.
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

// Asked reports whether a program is in the list of the current step of the Makefile (EDGETABLE_NEEDS).
func Asked(program string) bool {
	return slices.Contains(strings.Split(os.Getenv(Variable), ","), program)
}

// ownTag returns a build tag that begins with "test", or "" if no such tag was set. The repository uses no such tags,
// but a person who sets one wants a test to run. So the test fails instead of being skipped.
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
