package session_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// A cell of 5,000 lines, whose last line knows the first.
func TestLongCell(t *testing.T) {
	s := open(t)
	var b strings.Builder
	b.WriteString("total := 0\n")
	for i := range 4998 {
		fmt.Fprintf(&b, "total += %d\n", i%10)
	}
	b.WriteString("total")
	text, err := run(t, s, 1, b.String())
	if err != nil || text != "[execute_result] 22483\n" {
		t.Errorf("got %.300s", text)
	}
	if text, err := run(t, s, 2, strings.Replace(b.String(), "total += 7\n", "total += oops\n", 1)); err == nil || !strings.Contains(text, "line 9, column 10: error: undefined: oops") {
		t.Errorf("got %.300s", text)
	}
}

// Many cells in one session: what the first one declared is there in the end,
// and the session's process does not grow with the cells.
func TestManyCells(t *testing.T) {
	s := open(t)
	if text, err := run(t, s, 1, "first := 1\nfunc twice(n int) int { return 2 * n }"); err != nil {
		t.Fatal(text)
	}
	var before int
	for i := 2; i < 2000; i++ {
		if text, err := run(t, s, i, fmt.Sprintf("v%d := twice(first) + %d", i%50, i)); err != nil {
			t.Fatal(text)
		}
		if i == 500 {
			before = residentMB(t)
		}
	}
	if text, _ := run(t, s, 2000, "twice(first) + v7"); text != "[execute_result] 1961\n" {
		t.Errorf("got %s", text)
	}
	if after := residentMB(t); after > before+60 {
		t.Errorf("the front end grew from %d to %d MB in 1,500 cells", before, after)
	}
}

// residentMB is the memory of this process, which holds the front end.
func residentMB(t *testing.T) int {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("memory is read from /proc, which is not here: ", err)
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kb / 1024
}
