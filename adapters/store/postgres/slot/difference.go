package slot

import "time"

// Difference returns how far the database's clock is ahead of this machine's clock. The arguments are:
//   - database: a reading of the database's clock, made while this machine waited for a reply
//   - sentAt: the time at which this machine sent the request
//   - waited: the duration of its wait
//
// If the reading is between request and reply, the result is 0. Otherwise it is the smallest difference that explains
// the reading.
func Difference(database, sentAt time.Time, waited time.Duration) time.Duration {
	if received := sentAt.Add(max(0, waited)); database.After(received) {
		return database.Sub(received)
	}
	return min(0, database.Sub(sentAt))
}
