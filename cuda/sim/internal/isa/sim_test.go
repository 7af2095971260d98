package isa_test

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/warpbook/warpbook/cuda/ptx"
	"github.com/warpbook/warpbook/cuda/sim"
	"github.com/warpbook/warpbook/cuda/sim/internal/isa"
)

var verbose = flag.Int("differences", 3, "differences to show of a case")

// known are cases that the simulator does not do as an H200 does, with the reason.
var known = map[string]string{
	"ld st b128": "registers of 128 bits are not simulated: an error names the instruction",
}

// TestGolden runs every case on the simulator, and compares with what an H200 wrote.
func TestGolden(t *testing.T) {
	golden := readGolden(t)
	for _, m := range isa.Modules(isa.Cases()) {
		t.Run(m.Name, func(t *testing.T) {
			parsed, err := ptx.Parse(m.PTX)
			if err != nil {
				t.Fatal(err)
			}
			dev := sim.New(sim.Config{Workers: 1})
			loaded, err := dev.Load(parsed, sim.Source{})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range m.Cases {
				if why := known[c.Name]; why != "" {
					t.Logf("%s is not compared: %s", c.Name, why)
					continue
				}
				got, err := execute(dev, loaded, c)
				if err != nil {
					t.Errorf("%s: %v", c.Name, err)
					continue
				}
				want, ok := golden[c.Hash()]
				if !ok {
					if golden != nil {
						t.Errorf("%s has no golden data: see isagolden", c.Name)
					}
					continue
				}
				if diff, n := c.Compare(got, want, *verbose); n > 0 {
					var s strings.Builder
					for _, d := range diff {
						fmt.Fprintf(&s, "\n\t%s", d.Text)
					}
					t.Errorf("%s: %d elements differ%s", c.Name, n, s.String())
				}
			}
		})
	}
}

func readGolden(t *testing.T) isa.Golden {
	f, err := os.Open("testdata/golden.gz")
	if errors.Is(err, fs.ErrNotExist) {
		t.Log("there is no golden data yet: only that the cases run is tested")
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, err := isa.ReadGolden(f)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// execute runs a case and gives its outputs. A finding is an error.
func execute(dev *sim.Device, m *sim.Module, c *isa.Case) ([]byte, error) {
	k, err := m.Kernel(c.Kernel)
	if err != nil {
		return nil, err
	}
	in, err := dev.Alloc(int64(max(len(c.Input), 1)), sim.Label{Name: "in"})
	if err != nil {
		return nil, err
	}
	defer dev.Free(in)
	out, err := dev.Alloc(int64(c.Out), sim.Label{Name: "out"})
	if err != nil {
		return nil, err
	}
	defer dev.Free(out)
	if err := dev.Write(in, c.Input); err != nil {
		return nil, err
	}
	if err := dev.Fill(out, []byte{0}, c.Out); err != nil {
		return nil, err
	}
	spec := sim.Launch{Grid: sim.Dim{X: c.Grid, Y: 1, Z: 1}, Block: sim.Dim{X: c.Block, Y: 1, Z: 1}}
	if c.Cluster > 1 {
		spec.Cluster = sim.Dim{X: c.Cluster, Y: 1, Z: 1}
	}
	spec.Params = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, in), out)
	report, err := dev.Launch(context.Background(), k, spec)
	if err != nil {
		return nil, err
	}
	if len(report.Findings) > 0 {
		f := report.Findings[0]
		return nil, fmt.Errorf("%s: %s (%s)", f.Kind, f.Message, f.At.Text)
	}
	got := make([]byte, c.Out)
	return got, dev.Read(got, out)
}
