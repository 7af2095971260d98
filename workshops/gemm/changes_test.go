package gemm_test

import (
	"testing"

	"github.com/warpbook/warpbook/workshops/gemm"
	tt "github.com/warpbook/warpbook/workshops/trial/trialtest"
)

const (
	odd   = "values M,N,K = 33,65,17 f16"
	big   = "values M,N,K = 257,65,33 f16"
	exact = "f32 accumulation and one rounding"
	store = "c[(long long)r * n + s] = from_float<T>(fmaxf(acc[i][j][e] + to_float(bias[s]), 0.0f));"
)

func TestMistakes(t *testing.T) {
	launch := "kernel.Launch(cuda.Config{Grid: cuda.D(tiles), Block: cuda.D(threads)}, a, b, bias, c, m, n, k, o.GroupM)"
	tt.Changes(t, gemm.Workshop(), []tt.Change{
		tt.Mistake("the accumulator is rounded to f16", []string{exact}, "accumulated in f32", tt.CU("for (int j = 0; j < 2; j++) mma<T>(acc[i][j], left, right[j]);",
			"for (int j = 0; j < 2; j++) {\n          mma<T>(acc[i][j], left, right[j]);\n          for (int e = 0; e < 4; e++) acc[i][j][e] = to_float(from_float<T>(acc[i][j][e]));\n        }")),
		tt.Mistake("the bias is added after rounding", []string{exact}, "rounded once", tt.CU("fmaxf(acc[i][j][e] + to_float(bias[s]), 0.0f)", "fmaxf(to_float(from_float<T>(acc[i][j][e])) + to_float(bias[s]), 0.0f)")),
		tt.Mistake("ReLU is taken of what was rounded, and leaves -0", []string{exact}, "-0", tt.CU(store,
			"{ T v = from_float<T>(acc[i][j][e] + to_float(bias[s])); c[(long long)r * n + s] = to_float(v) < 0 ? zero : v; }")),
		tt.Mistake("there is no ReLU", []string{odd}, "", tt.CU("fmaxf(acc[i][j][e] + to_float(bias[s]), 0.0f)", "acc[i][j][e] + to_float(bias[s])")),
		tt.Mistake("there is no bias", []string{odd, "values M,N,K = 3,5,0 f16"}, "", tt.CU(" + to_float(bias[s])", "")),
		tt.Mistake("the bias is a row's", []string{odd}, "", tt.CU("bias[s]", "bias[r % n]")),
		tt.Mistake("A's tail along K is not masked", []string{odd}, "kernels access only what is theirs", tt.CU("row0 + r < m && k0 + q < k ?", "row0 + r < m ?")),
		tt.Mistake("B's tail along K is not masked", []string{odd}, "kernels access only what is theirs", tt.CU("k0 + q < k && col0 + s < n ?", "col0 + s < n ?")),
		tt.Mistake("the tail along K holds ones", []string{odd}, "", tt.CU("T zero = from_float<T>(0);", "T zero = from_float<T>(1);")),
		tt.Mistake("rows behind M are stored", []string{odd}, "", tt.CU("if (r < m && s < n)", "if (s < n)")),
		tt.Mistake("columns behind N are stored", []string{odd}, "", tt.CU("if (r < m && s < n)", "if (r < m)"), tt.CU("to_float(bias[s])", "(s < n ? to_float(bias[s]) : 0)")),
		tt.Mistake("the last group is as large as the others", []string{"group 8, tile 32 with an incomplete last group", "group 4, tile 16 with an incomplete last group"}, "", tt.CU("int rows = min(group_m, tiles_m - first);", "int rows = group_m;")),
		tt.Mistake("no barrier after the copy", []string{odd}, "race", tt.CU("    __syncthreads();\n    for (int kk", "    for (int kk")),
		tt.Mistake("no barrier before tiles are overwritten", []string{big}, "race", tt.CU("    __syncthreads();  // before the tiles are overwritten\n", "")),
		tt.Mistake("K = 0 gives zeros", []string{"values M,N,K = 3,5,0 f16"}, "", tt.CU("fmaxf(acc[i][j][e] + to_float(bias[s]), 0.0f)", "k == 0 ? 0 : fmaxf(acc[i][j][e] + to_float(bias[s]), 0.0f)")),
		tt.Mistake("A and B are exchanged", []string{odd}, "", tt.GO("a, b, bias, c, m, n, k", "b, a, bias, c, m, n, k")),
		tt.Mistake("launched on the default stream", []string{"non-default stream"}, "current stream", tt.GO("return c, "+launch, "return c, a.Device().Use(nil, func() error { return "+launch+" })")),
		tt.Mistake("the input is modified", []string{"values M,N,K = 1,1,1 f16"}, "inputs are not changed", tt.CU("  float acc[", "  if (m == 1 && threadIdx.x == 0) ((T*)a)[0] = a[0] * b[0];\n  float acc[")),
		tt.Mistake("the output is an input", []string{"values M,N,K = 1,1,1 f16"}, "the output is fresh", tt.GO("c, err := a.Device().Empty(a.DType(), m, n)", "c, err := a, error(nil)")),
		tt.Mistake("too few tiles", []string{odd}, "NaN", tt.GO("(n + tileN - 1) / tileN)", "max(n / tileN, 1))")),
		tt.Mistake("an empty product is launched", []string{"values M,N,K = 0,7,3 f16"}, "", tt.GO("err != nil || m == 0 || n == 0", "err != nil"), tt.GO("cuda.D(tiles)", "cuda.D(tiles+1)")),
		tt.Mistake("f32 is accepted", []string{"reject f32"}, "", tt.GO("case d != cuda.F16 && d != cuda.BF16:", "case d == cuda.F64:"), tt.GO(`fmt.Sprintf("gemm_%v_%d", a.DType(), o.TileM)`, `fmt.Sprintf("gemm_f16_%d", o.TileM)`),
			tt.CU("const T* a, const T* b, const T* bias, T* c, int m, \\", "const void* a, const void* b, const void* bias, void* c, int m, \\"), tt.CU("gemm<T, tile_m>(a, b, bias, c, m,", "gemm<T, tile_m>((const T*)a, (const T*)b, (const T*)bias, (T*)c, m,")),
		tt.Mistake("a bias of any length is accepted", []string{"reject bias length"}, "rejects", tt.GO("case bias.Shape()[0] != n:", "case bias.Shape()[0] > n:")),
	})
}

func TestVariants(t *testing.T) {
	tt.Changes(t, gemm.Workshop(), []tt.Change{
		tt.Variant("one thread an element, without tensor cores", tt.Edit{File: ".cu", New: `using namespace warpbook;
template <typename T, int TILE_M>
__device__ void gemm(const T* a, const T* b, const T* bias, T* c, int m, int n, int k, int group_m) {
  int tiles_n = (n + 63) / 64, row0 = blockIdx.x / tiles_n * TILE_M, col0 = blockIdx.x % tiles_n * 64;
  for (int i = threadIdx.x; i < TILE_M * 64; i += blockDim.x) {
    int r = row0 + i / 64, s = col0 + i % 64;
    if (r >= m || s >= n) continue;
    float acc = 0;
    for (int q = 0; q < k; q++) acc = fmaf(to_float(a[(long long)r * k + q]), to_float(b[(long long)q * n + s]), acc);
    c[(long long)r * n + s] = from_float<T>(fmaxf(acc + to_float(bias[s]), 0));
  }
}
#define KERNEL(T, name, tile_m) extern "C" __global__ void gemm_##name##_##tile_m(const T* a, const T* b, const T* bias, T* c, int m, int n, int k, int group_m) { gemm<T, tile_m>(a, b, bias, c, m, n, k, group_m); }
KERNEL(half, f16, 16) KERNEL(half, f16, 32) KERNEL(half, f16, 64) KERNEL(nv_bfloat16, bf16, 16) KERNEL(nv_bfloat16, bf16, 32) KERNEL(nv_bfloat16, bf16, 64)
`}),
		tt.Variant("steps of 16 along K, and no padding", tt.CU("TILE_K = 32", "TILE_K = 16"), tt.CU("const int PAD = 8;", "const int PAD = 0;")),
		tt.Variant("steps of 64 along K, tiles in plain order", tt.CU("TILE_K = 32", "TILE_K = 64"), tt.CU("int rows = min(group_m, tiles_m - first);  // the last group may be smaller", ""),
			tt.CU("int row0 = (first + within % rows) * TILE_M, col0 = within / rows * TILE_N;", "int row0 = blockIdx.x / tiles_n * TILE_M, col0 = blockIdx.x % tiles_n * TILE_N; (void)first; (void)within;")),
		tt.Variant("the accumulator begins with the bias", tt.CU("float acc[TILE_M / 16][2][4] = {};", `float acc[TILE_M / 16][2][4];
  for (int i = 0; i < TILE_M / 16; i++)
    for (int j = 0; j < 2; j++)
      for (int e = 0; e < 4; e++) {
        int s = col0 + warp * 16 + j * 8 + lane % 4 * 2 + e % 2;
        acc[i][j][e] = s < n ? to_float(bias[s]) : 0;
      }`), tt.CU("fmaxf(acc[i][j][e] + to_float(bias[s]), 0.0f)", "acc[i][j][e] > 0 ? acc[i][j][e] : 0")),
	})
}
