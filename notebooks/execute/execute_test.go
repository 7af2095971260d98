package execute

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/warpbook/warpbook/notebooks/nbformat"
)

// notebook has a code cell for each source.
func notebook(sources ...string) *nbformat.Notebook {
	nb := nbformat.New()
	for i, s := range sources {
		nb.Cells = append(nb.Cells, nbformat.NewCell(nbformat.Code, "cell-"+string(rune('a'+i)), s))
	}
	return nb
}

// shown is a cell's outputs in short, one a line.
func shown(t *testing.T, c nbformat.Cell) string {
	t.Helper()
	var lines []string
	for _, o := range c.Outputs {
		var f struct {
			Type string `json:"output_type"`
			Name string
			Text nbformat.Text
			Data map[string]nbformat.Text
			Err  string `json:"ename"`
		}
		if err := json.Unmarshal(o, &f); err != nil {
			t.Fatalf("%v: %s", err, o)
		}
		lines = append(lines, strings.ReplaceAll(f.Type+" "+f.Name+string(f.Text)+string(f.Data["text/plain"])+f.Err, "\n", "|"))
	}
	return strings.Join(lines, "\n")
}

func TestOutputsAsNbclientRecordsThem(t *testing.T) {
	cases := []struct{ name, source, want string }{
		{"streams join", "print a\\n\nprint b\\n\nwarn c\\n\nprint d\\n", "stream stdouta|b|\nstream stderrc|\nstream stdoutd|"},
		{"carriage returns overwrite", "print 10%\\r\nprint 20%\\r\nprint done\\n", "stream stdoutdone|"},
		{"line ends of Windows stay", "print a\\r\\nb", "stream stdouta\r|b"},
		{"result", "result 42", "execute_result 42"},
		{"updated in place", "show x one\nprint p\\n\nupdate x two", "display_data two\nstream stdoutp|"},
		{"every display of an id", "show y one\nshow y two\nupdate y three", "display_data three\ndisplay_data three"},
		{"clear", "print a\\n\nclear\nprint b\\n", "stream stdoutb|"},
		{"clear waits for the next output", "print a\\n\nclear wait", "stream stdouta|"},
		{"clear wait, then output", "print a\\n\nclear wait\nshow - b", "display_data b"},
		{"an update after a clear reaches nothing", "show z one\nclear\nshow - b\nupdate z two", "display_data b"},
	}
	var sources []string
	for _, c := range cases {
		sources = append(sources, c.source)
	}
	nb := notebook(sources...)
	if err := Notebook(t.Context(), startKernel(t), nb, Options{}); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		if got := shown(t, nb.Cells[i]); got != c.want {
			t.Errorf("%s: shows\n%s\nwant\n%s", c.name, got, c.want)
		}
		if n := nb.Cells[i].ExecutionCount; n == nil || *n != i+1 {
			t.Errorf("%s: its count is %v, want %d", c.name, n, i+1)
		}
	}
	if err := nb.Validate(); err != nil {
		t.Error(err)
	}
	var timing map[string]string
	if _, err := nb.Cells[0].Metadata.Get("execution", &timing); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"iopub.status.busy", "iopub.execute_input", "shell.execute_reply", "iopub.status.idle"} {
		if _, err := time.Parse(time.RFC3339, timing[key]); err != nil {
			t.Errorf("%s is %q", key, timing[key])
		}
	}
	var lang struct{ Name string }
	if _, err := nb.Metadata.Get("language_info", &lang); err != nil || lang.Name != "go" {
		t.Errorf("language_info %+v, %v", lang, err)
	}
}

func TestUpdateReachesAnEarlierCell(t *testing.T) {
	nb := notebook("show x one", "update x two")
	if err := Notebook(t.Context(), startKernel(t), nb, Options{}); err != nil {
		t.Fatal(err)
	}
	if got := shown(t, nb.Cells[0]); got != "display_data two" {
		t.Error(got)
	}
}

func TestErrors(t *testing.T) {
	k := startKernel(t)
	stale := nbformat.NewStream("stdout", "from an earlier run")
	for _, c := range []struct {
		name    string
		tag     string
		options Options
		stops   bool
	}{
		{"an error ends the run", "", Options{}, true},
		{"allowed by the tag", "raises-exception", Options{}, false},
		{"allowed by the option", "", Options{AllowErrors: true}, false},
		{"a cell that is not run", "skip-execution", Options{}, false},
	} {
		nb := notebook("print one", "fail boom", "print three")
		nb.Cells[2].Outputs = []nbformat.Output{stale}
		if err := nb.Cells[1].Metadata.Set("tags", []string{c.tag}); err != nil {
			t.Fatal(err)
		}
		err := Notebook(t.Context(), k, nb, c.options)
		var failed *CellError
		if stopped := errors.As(err, &failed); stopped != c.stops || !c.stops && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.stops && (failed.Cell != 2 || failed.Name != "boom" || len(failed.Traceback) != 1) {
			t.Errorf("%s: %+v", c.name, failed)
		}
		want := [3]string{"stream stdoutone", "error boom", "stream stdoutthree"}
		if c.stops {
			want[2] = ""
		}
		if c.tag == skipExecution {
			want[1] = ""
		}
		for i := range want {
			if got := shown(t, nb.Cells[i]); got != want[i] {
				t.Errorf("%s: cell %d shows %q, want %q", c.name, i+1, got, want[i])
			}
		}
	}
}

func TestTimeoutInterrupts(t *testing.T) {
	k := startKernel(t)
	nb := notebook("print before", "print here\nhang", "print after")
	err := Notebook(t.Context(), k, nb, Options{Timeout: 300 * time.Millisecond})
	var late *TimeoutError
	if !errors.As(err, &late) || late.Cell != 2 {
		t.Fatalf("error %v, want a TimeoutError of cell 2", err)
	}
	if got := shown(t, nb.Cells[1]); got != "stream stdouthere\nerror interrupted" {
		t.Errorf("the interrupted cell shows %q", got)
	}
	if err := Notebook(t.Context(), k, notebook("print again"), Options{}); err != nil {
		t.Errorf("after the interrupt: %v", err)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	nb := notebook("hang")
	err := Notebook(ctx, startKernel(t), nb, Options{Progress: func(int, int) { time.AfterFunc(200*time.Millisecond, cancel) }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

func TestKernelDies(t *testing.T) {
	nb := notebook("print one", "die", "print three")
	if err := Notebook(t.Context(), startKernel(t), nb, Options{}); !errors.Is(err, ErrDied) {
		t.Errorf("error %v, want ErrDied", err)
	}
	if got := shown(t, nb.Cells[0]); got != "stream stdoutone" {
		t.Errorf("the cell before shows %q", got)
	}
}

func TestKernelThatDoesNotStart(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want string
	}{
		{nil, "names no program"},
		{[]string{"/no/such/program"}, "does not start"},
		{[]string{"false"}, "died"},
	} {
		_, err := Start(t.Context(), Command{Argv: c.argv})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want one with %q", c.argv, err, c.want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := Start(ctx, Command{Argv: []string{"sleep", "60"}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a program that is no kernel: %v", err)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	k, err := Start(ctx, testCommand(t))
	if err != nil {
		t.Fatal(err)
	}
	pid, dir := k.cmd.Process.Pid, k.dir
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(-pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the kernel's group is still there: %v", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the connection file's folder is still there: %v", err)
	}
}
