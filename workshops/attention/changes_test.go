package attention_test

import (
	"testing"

	"github.com/warpbook/warpbook/workshops/attention"
	tt "github.com/warpbook/warpbook/workshops/trial/trialtest"
)

const (
	tail   = "values N,D = 17,16 f16"
	masked = "values N,D = 65,32 f16, causal"
	long   = "values N,D = 129,64 f16"
	large  = "large logits, the running maximum changes"
)

func TestMistakes(t *testing.T) {
	launch := "kernel.Launch(c, q, k, v, out, n, 1/math.Sqrt(float64(d)), o.Causal)"
	tt.Changes(t, attention.Workshop(), []tt.Change{
		tt.Mistake("the numerator is not rescaled", []string{large}, "", tt.CU("for (int d = 0; d < D / 8; d++) { out[d][2 * h] *= fix; out[d][2 * h + 1] *= fix; }", "")),
		tt.Mistake("the denominator is not rescaled", []string{large, long}, "", tt.CU("sum[h] *= fix;", "")),
		tt.Mistake("the diagonal is excluded", []string{masked, "uniform causal is the prefix average"}, "", tt.CU("key <= row)", "key < row)"), tt.CU("out[d][e] / sum[e / 2]", "out[d][e] / fmaxf(sum[e / 2], 1e-30f)")),
		tt.Mistake("one future key is visible", []string{masked, "uniform causal is the prefix average"}, "", tt.CU("key <= row)", "key <= row + 1)")),
		tt.Mistake("all keys are visible", []string{masked}, "", tt.CU("(!causal || key <= row)", "true"), tt.CU("causal ? min(n, row0 + ROWS) : n", "n")),
		tt.Mistake("the tail of keys is not masked", []string{tail}, "", tt.CU("key < n && ", "")),
		tt.Mistake("masked scores are 0", []string{tail, masked}, "", tt.CU("score[j][e] * scale : -INFINITY;", "score[j][e] * scale : 0;")),
		tt.Mistake("the maximum is not subtracted", []string{large}, "", tt.CU("larger[e / 2] = fmaxf(larger[e / 2], score[j][e]);", "larger[e / 2] = 0;"), tt.CU("float top[2] = {-INFINITY, -INFINITY}", "float top[2] = {0, 0}")),
		tt.Mistake("scores are not scaled", []string{long}, "", tt.CU("score[j][e] * scale", "score[j][e]")),
		tt.Mistake("scaled by 1/D", []string{long}, "", tt.GO("1/math.Sqrt(float64(d))", "1/float64(d)")),
		tt.Mistake("the sum is one lane's only", []string{tail}, "", tt.CU("    sum[h] += __shfl_xor_sync(0xffffffff, sum[h], 1);\n    sum[h] += __shfl_xor_sync(0xffffffff, sum[h], 2);\n", "")),
		tt.Mistake("the maximum is one lane's only", []string{large}, "", tt.CU("      larger[h] = fmaxf(larger[h], __shfl_xor_sync(0xffffffff, larger[h], 1));\n      larger[h] = fmaxf(larger[h], __shfl_xor_sync(0xffffffff, larger[h], 2));\n", "")),
		tt.Mistake("no barrier after the copy of keys", []string{long}, "race", tt.CU("    __syncthreads();\n\n    float score", "    float score")),
		tt.Mistake("no barrier before keys are overwritten", []string{long}, "race", tt.CU("    __syncthreads();  // before the tiles are overwritten\n", "")),
		tt.Mistake("rows behind the end are stored", []string{tail}, "kernels access only what is theirs", tt.CU("if (row < n) o[", "o[")),
		tt.Mistake("launched on the default stream", []string{"non-default stream"}, "current stream", tt.GO("return out, "+launch, "return out, q.Device().Use(nil, func() error { return "+launch+" })")),
		tt.Mistake("the input is modified", []string{tail}, "inputs are not changed", tt.CU("  for (int key0 = 0; key0 < end", "  if (threadIdx.x == 0) ((T*)q)[0] = zero;\n  for (int key0 = 0; key0 < end")),
		tt.Mistake("the output is an input", []string{tail}, "the output is fresh", tt.GO("out, err := q.Device().Empty(q.DType(), n, d)", "out, err := v, error(nil)")),
		tt.Mistake("the scores are allocated", []string{"N = 2048, D = 64, causal, block 64"}, "never allocated", tt.GO("	kernel, err := kernels", "	scores, err := q.Device().Empty(q.DType(), n, n)\n	if err != nil {\n		return nil, err\n	}\n	defer scores.Release()\n	kernel, err := kernels")),
		tt.Mistake("queries behind the 64th are left out", []string{long}, "NaN", tt.GO("(n + queries - 1) / queries", "1")),
		tt.Mistake("unequal lengths are accepted", []string{"reject unequal lengths"}, "rejects", tt.GO("x.Shape()[0] != q.Shape()[0] || x.Shape()[1] != q.Shape()[1]", "x.Shape()[1] != q.Shape()[1]")),
		tt.Mistake("a D of 24 is computed as 16", []string{"reject unsupported D"}, "rejects", tt.GO("d != 16 && d != 32 && d != 64", "d < 16"), tt.GO("q.DType(), d, o.BlockN)", "q.DType(), d/16*16, o.BlockN)")),
	})
}

// naive is one thread a query, over keys that are read from global memory.
const naive = `using namespace warpbook;
template <typename T, int D, int BLOCK_N>
__device__ void attention(const T* q, const T* k, const T* v, T* o, int n, float scale, int causal) {
  if (threadIdx.x >= 64) return;
  int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= n) return;
  int keys = causal ? row + 1 : n;
  float top = -INFINITY, sum = 0, out[D] = {};
  BODY
  for (int d = 0; d < D; d++) o[(long long)row * D + d] = from_float<T>(out[d] / sum);
}
#define KERNEL(T, name, d, block_n) extern "C" __global__ void attention_##name##_##d##_##block_n(const T* q, const T* k, const T* v, T* o, int n, float scale, int causal) { attention<T, d, block_n>(q, k, v, o, n, scale, causal); }
#define KERNELS(T, name) KERNEL(T, name, 16, 32) KERNEL(T, name, 32, 32) KERNEL(T, name, 64, 32) KERNEL(T, name, 16, 64) KERNEL(T, name, 32, 64) KERNEL(T, name, 64, 64)
KERNELS(half, f16) KERNELS(nv_bfloat16, bf16)
`

func TestVariants(t *testing.T) {
	whole := func(name, body string) tt.Change {
		c := tt.Variant(name, tt.Edit{File: ".cu", New: naive}, tt.CU("BODY", body))
		c.Without = []string{"N = 2048, D = 64, causal, block 64"} // 30 s each on the simulator
		return c
	}
	tt.Changes(t, attention.Workshop(), []tt.Change{
		whole("one thread a query, online", `
  for (int j = 0; j < keys; j++) {
    float s = 0;
    for (int d = 0; d < D; d++) s += to_float(q[(long long)row * D + d]) * to_float(k[(long long)j * D + d]);
    float larger = fmaxf(top, s * scale), fix = top == -INFINITY ? 0 : expf(top - larger), p = expf(s * scale - larger);
    sum = sum * fix + p;
    for (int d = 0; d < D; d++) out[d] = out[d] * fix + to_float(from_float<T>(p)) * to_float(v[(long long)j * D + d]);
    top = larger;
  }`),
		whole("one thread a query, in two passes over the keys", `
  for (int pass = 0; pass < 2; pass++)
    for (int j = 0; j < keys; j++) {
      float s = 0;
      for (int d = 0; d < D; d++) s += to_float(q[(long long)row * D + d]) * to_float(k[(long long)j * D + d]);
      if (pass == 0) { top = fmaxf(top, s * scale); continue; }
      float p = expf(s * scale - top);
      sum += p;
      for (int d = 0; d < D; d++) out[d] += to_float(from_float<T>(p)) * to_float(v[(long long)j * D + d]);
    }`),
		tt.Variant("no padding of shared memory, and powers of two", tt.CU("const int PAD = 8,", "const int PAD = 0,"), tt.CU("expf(top[h] - larger[h])", "exp2f((top[h] - larger[h]) * 1.4426950408889634f)"), tt.CU("expf(score[j][e] - top[e / 2])", "exp2f((score[j][e] - top[e / 2]) * 1.4426950408889634f)")),
	})
}
