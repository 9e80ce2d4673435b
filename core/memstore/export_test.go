package memstore

import "iter"

// Tree is the persistent tree, for its own test.
type Tree tree[int]

func (t *Tree) Put(k string, v int) *Tree                { return (*Tree)((*tree[int])(t).put(k, v)) }
func (t *Tree) Remove(k string) *Tree                    { return (*Tree)((*tree[int])(t).remove(k)) }
func (t *Tree) From(start string) iter.Seq2[string, int] { return (*tree[int])(t).from(start) }
func (t *Tree) Height() int                              { return (*tree[int])(t).tall() }
