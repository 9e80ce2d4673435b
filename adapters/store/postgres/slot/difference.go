package slot

import "time"

// Difference returns how far the clock of the database is ahead of the clock of this machine. The parameters are a
// reading of the database's clock, the time at which this machine sent a request, and the duration of its wait for the
// reply. The database read its clock during the wait. The statement may have waited for a lock, so a reading between
// request and reply counts as no difference. For any other reading, the result is the smallest difference that explains
// it.
func Difference(database, sent time.Time, took time.Duration) time.Duration {
	if received := sent.Add(max(0, took)); database.After(received) {
		return database.Sub(received)
	}
	return min(0, database.Sub(sent))
}
