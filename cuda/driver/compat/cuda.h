// Stands before the toolkit's cuda.h on the include path, so that gorgonia.org/cu,
// written for older headers, compiles with those of CUDA 13 too: what changed its
// parameters there gets its old ones back.
#ifndef WARPBOOK_COMPAT_CUDA_H
#define WARPBOOK_COMPAT_CUDA_H
#include_next <cuda.h>

#if CUDA_VERSION >= 13000

// The driver still has the second version; the header no longer declares it.
#undef cuCtxCreate
#define cuCtxCreate cuCtxCreate_v2
CUresult CUDAAPI cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);

static inline CUmemLocation warpbook_location(CUdevice device) {
  CUmemLocation l = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  return l;
}

static inline CUresult warpbook_mem_advise(CUdeviceptr p, size_t n, CUmem_advise advice, CUdevice device) {
  return cuMemAdvise_v2(p, n, advice, warpbook_location(device));
}
#undef cuMemAdvise
#define cuMemAdvise warpbook_mem_advise

static inline CUresult warpbook_mem_prefetch(CUdeviceptr p, size_t n, CUdevice device, CUstream stream) {
  return cuMemPrefetchAsync_v2(p, n, warpbook_location(device), 0, stream);
}
#undef cuMemPrefetchAsync
#define cuMemPrefetchAsync warpbook_mem_prefetch

static inline CUresult warpbook_add_dependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n) {
  return cuGraphAddDependencies_v2(graph, from, to, 0, n);
}
#undef cuGraphAddDependencies
#define cuGraphAddDependencies warpbook_add_dependencies

static inline CUresult warpbook_get_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *n) {
  return cuGraphGetEdges_v2(graph, from, to, 0, n);
}
#undef cuGraphGetEdges
#define cuGraphGetEdges warpbook_get_edges

#endif
#endif
