package slot

import "time"

// Difference returns how far the clock of the database is ahead of the clock of this machine. At the instant sent, this
// machine sent a request, and it waited for the reply as long as took says. The database read its clock in between. A
// reading from this interval shows no difference, because the statement may have waited for a lock. So the result is
// the smallest difference that explains the reading.
func Difference(database, sent time.Time, took time.Duration) time.Duration {
	if received := sent.Add(max(0, took)); database.After(received) {
		return database.Sub(received)
	}
	return min(0, database.Sub(sent))
}
