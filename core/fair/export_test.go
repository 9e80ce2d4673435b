package fair

// Payers returns the number of payers that the queue stores.
func (q *Queue[T]) Payers() int { return len(q.payers) }
