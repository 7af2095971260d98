package cuda

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/warpbook/warpbook/cuda/device"
)

// Configure changes how devices work from now on, for %cuda and the command line:
// "device" is what "auto" means; "seed", "schedules" and "budget" are the simulator's
// options (see SetOption); "sanitize" is the tool of compute-sanitizer that GPUs run
// under from their next start, which is now for those that are open: memcheck,
// racecheck, initcheck, synccheck or off.
func Configure(name, value string) error {
	switch name {
	case "device":
		if _, _, err := resolve(value); err != nil {
			return err
		}
		return os.Setenv(deviceVariable, value)
	case "sanitize":
		return sanitize(value)
	case "seed", "schedules", "budget":
	default:
		return fmt.Errorf("there is no setting %q; settings are device, seed, schedules, budget and sanitize", name)
	}
	d, err := Open("sim")
	if err != nil {
		return err
	}
	return d.SetOption(name, value)
}

// deviceVariable says what the device "auto" is.
const deviceVariable = "WARPBOOK_DEVICE"

func sanitize(tool string) error {
	tools := []string{"memcheck", "racecheck", "initcheck", "synccheck", "off"}
	if !slices.Contains(tools, tool) {
		return fmt.Errorf("compute-sanitizer has no tool %q; use %s", tool, strings.Join(tools, ", "))
	}
	if err := os.Setenv(device.Sanitizer, tool); err != nil {
		return err
	}
	for _, d := range opened() {
		if d.name != "sim" {
			d.client.Close()
		}
	}
	return nil
}

// Status tells in words which devices are open and what is set, one thing a line.
func Status() string {
	kind, index, err := resolve("auto")
	auto := fmt.Sprintf("%s:%d", kind, index)
	if kind == "sim" || err != nil {
		auto = "sim"
	}
	lines := []string{"auto is " + auto}
	for _, d := range opened() {
		info, err := d.Info()
		if err != nil {
			lines = append(lines, fmt.Sprintf("%s: %v", d, err))
			continue
		}
		line := fmt.Sprintf("%s: %s, %d bytes in tensors", d, info.Name, d.Memory())
		options := d.client.Options()
		for _, name := range slices.Sorted(maps.Keys(options)) {
			line += fmt.Sprintf(", %s %s", name, options[name])
		}
		lines = append(lines, line)
	}
	if tool := os.Getenv(device.Sanitizer); tool != "" && tool != "off" {
		lines = append(lines, "GPUs run under compute-sanitizer's "+tool)
	}
	return strings.Join(lines, "\n")
}
