// Package split is the workshop split_softmax: the softmax of rows that are too wide for
// one block, in three launches.
package split

import (
	"embed"

	"github.com/warpbook/warpbook/workshops"
	"github.com/warpbook/warpbook/workshops/trial"
)

// ID names the workshop.
const ID = "split_softmax"

//go:embed starter solution hint.md
var files embed.FS

func init() { workshops.Register(Workshop()) }

// Workshop describes the workshop.
func Workshop() workshops.Workshop {
	w := trial.Describe(ID, files, workshops.Function{
		Name: function, Want: "Softmax(x *cuda.Tensor, o Options{ChunkSize int}) (*cuda.Tensor, error)", Accepts: trial.Accepts(1, "ChunkSize")})
	w.Number, w.Title, w.Level = 5, "Split softmax: rows wider than a block", workshops.Advanced
	w.Lesson = "notebooks/05_split_softmax.ipynb"
	w.Checks, w.More = checks(), more
	return w
}
