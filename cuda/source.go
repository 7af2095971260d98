package cuda

import (
	"context"
	"sync"
)

// Source is CUDA C++ that is compiled when it is first needed, and once: for kernels
// that belong to Go code.
type Source struct {
	name, text string
	options    []Option

	mu     sync.Mutex
	module *Module
}

// NewSource makes a source. name is how errors and findings call it.
func NewSource(name, text string, options ...Option) *Source {
	return &Source{name: name, text: text, options: options}
}

// Module is the compiled source. What did not compile is tried again next time.
func (s *Source) Module() (*Module, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.module != nil {
		return s.module, nil
	}
	m, err := Compile(context.Background(), s.name, s.text, s.options...)
	if err != nil {
		return nil, err
	}
	s.module = m
	return m, nil
}

// Kernel finds a kernel of the source by its name.
func (s *Source) Kernel(name string) (*Kernel, error) {
	m, err := s.Module()
	if err != nil {
		return nil, err
	}
	return m.Kernel(name)
}
