package slot

import "time"

// Difference returns how far the database's clock is ahead of this machine's clock. The arguments are:
//   - database: a reading of the database's clock, made while this machine waited for a reply
//   - sent: the time at which this machine sent the request
//   - took: the duration of its wait
//
// If the reading is between request and reply, the result is 0. Otherwise it is the smallest difference that explains
// the reading.
func Difference(database, sent time.Time, took time.Duration) time.Duration {
	if received := sent.Add(max(0, took)); database.After(received) {
		return database.Sub(received)
	}
	return min(0, database.Sub(sent))
}
