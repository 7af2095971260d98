// Package online is the workshop online_normalizer: softmax in one pass.
//
// The model: a State is the summary (max, sum) of a stretch of values, with sum
// the sum of exp(x - max). The learner writes Summarize, Merge and
// StreamingSoftmax on a type of their own with those two fields; adapt.go binds
// them to the functions of Exercise, which the checks in checks.go call.
package online

import (
	_ "embed" // for the texts of the workshop

	"github.com/warpbook/warpbook/workshops"
)

// ID names the workshop.
const ID = "online_normalizer"

var (
	//go:embed starter/online_normalizer.go
	starter string
	//go:embed solution/online_normalizer.go
	solution string
	//go:embed hint.md
	hint string
)

func init() { workshops.Register(Workshop()) }

// Workshop describes the workshop.
func Workshop() workshops.Workshop {
	return workshops.Workshop{
		ID:       ID,
		Number:   4,
		Title:    "Online normalizer: softmax in one pass",
		Level:    workshops.Advanced,
		Device:   workshops.CPU,
		Starter:  []workshops.File{{Name: ID + ".go", Text: starter}},
		Solution: []workshops.File{{Name: ID + ".go", Text: solution}},
		Hint:     hint,
		Lesson:   "notebooks/04_online_normalizer.ipynb",
		Functions: []workshops.Function{
			{Name: "Summarize", Want: "Summarize(values []float64) State", Accepts: isSummarize},
			{Name: "Merge", Want: "Merge(a, b State) State", Accepts: isMerge},
			{Name: "StreamingSoftmax", Want: "StreamingSoftmax(values []float64, chunk int) ([]float64, error)", Accepts: isStreamingSoftmax},
		},
		Bind:   bind,
		Checks: checks(),
	}
}
