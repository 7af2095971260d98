// Package gemm is the workshop fused_gemm: a matrix product on the tensor cores, with
// bias and ReLU before the only rounding.
package gemm

import (
	"embed"

	"github.com/warpbook/warpbook/workshops"
	"github.com/warpbook/warpbook/workshops/trial"
)

// ID names the workshop.
const ID = "fused_gemm"

//go:embed starter solution hint.md
var files embed.FS

func init() { workshops.Register(Workshop()) }

// Workshop describes the workshop.
func Workshop() workshops.Workshop {
	w := trial.Describe(ID, files, workshops.Function{
		Name: function, Want: "MatmulBiasReLU(a, b, bias *cuda.Tensor, o Options{GroupM, TileM int}) (*cuda.Tensor, error)", Accepts: trial.Accepts(3, "GroupM", "TileM")})
	w.Number, w.Title, w.Level = 3, "Fused GEMM: tensor cores, bias and ReLU, one rounding", workshops.Intermediate
	w.Lesson = "notebooks/03_fused_gemm.ipynb"
	w.Checks, w.More = checks(), more
	return w
}
