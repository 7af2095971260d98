package install

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/warpbook/warpbook/cuda/nvrtc"
	"github.com/warpbook/warpbook/kernel/gotool"
)

// Finding is one line of a Diagnosis.
type Finding struct {
	What   string // "Go toolchain"
	State  string // what was found, or how it is missing
	OK     bool
	Needed bool   // a kernel without it does not do its job
	Remedy string // how to get it, when it is not OK
}

// Diagnosis is what is installed and what is missing.
type Diagnosis []Finding

// OK tells whether everything that is needed is there.
func (d Diagnosis) OK() bool {
	for _, f := range d {
		if f.Needed && !f.OK {
			return false
		}
	}
	return true
}

// Diagnose looks at the kernelspec called name, at what it starts, and at the tools around it.
func Diagnose(ctx context.Context, place Place, name string) Diagnosis {
	if name == "" {
		name = Name
	}
	d := Diagnosis{goTool(ctx), cCompiler()}
	d = append(d, kernel(ctx, place, name)...)
	return append(d, lab(ctx, place), driver(place), compiler(place))
}

func goTool(ctx context.Context) Finding {
	f := Finding{What: "Go toolchain", Needed: true, State: "not on the PATH",
		Remedy: "install Go from https://go.dev/dl and run `warpbook install` again; without it only simple statements run"}
	path, err := exec.LookPath("go")
	if err != nil {
		return f
	}
	out, err := exec.CommandContext(ctx, path, "env", "GOVERSION").Output()
	if err != nil {
		f.State = fmt.Sprintf("%s does not answer `go env`: %v", path, err)
		return f
	}
	f.State, f.OK = strings.TrimSpace(string(out))+", "+path, true
	return f
}

// cCompiler looks for what the Go linker needs to make a plugin.
func cCompiler() Finding {
	f := Finding{What: "C compiler", Needed: true, State: "neither $CC nor gcc, clang or cc is on the PATH",
		Remedy: "on Debian and Ubuntu `apt install gcc`, on macOS `xcode-select --install`; compiled cells are linked with it"}
	for _, cc := range append(strings.Fields(os.Getenv("CC")), "gcc", "clang", "cc") {
		if path, err := exec.LookPath(cc); err == nil {
			f.State, f.OK = path, true
			return f
		}
	}
	return f
}

func kernel(ctx context.Context, place Place, name string) Diagnosis {
	again := "run `warpbook install`"
	spec := Finding{What: "Kernelspec", Needed: true, Remedy: again}
	dir, err := place.SpecDir(name)
	if err != nil {
		spec.State = err.Error()
		return Diagnosis{spec}
	}
	s, err := ReadSpec(dir)
	if err != nil {
		spec.State = "none at " + dir
		if !os.IsNotExist(err) {
			spec.State = err.Error()
		}
		return Diagnosis{spec}
	}
	spec.State, spec.OK = dir, true

	exe := s.Argv[0]
	program := Finding{What: "Program", Needed: true, Remedy: again}
	out, err := exec.CommandContext(ctx, exe, "version").Output()
	if err != nil {
		program.State = fmt.Sprintf("%s does not start: %v", exe, err)
	} else {
		program.State, program.OK = strings.TrimSpace(string(out))+", "+exe, true
	}
	return Diagnosis{spec, program, record(exe)}
}

// record asks whether the program can compile cells.
func record(exe string) Finding {
	f := Finding{What: "Compiled cells", Needed: true, Remedy: "with Go and a C compiler on the PATH, run `warpbook install`"}
	if _, err := gotool.Find(exe); err != nil {
		f.State = err.Error()
		return f
	}
	f.State, f.OK = "recorded in "+filepath.Join(filepath.Dir(exe), gotool.RecordFile), true
	return f
}

func lab(ctx context.Context, place Place) Finding {
	f := Finding{What: "JupyterLab", State: "none found", Remedy: "`warpbook lab` installs a private one; VS Code and `warpbook run` need none"}
	if py, ok := FindPython(ctx, place); ok {
		f.State, f.OK = py.Lab+", "+py.Exe, true
	}
	return f
}

func driver(place Place) Finding {
	f := Finding{What: "NVIDIA driver", State: "none: GPU workshops run on the simulator",
		Remedy: "to use a GPU, install the driver from https://www.nvidia.com/drivers"}
	if raw, err := os.ReadFile("/proc/driver/nvidia/version"); err == nil {
		first, _, _ := strings.Cut(string(raw), "\n")
		f.State, f.OK = strings.Join(strings.Fields(first), " "), true
		if _, err := os.Stat(filepath.Join(filepath.Dir(place.Program()), GPUProgram)); err != nil {
			f.State, f.OK = f.State+", but there is no program that uses it", false
			f.Remedy = "run `warpbook install`, which builds it or says what is missing"
		}
	}
	return f
}

// compiler looks for NVIDIA's run-time compiler where cells would find it.
func compiler(place Place) Finding {
	f := Finding{What: "NVRTC", Remedy: "`make lab` installs it, and so does `pip install nvidia-cuda-nvrtc==13.0.88`"}
	c, err := nvrtc.Find(place.Venv(), place.Wheels())
	if err != nil {
		f.State = "none: %%cuda cells cannot be compiled here"
		return f
	}
	f.State, f.OK = c.Library, true
	return f
}
