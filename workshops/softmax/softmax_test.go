package softmax_test

import (
	"testing"

	"github.com/warpbook/warpbook/workshops/softmax"
	exercise "github.com/warpbook/warpbook/workshops/softmax/solution"
	"github.com/warpbook/warpbook/workshops/trial/trialtest"
)

func TestMain(m *testing.M) { trialtest.Main(m) }

func TestSolution(t *testing.T) { trialtest.Solution(t, softmax.Workshop(), exercise.Softmax, 22) }

func TestShipped(t *testing.T) { trialtest.Shipped(t, softmax.Workshop()) }
