package session_test

import "strings"

// gorootSkips are programs that cannot be what they are in a notebook, with the
// reason. They are the only ones left out.
var gorootSkips = map[string]string{}

// insides are packages whose use makes a program one about the runtime's or the
// toolchain's insides.
var insides = []string{`"internal/`, `"os/exec"`, "go:linkname", "go:build ignore", "_ \"unsafe\" // required for go:linkname"}

func gorootSkip(name, src string) string {
	if why := gorootSkips[name]; why != "" {
		return why
	}
	for _, s := range insides {
		if strings.Contains(src, s) {
			return "uses " + s
		}
	}
	return ""
}
