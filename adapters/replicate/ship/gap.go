package ship

// stopReading stops reading the log, because the store discarded log files before they were shipped. Shipping can only continue
// after a new backup.
func (s *Shipper) stopReading() {
	s.tellGap()
	s.reader, s.sealed, s.lost = nil, nil, true
}

// watchGap logs an error if the store discarded log files before they were shipped. It works even if the backup location does
// not respond.
func (s *Shipper) watchGap() {
	since := s.Store.Timeline().Since
	if s.since == 0 {
		s.since = max(since, s.Store.Started())
	}
	if s.reader != nil && since > s.packed || s.reader == nil && since > s.since {
		s.tellGap()
	}
}

// tellGap logs that commits are missing from the shipped log. It logs each gap once.
func (s *Shipper) tellGap() {
	if s.gap {
		return
	}
	s.gap = true
	s.Log.Error("the log has a gap, because logs were discarded before they were shipped: a new backup is made as soon as the backup location responds")
	s.update(func(st *Status) { st.GivenUp++ })
}
