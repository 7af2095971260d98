package gemm_test

import (
	"testing"

	"github.com/warpbook/warpbook/workshops/gemm"
	exercise "github.com/warpbook/warpbook/workshops/gemm/solution"
	"github.com/warpbook/warpbook/workshops/trial/trialtest"
)

func TestMain(m *testing.M) { trialtest.Main(m) }

func TestSolution(t *testing.T) { trialtest.Solution(t, gemm.Workshop(), exercise.MatmulBiasReLU, 28) }

func TestShipped(t *testing.T) { trialtest.Shipped(t, gemm.Workshop()) }
