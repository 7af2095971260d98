// Package softmax is the workshop strided_softmax: the softmax of each row of a matrix
// that may be any view.
package softmax

import (
	"embed"

	"github.com/warpbook/warpbook/workshops"
	"github.com/warpbook/warpbook/workshops/trial"
)

// ID names the workshop.
const ID = "strided_softmax"

//go:embed starter solution hint.md
var files embed.FS

func init() { workshops.Register(Workshop()) }

// Workshop describes the workshop.
func Workshop() workshops.Workshop {
	w := trial.Describe(ID, files, workshops.Function{
		Name: function, Want: "Softmax(x *cuda.Tensor, o Options{NumWarps int}) (*cuda.Tensor, error)", Accepts: trial.Accepts(1, "NumWarps")})
	w.Number, w.Title, w.Level = 1, "Strided softmax: one kernel for every view", workshops.Intermediate
	w.Lesson = "notebooks/01_strided_softmax.ipynb"
	w.Checks, w.More = checks(), more
	return w
}
