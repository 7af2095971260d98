package device

import (
	"errors"
	"fmt"
	"strings"
)

// Fault is what went wrong on a device: a kernel that did what it must not, a
// launch that was refused, memory that ran out.
type Fault struct {
	Code     string   // "kernel", "launch", "memory", "device", "ended"
	Message  string   // a sentence, or the findings' text
	Kernel   string   // of the launch, when one is known
	Geometry string   // <<<(4,1,1), (256,1,1)>>>
	Launches []string // since the device was last known to be well
	Fatal    bool     // the device process is lost, and all memory with it
}

func (f *Fault) Error() string {
	var b strings.Builder
	if f.Kernel != "" {
		fmt.Fprintf(&b, "%s%s: ", f.Kernel, f.Geometry)
	}
	b.WriteString(f.Message)
	if len(f.Launches) > 1 {
		fmt.Fprintf(&b, "; launched since the device was last known to be well: %s", strings.Join(f.Launches, ", "))
	}
	if f.Fatal {
		b.WriteString("; the device process was started again, and tensors made before are gone")
	}
	return b.String()
}

// ErrEnded is wrapped by errors about what lived in a device process that has ended.
var ErrEnded = errors.New("the device process that held it has ended")

// ErrInterrupted is returned by a wait that Interrupt has ended.
var ErrInterrupted = errors.New("interrupted: the device process was ended, and tensors made before are gone")

// ErrReleased is wrapped by errors about memory that was released.
var ErrReleased = errors.New("it was released")
