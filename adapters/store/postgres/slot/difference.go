package slot

import "time"

// Difference returns how far the clock of the database is ahead of the clock of this machine. This machine sent a
// request at the instant sent, and received the reply after the duration took. In between, the database read its clock.
// The statement may have waited for a lock, so any reading between request and reply counts as no difference. For other
// readings, the result is the smallest difference that explains the reading.
func Difference(database, sent time.Time, took time.Duration) time.Duration {
	if received := sent.Add(max(0, took)); database.After(received) {
		return database.Sub(received)
	}
	return min(0, database.Sub(sent))
}
