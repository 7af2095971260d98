package attention_test

import (
	"testing"

	"github.com/warpbook/warpbook/workshops/attention"
	exercise "github.com/warpbook/warpbook/workshops/attention/solution"
	"github.com/warpbook/warpbook/workshops/trial/trialtest"
)

func TestMain(m *testing.M) { trialtest.Main(m) }

func TestSolution(t *testing.T) { trialtest.Solution(t, attention.Workshop(), exercise.Attention, 28) }

func TestShipped(t *testing.T) { trialtest.Shipped(t, attention.Workshop()) }
