package split_test

import (
	"testing"

	"github.com/warpbook/warpbook/workshops/split"
	exercise "github.com/warpbook/warpbook/workshops/split/solution"
	"github.com/warpbook/warpbook/workshops/trial/trialtest"
)

func TestMain(m *testing.M) { trialtest.Main(m) }

func TestSolution(t *testing.T) { trialtest.Solution(t, split.Workshop(), exercise.Softmax, 24) }

func TestShipped(t *testing.T) { trialtest.Shipped(t, split.Workshop()) }
