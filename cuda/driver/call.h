#ifndef WARPBOOK_CALL_H
#define WARPBOOK_CALL_H
#include <cuda.h>
#include <stdint.h>

typedef struct {
  unsigned grid[3], block[3], cluster[3];  // a cluster of 0 is none
  unsigned shared;
  int cooperative;
} warpbook_launch_config;

CUresult warpbook_launch(CUfunction f, const warpbook_launch_config *c, CUstream s, void *params, size_t n);
CUresult warpbook_begin(CUstream s);
CUresult warpbook_end(CUstream s, CUgraphExec *out);
CUresult warpbook_keep_pool(CUdevice dev);
CUresult warpbook_trim_pool(CUdevice dev);
const char *warpbook_error_name(CUresult r);
const char *warpbook_error_text(CUresult r);
void warpbook_flush_stdout(void);
#endif
