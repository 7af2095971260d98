// Package backward is the workshop softmax_backward: the gradient of a softmax, from its
// output.
package backward

import (
	"embed"

	"github.com/warpbook/warpbook/workshops"
	"github.com/warpbook/warpbook/workshops/trial"
)

// ID names the workshop.
const ID = "softmax_backward"

//go:embed starter solution hint.md
var files embed.FS

func init() { workshops.Register(Workshop()) }

// Workshop describes the workshop.
func Workshop() workshops.Workshop {
	w := trial.Describe(ID, files, workshops.Function{
		Name: function, Want: "Backward(y, g *cuda.Tensor, o Options{NumWarps int}) (*cuda.Tensor, error)", Accepts: trial.Accepts(2, "NumWarps")})
	w.Number, w.Title, w.Level = 2, "Softmax backward: a gradient with one sum a row", workshops.Intermediate
	w.Lesson = "notebooks/02_softmax_backward.ipynb"
	w.Checks, w.More = checks(), more
	return w
}
