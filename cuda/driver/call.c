//go:build cuda

#include "call.h"
#include <stdio.h>

// Parameters lie in one buffer as the kernel has them, so that they may be of any
// size; one call from Go makes the whole launch.
CUresult warpbook_launch(CUfunction f, const warpbook_launch_config *c, CUstream s, void *params, size_t n) {
  void *buffer[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, params, CU_LAUNCH_PARAM_BUFFER_SIZE, &n, CU_LAUNCH_PARAM_END};
  void **extra = n ? buffer : 0;
  if (!c->cluster[0] && !c->cooperative)
    return cuLaunchKernel(f, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], c->shared, s, 0, extra);
  CUlaunchAttribute attributes[2];
  CUlaunchConfig config = {0};
  config.gridDimX = c->grid[0];
  config.gridDimY = c->grid[1];
  config.gridDimZ = c->grid[2];
  config.blockDimX = c->block[0];
  config.blockDimY = c->block[1];
  config.blockDimZ = c->block[2];
  config.sharedMemBytes = c->shared;
  config.hStream = s;
  config.attrs = attributes;
  if (c->cluster[0]) {
    CUlaunchAttribute *a = &attributes[config.numAttrs++];
    a->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    a->value.clusterDim.x = c->cluster[0];
    a->value.clusterDim.y = c->cluster[1];
    a->value.clusterDim.z = c->cluster[2];
  }
  if (c->cooperative) {
    CUlaunchAttribute *a = &attributes[config.numAttrs++];
    a->id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    a->value.cooperative = 1;
  }
  return cuLaunchKernelEx(&config, f, 0, extra);
}

// Relaxed: what is not part of the capture may be done meanwhile.
CUresult warpbook_begin(CUstream s) { return cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED); }

CUresult warpbook_end(CUstream s, CUgraphExec *out) {
  CUgraph graph = 0;
  CUresult r = cuStreamEndCapture(s, &graph);
  if (r) return r;
  r = cuGraphInstantiateWithFlags(out, graph, 0);
  if (!r) r = cuGraphUpload(*out, s);
  cuGraphDestroy(graph);
  return r;
}

// A pool that keeps what is freed: giving memory back at every wait is slow.
CUresult warpbook_keep_pool(CUdevice dev) {
  CUmemoryPool pool;
  CUresult r = cuDeviceGetDefaultMemPool(&pool, dev);
  cuuint64_t all = UINT64_MAX;
  return r ? r : cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all);
}

CUresult warpbook_trim_pool(CUdevice dev) {
  CUmemoryPool pool;
  CUresult r = cuDeviceGetDefaultMemPool(&pool, dev);
  return r ? r : cuMemPoolTrimTo(pool, 0);
}

const char *warpbook_error_name(CUresult r) {
  const char *s = 0;
  return cuGetErrorName(r, &s) ? "unknown" : s;
}

const char *warpbook_error_text(CUresult r) {
  const char *s = 0;
  return cuGetErrorString(r, &s) ? "unknown error" : s;
}

void warpbook_flush_stdout(void) { fflush(stdout); }
