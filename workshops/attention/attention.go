// Package attention is the workshop streaming_attention: attention in one pass over the
// keys, without the matrix of scores.
package attention

import (
	"embed"

	"github.com/warpbook/warpbook/workshops"
	"github.com/warpbook/warpbook/workshops/trial"
)

// ID names the workshop.
const ID = "streaming_attention"

//go:embed starter solution hint.md
var files embed.FS

func init() { workshops.Register(Workshop()) }

// Workshop describes the workshop.
func Workshop() workshops.Workshop {
	w := trial.Describe(ID, files, workshops.Function{
		Name: function, Want: "Attention(q, k, v *cuda.Tensor, o Options{Causal bool, BlockN int}) (*cuda.Tensor, error)", Accepts: trial.Accepts(3, "Causal", "BlockN")})
	w.Number, w.Title, w.Level = 6, "Streaming attention: one pass over the keys", workshops.Advanced
	w.Lesson = "notebooks/06_streaming_attention.ipynb"
	w.Checks, w.More = checks(), more
	return w
}
