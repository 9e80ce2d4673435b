package memstore

import "iter"

// tree is a persistent AVL tree; an empty tree is nil. put and remove do not change
// the tree; they return a new tree. Each takes O(log n) time and makes O(log n) nodes.
type tree[V any] struct {
	key         string
	value       V
	left, right *tree[V]
	height      int
}

func (t *tree[V]) get(key string) (value V, ok bool) {
	for t != nil {
		switch {
		case key < t.key:
			t = t.left
		case key > t.key:
			t = t.right
		default:
			return t.value, true
		}
	}
	return value, false
}

func (t *tree[V]) put(key string, value V) *tree[V] {
	switch {
	case t == nil:
		return &tree[V]{key: key, value: value, height: 1}
	case key < t.key:
		return t.with(t.left.put(key, value), t.right)
	case key > t.key:
		return t.with(t.left, t.right.put(key, value))
	}
	return &tree[V]{key, value, t.left, t.right, t.height}
}

func (t *tree[V]) remove(key string) *tree[V] {
	switch {
	case t == nil:
		return nil
	case key < t.key:
		return t.with(t.left.remove(key), t.right)
	case key > t.key:
		return t.with(t.left, t.right.remove(key))
	case t.left == nil:
		return t.right
	case t.right == nil:
		return t.left
	}
	next := t.right
	for next.left != nil {
		next = next.left
	}
	return next.with(t.left, t.right.remove(next.key))
}

// from iterates over the entries with keys ≥ start, in ascending order.
func (t *tree[V]) from(start string) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) { t.walk(start, yield) }
}

func (t *tree[V]) walk(start string, yield func(string, V) bool) bool {
	if t == nil {
		return true
	}
	if t.key < start {
		return t.right.walk(start, yield)
	}
	return t.left.walk(start, yield) && yield(t.key, t.value) && t.right.walk(start, yield)
}

// before iterates over the entries with keys < end, in descending order. If end is nil, it iterates over all entries.
func (t *tree[V]) before(end []byte) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) { t.walkBack(end, yield) }
}

func (t *tree[V]) walkBack(end []byte, yield func(string, V) bool) bool {
	if t == nil {
		return true
	}
	if end != nil && t.key >= string(end) {
		return t.left.walkBack(end, yield)
	}
	return t.right.walkBack(end, yield) && yield(t.key, t.value) && t.left.walkBack(end, yield)
}

// with makes a tree of the entry of t and two subtrees. The heights of the two subtrees may differ by 2. Rotations
// reduce the difference to at most 1.
func (t *tree[V]) with(l, r *tree[V]) *tree[V] {
	switch {
	case l.tall() > r.tall()+1:
		if l.left.tall() >= l.right.tall() {
			return l.over(l.left, t.over(l.right, r))
		}
		return l.right.over(l.over(l.left, l.right.left), t.over(l.right.right, r))
	case r.tall() > l.tall()+1:
		if r.right.tall() >= r.left.tall() {
			return r.over(t.over(l, r.left), r.right)
		}
		return r.left.over(t.over(l, r.left.left), r.over(r.left.right, r.right))
	}
	return t.over(l, r)
}

func (t *tree[V]) over(l, r *tree[V]) *tree[V] {
	return &tree[V]{t.key, t.value, l, r, 1 + max(l.tall(), r.tall())}
}

func (t *tree[V]) tall() int {
	if t == nil {
		return 0
	}
	return t.height
}
