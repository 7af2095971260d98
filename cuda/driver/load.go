//go:build cuda

package driver

import (
	"bytes"
	"errors"
	"fmt"

	"gorgonia.org/cu"

	"github.com/warpbook/warpbook/cuda/device"
	"github.com/warpbook/warpbook/cuda/ptx"
)

// Load has the driver compile PTX for the GPU, with line numbers for the tools that
// look into kernels.
func (d *driver) Load(text string, source device.Source) (uint32, []device.KernelInfo, error) {
	parsed, err := ptx.Parse(text)
	if err != nil {
		return 0, nil, err
	}
	said := &cu.JITErrorLogBuffer{Buffer: make([]byte, 8<<10)}
	mod, err := cu.LoadDataEx(text, said, &cu.JITGenerateLineInfo{Enabled: true})
	if err != nil {
		if words, _, _ := bytes.Cut(said.Buffer, []byte{0}); len(words) > 0 {
			return 0, nil, fmt.Errorf("the driver does not load the module: %s", bytes.TrimSpace(words))
		}
		return 0, nil, d.failed("load the module", err)
	}
	m := module{mod: mod, source: source}
	var infos []device.KernelInfo
	for _, f := range parsed.Kernels() {
		k, err := d.entry(mod, f.Name)
		if err != nil {
			return 0, nil, errors.Join(err, mod.Unload())
		}
		k.source = &m.source
		d.kernels[k.info.ID] = k
		m.kernels = append(m.kernels, k.info.ID)
		infos = append(infos, k.info)
	}
	id := d.id()
	d.modules[id] = m
	return id, infos, nil
}

func (d *driver) entry(mod cu.Module, name string) (*kernel, error) {
	fn, err := mod.Function(name)
	if err != nil {
		return nil, d.failed("find the kernel "+name, err)
	}
	k := &kernel{fn: fn, info: device.KernelInfo{ID: d.id(), Name: name}}
	for _, a := range []struct {
		which cu.FunctionAttribute
		to    *int
	}{
		{cu.NumRegs, &k.info.Registers}, {cu.SharedSizeBytes, &k.info.SharedBytes}, {cu.LocalSizeBytes, &k.info.LocalBytes}, {cu.ConstSizeBytes, &k.info.ConstBytes},
		{cu.FnMaxThreadsPerBlock, &k.info.MaxThreads}, {cu.PtxVersion, &k.info.PTXVersion}, {cu.BinaryVersion, &k.info.Binary},
	} {
		if *a.to, err = fn.Attribute(a.which); err != nil {
			return nil, d.failed("ask about the kernel "+name, err)
		}
	}
	if k.info.SharedBytes < staticLimit {
		k.shared = uint32(staticLimit - k.info.SharedBytes)
	}
	return k, nil
}

func (d *driver) Unload(id uint32) error {
	m, ok := d.modules[id]
	if !ok {
		return nil
	}
	delete(d.modules, id)
	for _, k := range m.kernels {
		delete(d.kernels, k)
	}
	return d.failed("unload a module", m.mod.Unload())
}

// Launch queues a kernel, after asking for the shared memory and clusters that need
// asking for.
func (d *driver) Launch(s device.Stream, l device.Launch) error {
	st, err := d.stream(s)
	if err != nil {
		return err
	}
	k := d.kernels[l.Kernel]
	if k == nil {
		return fmt.Errorf("there is no kernel %d", l.Kernel)
	}
	if why := d.refused(k, &l); why != "" {
		return &device.Fault{Code: "launch", Message: why}
	}
	d.last = *k.source
	if l.Shared > k.shared {
		if err := limitShared(k.fn, l.Shared); err != nil {
			return d.failed("give the kernel more shared memory", err)
		}
		k.shared = l.Shared
	}
	if blocks := l.Cluster.X * l.Cluster.Y * l.Cluster.Z; blocks > portableCluster && !k.largeClusters {
		if err := allowLargeClusters(k.fn); err != nil {
			return d.failed("allow a large cluster", err)
		}
		k.largeClusters = true
	}
	return d.failed("launch", launch(k.fn, &l, st))
}

// portableCluster is how many blocks a cluster may have on every GPU that has
// clusters.
const portableCluster = 8

// refused says why the GPU does not take a launch, in better words than the
// driver's; "" when nothing is known against it.
func (d *driver) refused(k *kernel, l *device.Launch) string {
	threads := uint64(l.Block.X) * uint64(l.Block.Y) * uint64(l.Block.Z)
	shared := int(l.Shared) + k.info.SharedBytes
	switch {
	case l.Grid.X == 0 || l.Grid.Y == 0 || l.Grid.Z == 0 || threads == 0:
		return "a grid or a block of no extent"
	case l.Grid.Y > 65535 || l.Grid.Z > 65535:
		return fmt.Sprintf("a grid of %d x %d x %d blocks; y and z go to 65535", l.Grid.X, l.Grid.Y, l.Grid.Z)
	case threads > uint64(k.info.MaxThreads) && k.info.MaxThreads < maxThreads(d.dev):
		return fmt.Sprintf("a block of %d threads; with %d registers a thread this kernel takes up to %d", threads, k.info.Registers, k.info.MaxThreads)
	case threads > uint64(k.info.MaxThreads):
		return fmt.Sprintf("a block of %d threads; a block has up to %d", threads, k.info.MaxThreads)
	case shared > d.info.SharedBytes:
		return fmt.Sprintf("%d bytes of shared memory (%d of them dynamic); a block has up to %d", shared, l.Shared, d.info.SharedBytes)
	}
	return ""
}
