package engine

// maxSinks is how many programs are remembered for the output of goroutines
// that outlive them.
const maxSinks = 1000

// sinks knows the sink of each recent program.
type sinks struct {
	events  Sink // for output that belongs to no program
	byID    map[int]Sink
	order   []int
	current int
}

func (s *sinks) reset(events Sink) { *s = sinks{events: events, byID: map[int]Sink{}} }

// begin makes a program the current one.
func (s *sinks) begin(id int, sink Sink) {
	if _, known := s.byID[id]; !known {
		s.order = append(s.order, id)
	}
	s.byID[id], s.current = sink, id
	if len(s.order) > maxSinks {
		delete(s.byID, s.order[0])
		s.order = s.order[1:]
	}
}

// of returns the sink of a program, the current one's for 0; perhaps nil.
func (s *sinks) of(id int) Sink {
	if id == 0 {
		id = s.current
	}
	if sink, ok := s.byID[id]; ok {
		return sink
	}
	return s.events
}
