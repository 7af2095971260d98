package backward_test

import (
	"testing"

	"github.com/warpbook/warpbook/workshops/backward"
	exercise "github.com/warpbook/warpbook/workshops/backward/solution"
	"github.com/warpbook/warpbook/workshops/trial/trialtest"
)

func TestMain(m *testing.M) { trialtest.Main(m) }

func TestSolution(t *testing.T) { trialtest.Solution(t, backward.Workshop(), exercise.Backward, 20) }

func TestShipped(t *testing.T) { trialtest.Shipped(t, backward.Workshop()) }
