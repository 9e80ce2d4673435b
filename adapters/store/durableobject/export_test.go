package durableobject

// AskAtOnce sets how many ranges a page of a feed asks at a time.
func (s *Store) AskAtOnce(ranges int) { s.window = ranges }
