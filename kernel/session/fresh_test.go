package session_test

import (
	"testing"
	"time"

	"github.com/warpbook/warpbook/kernel/gotool"
	"github.com/warpbook/warpbook/kernel/session"
)

// BenchmarkFresh measures what a kernel that has just started takes for its
// first answer of each kind: with the start of the session, and without.
func BenchmarkFresh(b *testing.B) {
	exe, err := host()
	if err != nil {
		b.Fatal(err)
	}
	for _, first := range []struct {
		name string
		ask  func(*session.Notebook) bool
	}{
		{"statement", func(s *session.Notebook) bool { _, err := run(b, s, 1, "x := 1\nx"); return err == nil }},
		{"compiled", func(s *session.Notebook) bool {
			_, err := run(b, s, 1, "type P struct{ X int }\nfunc (p P) String() string { return fmt.Sprint(\"P\", p.X) }\nP{1}")
			return err == nil
		}},
		{"completion", func(s *session.Notebook) bool {
			c, err := s.Complete(b.Context(), "fmt.Pri", 7)
			return err == nil && len(c.Items) > 0
		}},
		{"name", func(s *session.Notebook) bool {
			c, err := s.Complete(b.Context(), "st", 2)
			return err == nil && len(c.Items) > 0
		}},
		{"inspection", func(s *session.Notebook) bool {
			in, err := s.Inspect(b.Context(), "http.Get", 8, 0)
			return err == nil && in.Found
		}},
	} {
		for _, wait := range []time.Duration{0, time.Second} { // between the start and the question
			b.Run(first.name+"/after="+wait.String(), func(b *testing.B) {
				var start, answer time.Duration
				for b.Loop() {
					began := time.Now()
					tool, err := gotool.Find(exe)
					if err != nil {
						b.Fatal(err)
					}
					s, err := session.New(session.Options{Tool: tool, Command: []string{exe}, Dir: b.TempDir()})
					if err != nil {
						b.Fatal(err)
					}
					start += time.Since(began)
					time.Sleep(wait)
					began = time.Now()
					if !first.ask(s) {
						b.Error("no answer")
					}
					answer += time.Since(began)
					if err := s.Close(); err != nil {
						b.Error(err)
					}
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(start.Microseconds())/1000/float64(b.N), "start-ms")
				b.ReportMetric(float64(answer.Microseconds())/1000/float64(b.N), "answer-ms")
			})
		}
	}
}
