package slot

import "time"

// Difference returns how far the clock of the database is ahead of the clock of this machine. The database read its clock between the instant sent,
// at which this machine sent a request, and the reply, for which the machine waited as long as took. A reading in this interval shows no difference:
// the statement may have waited for a lock. So the result is the smallest difference that explains the reading.
func Difference(database, sent time.Time, took time.Duration) time.Duration {
	if received := sent.Add(max(0, took)); database.After(received) {
		return database.Sub(received)
	}
	return min(0, database.Sub(sent))
}
