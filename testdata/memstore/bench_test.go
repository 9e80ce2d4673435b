package memstore_test

import (
	"testing"

	"edgetable/core/storetest"
)

func BenchmarkStore(b *testing.B) { storetest.Bench(b, open) }
