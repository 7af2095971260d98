package server

import "context"

// connect tells the ports; deprecated, and still asked for by old clients.
func (k *kernel) connect(context.Context, *request) (any, error) {
	c := k.sockets.Info()
	return map[string]any{
		"status": "ok", "shell_port": c.ShellPort, "iopub_port": c.IOPubPort, "stdin_port": c.StdinPort,
		"control_port": c.ControlPort, "hb_port": c.HBPort,
	}, nil
}
