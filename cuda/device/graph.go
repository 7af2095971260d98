package device

import "errors"

// graph is captured work, and the memory that it uses and that was given back
// meanwhile.
type graph struct {
	id   Graph
	held []*buffer
}

func (s *server) begin(st Stream) error {
	if err := s.backend.BeginCapture(st); err != nil {
		return err
	}
	s.capture = true
	return nil
}

func (s *server) end(st Stream) (graph, error) {
	id, err := s.backend.EndCapture(st)
	g := graph{id, s.held}
	s.capture, s.held = false, nil
	if err != nil {
		return graph{}, errors.Join(err, s.giveBack(g.held))
	}
	return g, nil
}

func (s *server) freeGraph(g graph) error {
	return errors.Join(s.backend.FreeGraph(g.id), s.giveBack(g.held))
}
