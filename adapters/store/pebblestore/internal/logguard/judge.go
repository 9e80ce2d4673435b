package logguard

import (
	"fmt"

	"edgetable/adapters/store/pebblestore/internal/logfile"
	"edgetable/core/edm"
)

// describeLoss returns a sentence about the confirmed commits that a log has lost, or "". The parameter nextLog is the
// number of the following log, or 0. The parameter nextContent is the content of the following log; it may be empty if
// that log is in the list of logs.
func (i *inspection) describeLoss(path string, number uint32, log logfile.Log, nextLog uint32, nextContent logfile.Log) string {
	readable := edm.Ticks(i.list.live[number]) // commits up to this number are not lost: another file has them, or this function has read them
	if i.older > 0 {
		readable = min(readable, i.older) // a commit gets its number before it is written, so the log may have commits that got their numbers before the log was created
	}
	var before, behind int
	var synced edm.Ticks
	for _, r := range log.Records {
		m, ok := MarkOf(r.Payload)
		if !ok {
			continue
		}
		i.highest = max(i.highest, m.Number)
		if r.Behind == 0 {
			readable = max(readable, m.Number)
			before += min(1, int(m.Number))
			continue
		}
		synced = max(synced, m.Synced)
		if m.Number > 0 && !r.Found { // records that only a byte-by-byte search has found are never replayed
			behind++
		}
	}
	// Pebble closes a log before it creates the next log. Only the last log of a killed process is not closed. The next
	// process first moves the commits of that log to data files.
	verb := "are"
	nextLog, issued := i.list.follower(number, nextLog)
	if nextLog > 0 && (len(log.Damage) > 0 || !log.Closed) {
		if synced <= readable {
			verb = "may be" // logs are not ordered by number, so the missing commits may be in the next log
		}
		synced = max(synced, edm.Ticks(issued))
		for _, r := range nextContent.Records { // if the list contains the next log, its number in the list is enough, and nextContent is empty
			if m, ok := MarkOf(r.Payload); ok {
				synced = max(synced, m.Synced)
				break // the first Mark says what was synced before the next log, but later Marks may be about commits in the next log
			}
		}
	}
	if _, listed := i.list.live[number]; nextLog == 0 && listed { // a log is added to the list before it is written, so a log that is not in the list is empty
		synced = max(synced, edm.Ticks(i.list.synced))
	}
	i.older = max(i.older, readable, synced)
	since := "its beginning"
	if readable > 0 {
		since = readable.String()
	}
	if log.Unreadable != nil && (synced <= readable || len(log.Damage) == 0) {
		return fmt.Sprintf("%s cannot be read at %v (%d commits before and %d after it can be read); confirmed commits after %s may be lost", path, log.Unreadable, before, behind, since)
	}
	lost := fmt.Sprintf("after %s and until %s %s lost", since, synced, verb)
	if synced <= readable {
		if nextLog == 0 || !log.Closed || len(log.Damage) == 0 {
			return ""
		}
		lost = fmt.Sprintf("until %s may be lost", readable) // all commits in a closed log were synced, but they are not in the order of their numbers
	}
	place := fmt.Sprintf("ends at offset %d, although more was written (%d commits can be read)", log.End, before)
	if len(log.Damage) > 0 {
		place = fmt.Sprintf("cannot be read at offset %d (%d damaged places; %d commits before the first and %d after it can be read)",
			log.Damage[0].Offset, len(log.Damage), before, behind)
	}
	if log.Unreadable != nil {
		place += fmt.Sprintf(", because the disk cannot read %v", log.Unreadable)
	}
	return fmt.Sprintf("%s %s; confirmed commits %s", path, place, lost)
}
