//go:build cuda

package driver

// #include <stdlib.h>
// #include "call.h"
import "C"

import (
	"unsafe"

	"gorgonia.org/cu"

	"github.com/warpbook/warpbook/cuda/device"
)

// gorgonia's handles are each a struct of exactly the C handle.
func stream(s cu.Stream) C.CUstream       { return *(*C.CUstream)(unsafe.Pointer(&s)) }
func function(f cu.Function) C.CUfunction { return *(*C.CUfunction)(unsafe.Pointer(&f)) }

// graph is captured work that can be launched.
type graph = C.CUgraphExec

var noGraph graph // never changed

// config fills in how a kernel is launched.
func config(l *device.Launch) (c C.warpbook_launch_config) {
	put := func(out *[3]C.uint, d device.Dim) {
		out[0], out[1], out[2] = C.uint(d.X), C.uint(d.Y), C.uint(d.Z)
	}
	put(&c.grid, l.Grid)
	put(&c.block, l.Block)
	put(&c.cluster, l.Cluster)
	c.shared = C.uint(l.Shared)
	if l.Cooperative {
		c.cooperative = 1
	}
	return c
}

func launch(f cu.Function, l *device.Launch, s cu.Stream) error {
	c := config(l)
	var params unsafe.Pointer
	if len(l.Params) > 0 {
		params = unsafe.Pointer(&l.Params[0])
	}
	return result(C.warpbook_launch(function(f), &c, stream(s), params, C.size_t(len(l.Params))))
}

func beginCapture(s cu.Stream) error { return result(C.warpbook_begin(stream(s))) }

func endCapture(s cu.Stream) (g graph, err error) {
	err = result(C.warpbook_end(stream(s), &g))
	return g, err
}

func launchGraph(g graph, s cu.Stream) error {
	return result(C.cuGraphLaunch(g, stream(s)))
}

func destroyGraph(g graph) error { return result(C.cuGraphExecDestroy(g)) }

// allocate takes memory from the pool, in the order of a stream.
func allocate(n int64, s cu.Stream) (device.Address, error) {
	var p C.CUdeviceptr
	err := result(C.cuMemAllocAsync(&p, C.size_t(n), stream(s)))
	return device.Address(p), err
}

func release(a device.Address, s cu.Stream) error {
	return result(C.cuMemFreeAsync(C.CUdeviceptr(a), stream(s)))
}

func keepPool(d cu.Device) error { return result(C.warpbook_keep_pool(C.CUdevice(d))) }
func trimPool(d cu.Device) error { return result(C.warpbook_trim_pool(C.CUdevice(d))) }

// memset repeats a pattern of 1, 2 or 4 bytes.
func memset(dst device.Address, pattern []byte, count int64, s cu.Stream) error {
	p, v, n := C.CUdeviceptr(dst), uint32(0), C.size_t(count)
	for i, b := range pattern {
		v |= uint32(b) << (8 * i)
	}
	switch len(pattern) {
	case 1:
		return result(C.cuMemsetD8Async(p, C.uchar(v), n, stream(s)))
	case 2:
		return result(C.cuMemsetD16Async(p, C.ushort(v), n, stream(s)))
	}
	return result(C.cuMemsetD32Async(p, C.uint(v), n, stream(s)))
}

// memset2D repeats 4 bytes at every eighth byte.
func memset2D(dst device.Address, pattern []byte, count int64, s cu.Stream) error {
	v := uint32(pattern[0]) | uint32(pattern[1])<<8 | uint32(pattern[2])<<16 | uint32(pattern[3])<<24
	return result(C.cuMemsetD2D32Async(C.CUdeviceptr(dst), 8, C.uint(v), 1, C.size_t(count), stream(s)))
}

func limitShared(f cu.Function, bytes uint32) error {
	return result(C.cuFuncSetAttribute(function(f), C.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, C.int(bytes)))
}

func allowLargeClusters(f cu.Function) error {
	return result(C.cuFuncSetAttribute(function(f), C.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1))
}

func attribute(d cu.Device, a C.CUdevice_attribute) int {
	var v C.int
	if C.cuDeviceGetAttribute(&v, a, C.CUdevice(d)) != C.CUDA_SUCCESS {
		return 0
	}
	return int(v)
}

func maxShared(d cu.Device) int {
	return attribute(d, C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
}

func maxThreads(d cu.Device) int { return attribute(d, C.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) }
func multiprocessors(d cu.Device) int {
	return attribute(d, C.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
}
func l2Bytes(d cu.Device) int { return attribute(d, C.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE) }

// flushStdout writes what kernels printed through to the descriptor.
func flushStdout() { C.warpbook_flush_stdout() }

// Error is an error of the driver.
type Error struct {
	Code       int
	Name, Text string // "CUDA_ERROR_ILLEGAL_ADDRESS", the driver's words
}

func (e *Error) Error() string { return e.Text + " (" + e.Name + ")" }

func result(r C.CUresult) error {
	if r == C.CUDA_SUCCESS {
		return nil
	}
	return &Error{int(r), C.GoString(C.warpbook_error_name(r)), C.GoString(C.warpbook_error_text(r))}
}
