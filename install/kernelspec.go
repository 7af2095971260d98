package install

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed logo-32x32.png logo-64x64.png logo-svg.svg
var logos embed.FS

// Name is the kernelspec's name and DisplayName what menus show, unless the user says otherwise.
const (
	Name        = "warpbook"
	DisplayName = "Go (Warpbook)"
)

// Spec is a kernelspec as it stands in kernel.json.
type Spec struct {
	Argv            []string          `json:"argv"`
	DisplayName     string            `json:"display_name"`
	Language        string            `json:"language"`
	InterruptMode   string            `json:"interrupt_mode"`
	ProtocolVersion string            `json:"kernel_protocol_version"`
	Env             map[string]string `json:"env"`
	Metadata        map[string]any    `json:"metadata"`
}

// NewSpec describes the kernel that program serves.
func NewSpec(name, program string, env map[string]string) Spec {
	display := DisplayName
	if name != Name {
		display = fmt.Sprintf("Go (Warpbook, %s)", name)
	}
	if env == nil {
		env = map[string]string{}
	}
	return Spec{
		Argv:            []string{program, "kernel", "-f", "{connection_file}"},
		DisplayName:     display,
		Language:        "go",
		InterruptMode:   "message",
		ProtocolVersion: "5.5",
		Env:             env,
		Metadata:        map[string]any{},
	}
}

// ReadSpec reads the kernelspec in dir.
func ReadSpec(dir string) (Spec, error) {
	var s Spec
	raw, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("%s is damaged (%w); `warpbook install` writes it again", filepath.Join(dir, "kernel.json"), err)
	}
	if len(s.Argv) == 0 {
		return s, fmt.Errorf("%s names no program; `warpbook install` writes it again", filepath.Join(dir, "kernel.json"))
	}
	return s, nil
}

// ours tells whether a kernelspec starts a Warpbook kernel.
func (s Spec) ours() bool {
	return len(s.Argv) > 1 && s.Argv[1] == "kernel" && strings.HasPrefix(filepath.Base(s.Argv[0]), "warpbook")
}

// WriteSpec writes the kernelspec and its logos to dir and says whether anything changed.
func WriteSpec(dir string, s Spec) (changed bool, err error) {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return false, err
	}
	files := map[string][]byte{"kernel.json": append(raw, '\n')}
	entries, err := fs.ReadDir(logos, ".")
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if files[e.Name()], err = logos.ReadFile(e.Name()); err != nil {
			return false, err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, fmt.Errorf("the kernelspec's folder cannot be made: %w; choose another place with --user or --prefix", err)
	}
	for name, content := range files {
		c, err := writeIfChanged(filepath.Join(dir, name), content, 0o644)
		if err != nil {
			return changed, err
		}
		changed = changed || c
	}
	return changed, nil
}

// RemoveSpec removes the kernelspec in dir, if there is one and it is ours.
func RemoveSpec(dir string) (removed bool, err error) {
	s, err := ReadSpec(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && !s.ours() {
		return false, fmt.Errorf("%s belongs to another kernel (it starts %s), so it stays", dir, s.Argv[0])
	}
	if err := os.RemoveAll(dir); err != nil {
		return false, fmt.Errorf("the kernelspec cannot be removed: %w", err)
	}
	return true, nil
}

// writeIfChanged writes content to path, whole or not at all.
func writeIfChanged(path string, content []byte, mode os.FileMode) (bool, error) {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) {
		return false, nil
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".warpbook-*")
	if err != nil {
		return false, fmt.Errorf("%s cannot be written: %w", path, err)
	}
	defer os.Remove(tmp.Name()) // fails after the rename, as it should
	_, err = tmp.Write(content)
	if err = errors.Join(err, tmp.Chmod(mode), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return false, fmt.Errorf("%s cannot be written: %w", path, err)
	}
	return true, nil
}
