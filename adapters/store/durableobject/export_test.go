package durableobject

// AskAtOnce has a page of a feed ask so many ranges.
func (s *Store) AskAtOnce(ranges int) { s.window = ranges }
