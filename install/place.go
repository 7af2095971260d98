package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/adrg/xdg"
)

// A Place is where one installation lives.
type Place struct {
	Kernels string // the folder that holds kernelspecs: Jupyter's "kernels"
	Root    string // the folder of the program and its source
}

// UserPlace is the place of the current user, where Jupyter looks without being told.
func UserPlace() Place {
	return Place{Kernels: filepath.Join(jupyterDataDir(), "kernels"), Root: DataDir()}
}

// PrefixPlace is the place below a prefix such as /usr/local or an environment's root.
func PrefixPlace(prefix string) (Place, error) {
	abs, err := filepath.Abs(prefix)
	if err != nil {
		return Place{}, fmt.Errorf("the prefix %q is no usable path: %w", prefix, err)
	}
	share := filepath.Join(abs, "share")
	return Place{Kernels: filepath.Join(share, "jupyter", "kernels"), Root: filepath.Join(share, "warpbook")}, nil
}

// SysPrefixPlace is the place inside the active Python environment: a virtual
// environment, a conda environment, or else the prefix of python3 on the PATH.
func SysPrefixPlace(ctx context.Context) (Place, error) {
	for _, key := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(key); dir != "" {
			return PrefixPlace(dir)
		}
	}
	for _, python := range []string{"python3", "python"} {
		path, err := exec.LookPath(python)
		if err != nil {
			continue
		}
		out, err := exec.CommandContext(ctx, path, "-c", "import sys; print(sys.prefix)").Output()
		if err == nil {
			return PrefixPlace(strings.TrimSpace(string(out)))
		}
	}
	return Place{}, errors.New("--sys-prefix needs an active Python environment and found neither one nor python3; activate it, or say --prefix DIR")
}

// DataDir is Warpbook's own folder for the current user: $WARPBOOK_DATA_DIR, or
// warpbook in the platform's data folder.
func DataDir() string {
	if dir := os.Getenv("WARPBOOK_DATA_DIR"); dir != "" {
		return dir
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" && runtime.GOOS != "windows" {
		return filepath.Join(dir, "warpbook") // read now: xdg reads it once, at start
	}
	return filepath.Join(xdg.DataHome, "warpbook")
}

// jupyterDataDir is Jupyter's data folder of the user, as jupyter_core finds it.
func jupyterDataDir() string {
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return dir
	}
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(xdg.Home, "Library", "Jupyter")
	case "windows":
		if dir := os.Getenv("APPDATA"); dir != "" {
			return filepath.Join(dir, "jupyter")
		}
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "jupyter")
	}
	return filepath.Join(xdg.Home, ".local", "share", "jupyter")
}

// Program is the path of the program at this place.
func (p Place) Program() string {
	name := "warpbook"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(p.Root, "bin", name)
}

// Venv is the private Python environment at this place.
func (p Place) Venv() string { return filepath.Join(p.Root, "venv") }

var specName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// SpecDir is the folder of the kernelspec called name.
func (p Place) SpecDir(name string) (string, error) {
	if !specName.MatchString(name) {
		return "", fmt.Errorf("%q is no kernel name; Jupyter allows letters, digits, '.', '_' and '-'", name)
	}
	return filepath.Join(p.Kernels, name), nil
}
