package nvrtc

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ebitengine/purego"
)

// library is NVRTC's C interface, as far as it is used here. Results are nvrtcResult.
type library struct {
	version     func(major, minor *int32) int32
	errorString func(result int32) string
	create      func(prog *uintptr, src, name string, n int32, headers, names *uintptr) int32
	destroy     func(prog *uintptr) int32
	compile     func(prog uintptr, n int32, options *uintptr) int32
	logSize     func(prog uintptr, n *uint64) int32
	log         func(prog uintptr, p *byte) int32
	ptxSize     func(prog uintptr, n *uint64) int32
	ptx         func(prog uintptr, p *byte) int32
	cubinSize   func(prog uintptr, n *uint64) int32
	cubin       func(prog uintptr, p *byte) int32
}

// open loads the library. Its builtins, which it would look for by name, are
// loaded from its own folder first.
func open(path string) (*library, error) {
	builtins, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "libnvrtc-builtins.so*"))
	for _, b := range builtins {
		_, _ = purego.Dlopen(b, purego.RTLD_NOW|purego.RTLD_GLOBAL) // NVRTC says what it misses
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("NVRTC cannot be loaded: %w", err)
	}
	l := &library{}
	for name, f := range map[string]any{
		"nvrtcVersion": &l.version, "nvrtcGetErrorString": &l.errorString,
		"nvrtcCreateProgram": &l.create, "nvrtcDestroyProgram": &l.destroy, "nvrtcCompileProgram": &l.compile,
		"nvrtcGetProgramLogSize": &l.logSize, "nvrtcGetProgramLog": &l.log,
		"nvrtcGetPTXSize": &l.ptxSize, "nvrtcGetPTX": &l.ptx,
		"nvrtcGetCUBINSize": &l.cubinSize, "nvrtcGetCUBIN": &l.cubin,
	} {
		if _, err := purego.Dlsym(handle, name); err != nil {
			return nil, fmt.Errorf("%s is no NVRTC that can be used: %w", path, err)
		}
		purego.RegisterLibFunc(f, handle, name)
	}
	return l, nil
}

// failed is the result of a compilation whose source is wrong.
const failed = 6

// compile carries out a request in this process.
func compile(req request) (rep reply, err error) {
	l, err := open(req.Library)
	if err != nil {
		return rep, err
	}
	var major, minor int32
	l.version(&major, &minor)
	rep.Version = fmt.Sprintf("%d.%d", major, minor)
	rep.OK, rep.Log, rep.PTX, _, err = l.once(req, req.Options, false)
	if err != nil || !rep.OK || !req.Resources {
		return rep, err
	}
	real := make([]string, len(req.Options))
	for i, o := range req.Options {
		real[i] = strings.Replace(o, "--gpu-architecture=compute_", "--gpu-architecture=sm_", 1)
	}
	ok, _, _, cubin, err := l.once(req, real, true)
	if err == nil && ok {
		rep.Cubin = cubin
	}
	return rep, nil // what a kernel takes is good to know, and no more
}

func (l *library) once(req request, options []string, machine bool) (ok bool, log, ptx string, cubin []byte, err error) {
	check := func(what string, r int32) bool {
		if r != 0 && err == nil {
			err = fmt.Errorf("NVRTC cannot %s: %s", what, l.errorString(r))
		}
		return r == 0
	}
	var c cstrings
	texts, names := make([]uintptr, len(headerNames)), make([]uintptr, len(headerNames))
	for i, name := range headerNames {
		names[i] = c.add(name)
		texts[i] = c.add("#include \"" + HeaderName + "\"\n")
		if name == HeaderName {
			texts[i] = c.add(header)
		}
	}
	opts := make([]uintptr, len(options))
	for i, o := range options {
		opts[i] = c.add(o)
	}
	var prog uintptr
	if !check("read the source", l.create(&prog, req.Text, fileName, int32(len(names)), &texts[0], &names[0])) {
		return
	}
	defer l.destroy(&prog)
	result := l.compile(prog, int32(len(opts)), &opts[0])
	c.keep()
	var n uint64
	if l.logSize(prog, &n) == 0 && n > 1 {
		b := make([]byte, n)
		l.log(prog, &b[0])
		log = string(b[:n-1])
	}
	if result == failed {
		return false, log, "", nil, nil
	}
	if !check("compile", result) {
		if log != "" {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(log))
		}
		return
	}
	size, get := l.ptxSize, l.ptx
	if machine {
		size, get = l.cubinSize, l.cubin
	}
	if !check("give its result", size(prog, &n)) || n == 0 {
		return false, log, "", nil, err
	}
	b := make([]byte, n)
	if !check("give its result", get(prog, &b[0])) {
		return
	}
	if machine {
		return true, log, "", b, nil
	}
	return true, log, strings.TrimRight(string(b), "\x00"), nil, nil
}

// fileName is what NVRTC calls every source, so that a result does not depend on
// its name.
const fileName = "source.cu"
