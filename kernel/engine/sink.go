package engine

import (
	"context"

	"github.com/warpbook/warpbook/display"
)

// A Sink takes what one program puts out, in order, also after its Run has
// returned. Stream and Publish may block to slow the program down. Text is
// whole runes; name is "stdout" or "stderr". An error of Input ends the
// program's standard input and becomes the text of its Panic of kind Stdin.
type Sink interface {
	Stream(name, text string)
	Publish(display.Message)
	Input(ctx context.Context, prompt string, password bool) (string, error)
	Comm(Comm)
}
