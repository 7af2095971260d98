package portfolio_test

import (
	"testing"

	"github.com/warpbook/warpbook/workshops"
	"github.com/warpbook/warpbook/workshops/portfolio"
	"github.com/warpbook/warpbook/workshops/trial/trialtest"
)

func TestMain(m *testing.M) { trialtest.Main(m) }

func TestShipped(t *testing.T) {
	trialtest.Kept(t, ".", workshops.File{Name: "portfolio.cu", Text: portfolio.Source})
}
