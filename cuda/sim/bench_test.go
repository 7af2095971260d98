package sim_test

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"github.com/warpbook/warpbook/cuda/half"
	"github.com/warpbook/warpbook/cuda/ptx"
	"github.com/warpbook/warpbook/cuda/sim"
)

// job is a launch to measure: the tensors' sizes in bytes and the scalars, in the
// order of the kernel's parameters.
type job struct {
	file, kernel string
	grid, block  sim.Dim
	buffers      []int
	item         int // bytes of an element
	scalars      []any
}

// The shapes are those of tests/bench_simulator.py.
var jobs = map[string]job{
	"softmax/256x1024": {"softmax.ptx", "softmax_f32", sim.Dim{X: 256, Y: 1, Z: 1}, sim.Dim{X: 128, Y: 1, Z: 1}, []int{256 * 1024 * 4, 256 * 1024 * 4}, 4, []any{int32(1024), int32(1024), int32(1)}},
	"gemm/256x256x256": {"gemm.ptx", "gemm_f16_64", sim.Dim{X: 16, Y: 1, Z: 1}, sim.Dim{X: 128, Y: 1, Z: 1}, []int{256 * 256 * 2, 256 * 256 * 2, 256 * 2, 256 * 256 * 2}, 2, []any{int32(256), int32(256), int32(256), int32(4)}},
	"attention/256x64": {"attention.ptx", "attention_f16_64_32", sim.Dim{X: 4, Y: 1, Z: 1}, sim.Dim{X: 128, Y: 1, Z: 1}, []int{256 * 64 * 2, 256 * 64 * 2, 256 * 64 * 2, 256 * 64 * 2}, 2, []any{int32(256), float32(0.125), int32(1)}},
	"empty/1x1x1":      {"empty.ptx", "empty", sim.Dim{X: 1, Y: 1, Z: 1}, sim.Dim{X: 32, Y: 1, Z: 1}, nil, 4, nil},
}

// BenchmarkSimulator measures launches with all checkers: lane operations a second
// and a core, where a multiply-add of a tensor core is one.
func BenchmarkSimulator(b *testing.B) {
	for name, j := range jobs {
		b.Run(name, func(b *testing.B) {
			d, k, spec := prepare(b, j)
			ops := int64(0)
			for b.Loop() {
				r, err := d.Launch(context.Background(), k, spec)
				if err != nil {
					b.Fatal(err)
				}
				if len(r.Findings) > 0 {
					b.Fatal(r.Findings[0].Text())
				}
				ops += r.LaneOps
			}
			b.ReportMetric(float64(ops)/b.Elapsed().Seconds()/float64(runtime.GOMAXPROCS(0))/1e6, "Mops/s/core")
		})
	}
}

func prepare(b *testing.B, j job) (*sim.Device, *sim.Kernel, sim.Launch) {
	text, err := os.ReadFile("testdata/bench/" + j.file)
	if err != nil {
		b.Fatal(err)
	}
	m, err := ptx.Parse(string(text))
	if err != nil {
		b.Fatal(err)
	}
	d := sim.New(sim.Config{})
	mod, err := d.Load(m, sim.Source{})
	if err != nil {
		b.Fatal(err)
	}
	k, err := mod.Kernel(j.kernel)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(2026, 0))
	var params []byte
	for i, n := range j.buffers {
		addr, err := d.Alloc(int64(n), sim.Label{Item: j.item, Shape: []int{n / j.item}})
		if err != nil {
			b.Fatal(err)
		}
		params = binary.LittleEndian.AppendUint64(params, addr)
		if i == len(j.buffers)-1 {
			break // the output
		}
		data := make([]byte, 0, n)
		for len(data) < n {
			if v := rng.NormFloat64(); j.item == 4 {
				data, _ = binary.Append(data, binary.LittleEndian, float32(v))
			} else {
				data = binary.LittleEndian.AppendUint16(data, uint16(half.F16FromFloat64(v)))
			}
		}
		if err := d.Write(addr, data); err != nil {
			b.Fatal(err)
		}
	}
	for _, s := range j.scalars {
		params, _ = binary.Append(params, binary.LittleEndian, s)
	}
	return d, k, sim.Launch{Grid: j.grid, Block: j.block, Params: params}
}
