package fair

// Payers returns the number of payers that the queue remembers.
func (q *Queue[T]) Payers() int { return len(q.payers) }
