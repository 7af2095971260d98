package engine

import (
	"io"
	"os"
	"testing"
	"time"
)

// Both ways to see that somebody waits for standard input see it.
func TestReadsStdin(t *testing.T) {
	var in stdin
	if err := in.open(); err != nil {
		t.Fatal(err)
	}
	if in.wanted() || goroutineReadsStdin() {
		t.Error("somebody reads already")
	}
	got := make(chan string)
	go func() {
		data, err := io.ReadAll(os.NewFile(0, "stdin"))
		if err != nil {
			t.Error(err)
		}
		got <- string(data)
	}()
	for end := time.Now().Add(10 * time.Second); !in.wanted() || !goroutineReadsStdin(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("nobody reads: by the threads %v, by the goroutines %v", readsStdin(), goroutineReadsStdin())
		}
	}
	in.write("text\n")
	in.end()
	if text := <-got; text != "text\n" {
		t.Errorf("read %q", text)
	}
	if in.wanted() {
		t.Error("a read waits after the end")
	}
	if err := in.renew(); err != nil {
		t.Fatal(err)
	}
}
