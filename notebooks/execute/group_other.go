//go:build !unix

package execute

import "os/exec"

func ownGroup(*exec.Cmd) {}

// signalGroup kills the command: there are no groups here.
func signalGroup(cmd *exec.Cmd, kill bool) {
	if kill {
		_ = cmd.Process.Kill()
	}
}
