package driver

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/warpbook/warpbook/cuda/device"
)

// Reports reads what compute-sanitizer writes about the process that it runs.
type Reports struct {
	path string
	at   int // how much of the file was read
}

// OpenReports returns the reports of the compute-sanitizer that this process runs
// under, nil when there is none.
func OpenReports() *Reports {
	if path := os.Getenv(device.SanitizerLog); path != "" {
		return &Reports{path: path}
	}
	return nil
}

// Names tells what the tool's numbers stand for.
type Names interface {
	// Tensor says where in which tensor an address is, "" where that is not known.
	Tensor(address uint64) string
	// Line is a line of a kernel's source: what the source is called, and the text.
	Line(kernel string, line int) (source, text string)
}

// Take returns what was reported since the last call, one text for each place in the
// source.
func (r *Reports) Take(names Names) []string {
	if r == nil {
		return nil
	}
	text, err := os.ReadFile(r.path)
	if err != nil || len(text) <= r.at {
		return nil
	}
	fresh := string(text[r.at:])
	end := strings.LastIndexByte(fresh, '\n') + 1 // a line that is not whole comes next time
	r.at += end
	return parseReports(fresh[:end], names)
}

const mark = "========="

var (
	address = regexp.MustCompile(`\b(?:Address|Access (?:to|at)) (0x[0-9a-f]+)`) // never changed
	place   = regexp.MustCompile(`^at (.*)\+0x[0-9a-f]+ in (.+:\d+)$`)
	hazard  = regexp.MustCompile(`(\w+) access at (.*?)\+0x[0-9a-f]+ in (\S+:\d+)`)
)

// parseReports cuts the tool's text into reports: each begins with a line that is not
// indented, and ends before the calls on the host, which say nothing about the kernel.
func parseReports(text string, names Names) []string {
	var order []string
	count := map[string]int{}
	first := map[string]string{}
	for _, lines := range cutReports(text) {
		key, words := describeReport(lines, names)
		if count[key]++; count[key] == 1 {
			order = append(order, key)
			first[key] = words
		}
	}
	var out []string
	for _, key := range order {
		again := ""
		if n := count[key]; n > 1 {
			again = fmt.Sprintf("; %d times in all", n)
		}
		head, source, _ := strings.Cut(first[key], "\n")
		out = append(out, strings.TrimRight(head+again+"\n"+source, "\n"))
	}
	return out
}

func cutReports(text string) (reports [][]string) {
	host := false
	for line := range strings.Lines(text) {
		line, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), mark)
		if !ok {
			continue
		}
		line = strings.TrimPrefix(line, " ")
		switch {
		case strings.TrimSpace(line) == "":
			host = true
		case !strings.HasPrefix(line, " "):
			if host = !isReport(line); !host {
				reports = append(reports, []string{line})
			}
		case strings.Contains(line, "Saved host backtrace"):
			host = true
		case !host && len(reports) > 0:
			at := len(reports) - 1
			reports[at] = append(reports[at], strings.TrimSpace(line))
		}
	}
	return reports
}

// isReport tells reports from what the tool says about itself.
func isReport(line string) bool {
	for _, other := range []string{"COMPUTE-SANITIZER", "ERROR SUMMARY", "RACECHECK SUMMARY", "LEAK SUMMARY", "Program hit", "Target application", "No attachable", "Unable", "Internal"} {
		if strings.HasPrefix(line, other) {
			return false
		}
	}
	return true
}

// describeReport makes one report readable: a sentence, and lines of source. The key is
// what and where, without the thread.
func describeReport(lines []string, names Names) (key, words string) {
	key = strings.TrimPrefix(strings.TrimPrefix(lines[0], "Error: "), "Warning: ")
	if found := hazard.FindAllStringSubmatch(strings.Join(lines, " "), -1); len(found) > 0 {
		words = describeHazard(found, names)
		return words, words
	}
	words, source := key, ""
	for _, line := range lines[1:] {
		switch m := address.FindStringSubmatch(line); {
		case m != nil:
			words += "; " + strings.ToLower(line[:1]) + line[1:]
			if v, err := strconv.ParseUint(m[1], 0, 64); err == nil {
				if name := names.Tensor(v); name != "" {
					words += ", " + name
				}
			}
		case place.MatchString(line):
			at, text := where(place.FindStringSubmatch(line)[1:], names)
			key += at
			words += at
			source += text
		case strings.HasPrefix(line, "by thread"):
			words += ", " + line
		}
	}
	return key, words + "\n" + source
}

func describeHazard(found [][]string, names Names) string {
	var accesses []string
	source := ""
	for _, f := range found {
		at, text := where(f[2:], names)
		accesses = append(accesses, strings.ToLower(f[1])+at)
		if !strings.Contains(source, text) {
			source += text
		}
	}
	return "a race in shared memory between a " + strings.Join(accesses, " and a ") + "\n" + source
}

// where makes a place, a kernel and a file with a line, one in the user's source.
func where(at []string, names Names) (words, source string) {
	kernel, file := at[0], at[1]
	number := file[strings.LastIndexByte(file, ':')+1:]
	line, err := strconv.Atoi(number)
	if err != nil {
		return " at " + file + " in " + kernel, ""
	}
	name, text := names.Line(kernel, line)
	if name == "" {
		return " at " + file + " in " + kernel, ""
	}
	if text != "" {
		source = fmt.Sprintf("%5d | %s\n", line, text)
	}
	return fmt.Sprintf(" at %s, line %d", name, line), source
}

// position says where in a tensor a place is, off bytes from its start.
func position(l device.Label, bytes, off int64) string {
	name := fmt.Sprintf("%s (%s%v)", l.Name, l.Type, l.Shape)
	switch item := int64(max(l.Item, 1)); {
	case off < 0:
		return fmt.Sprintf("%d bytes before %s", -off, name)
	case off >= bytes:
		return fmt.Sprintf("element %d of %s, which has %d", off/item, name, bytes/item)
	default:
		return fmt.Sprintf("element %d of %s", off/item, name)
	}
}
