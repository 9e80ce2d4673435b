package memstore

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTreeAgainstMap compares a tree with a map after every change. It also checks that an older
// root still has its entries.
func TestTreeAgainstMap(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	var tree, old *tree[int]
	model, oldModel := map[string]int{}, map[string]int{}
	for i := range 5000 {
		k := fmt.Sprintf("%03d", rnd.IntN(400))
		if rnd.IntN(5) < 2 {
			tree = tree.remove(k)
			delete(model, k)
		} else {
			tree = tree.put(k, i)
			model[k] = i
		}
		if i%500 == 250 {
			old, oldModel = tree, maps.Clone(model)
		}
		if i%50 == 0 {
			compareTree(t, tree, model)
			compareTree(t, old, oldModel)
		}
		if got, want := tree.tall(), 13; got > want { // there are at most 400 keys; an AVL tree is at most 1.44 log₂(n) high, which is less than 13
			t.Fatalf("height %d of %d entries, want at most %d", got, len(model), want)
		}
	}
}

func compareTree(t *testing.T, tree *tree[int], model map[string]int) {
	t.Helper()
	start := fmt.Sprintf("%03d", len(model)/2)
	var want []string
	for _, k := range slices.Sorted(maps.Keys(model)) {
		if k >= start {
			want = append(want, fmt.Sprint(k, "=", model[k]))
		}
	}
	var got []string
	for k, v := range tree.from(start) {
		got = append(got, fmt.Sprint(k, "=", v))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("from %s: got %v, want %v", start, got, want)
	}
}
