package main

import (
	"fmt"
	"os"
	"testing"

	"edgetable/testdata/needs"
)

// TestPostgresMemoryOfContainer checks the same as TestMemoryOfContainer, for a server whose tables
// are in PostgreSQL.
func TestPostgresMemoryOfContainer(t *testing.T) {
	needs.These(t, needs.Postgres)
	for _, mib := range []int64{128, 256, 512} {
		t.Run(fmt.Sprint(mib), func(t *testing.T) {
			if os.Getenv("EDGETABLE_LIMITS_TIME") == "" && mib != 128 {
				t.Skip("one size shows it; make image-limits has them all")
			}
			_, flags := postgresSchema(t)
			g := newCgroup(t, mib<<20, 0)
			batchRateUnderLoad(t, g.serve(t, append([]string{"--store", "postgres"}, flags...)...), loadTime(t))
			if n := g.kills(t); n > 0 {
				t.Fatalf("the kernel has ended %d processes", n)
			}
		})
	}
}

// TestPostgresRateInSmallContainer checks the same as TestRateInSmallContainer, for a server whose
// tables are in PostgreSQL.
func TestPostgresRateInSmallContainer(t *testing.T) {
	needs.These(t, needs.Postgres)
	fourFifths(t, func(t *testing.T) []string {
		_, flags := postgresSchema(t)
		return append([]string{"--store", "postgres"}, flags...)
	})
}
