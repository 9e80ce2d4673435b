package fair

// heap is a heap of the payers with waiting requests. The first payer has the lowest charge. If several payers have
// this charge, the first payer has waited longest.
type heap[T any] []*payer[T]

func (p *payer[T]) before(o *payer[T]) bool {
	return p.charged < o.charged || p.charged == o.charged && p.since < o.since
}

func (h *heap[T]) add(p *payer[T]) {
	*h = append(*h, p)
	p.index = len(*h)
	h.fix(p)
}

func (h *heap[T]) remove(p *payer[T]) {
	last := (*h)[len(*h)-1]
	at := p.index
	*h = (*h)[:len(*h)-1]
	p.index = 0
	if last != p {
		(*h)[at-1], last.index = last, at
		h.fix(last)
	}
}

// fix restores the heap order after the charge of p has changed.
func (h heap[T]) fix(p *payer[T]) {
	for i := p.index; i > 1 && p.before(h[i/2-1]); i = p.index {
		h.swap(i, i/2)
	}
	for {
		least := p.index
		for child := 2 * p.index; child <= min(2*p.index+1, len(h)); child++ {
			if h[child-1].before(h[least-1]) {
				least = child
			}
		}
		if least == p.index {
			return
		}
		h.swap(p.index, least)
	}
}

func (h heap[T]) swap(i, j int) {
	h[i-1], h[j-1] = h[j-1], h[i-1]
	h[i-1].index, h[j-1].index = i, j
}
