package split_test

import (
	"testing"

	"github.com/warpbook/warpbook/workshops/split"
	tt "github.com/warpbook/warpbook/workshops/trial/trialtest"
)

const (
	small   = "values 3x1025 f32"
	wide    = "values 2x32769 f32"
	extreme = "large constants and isolated maximum"
)

func TestMistakes(t *testing.T) {
	third := "normalize.Launch(every, x, y, top, sum, columns, chunk, chunks)"
	tt.Changes(t, split.Workshop(), []tt.Change{
		tt.Mistake("stage 3 does not wait for stage 2: it is on another stream", []string{small}, "current stream",
			tt.GO("	return errors.Join(\n", "	other, err := x.Device().NewStream()\n	if err != nil {\n		return err\n	}\n	late := every\n	late.Stream = other\n	return errors.Join(\n"), tt.GO(third, "normalize.Launch(late, x, y, top, sum, columns, chunk, chunks)")),
		tt.Mistake("stage 3 comes before stage 2", []string{small, wide}, "", tt.GO("merge.Launch(cuda.Config{Grid: cuda.D(rows), Block: cuda.D(threads)}, top, sum, chunks),\n		"+third, third+",\n		merge.Launch(cuda.Config{Grid: cuda.D(rows), Block: cuda.D(threads)}, top, sum, chunks)")),
		tt.Mistake("chunks are not merged", []string{small}, "", tt.GO("		merge.Launch(cuda.Config{Grid: cuda.D(rows), Block: cuda.D(threads)}, top, sum, chunks),\n", "")),
		tt.Mistake("stale scratch memory is shared between calls", []string{small}, "",
			tt.GO("// Softmax returns", "var scratch = map[string]*cuda.Tensor{}\n\nfunc kept(x *cuda.Tensor, name string, rows, chunks int) (*cuda.Tensor, error) {\n	key := fmt.Sprint(name, rows, chunks)\n	if s := scratch[key]; s != nil && s.Err() == nil {\n		return s, nil\n	}\n	s, err := x.Device().Full(cuda.F32, -1e30, rows, chunks)\n	scratch[key] = s\n	return s, err\n}\n\n// Softmax returns"),
			tt.GO("top, err := x.Device().Empty(cuda.F32, rows, chunks)", `top, err := kept(x, "top", rows, chunks)`), tt.GO("top.Release(), sum.Release())", "sum.Release())"),
			tt.CU("    top[blockIdx.x] = m;\n    sum[blockIdx.x] = s;", "    float old = top[blockIdx.x];\n    sum[blockIdx.x] = old > m ? s * expf(m - old) : s;\n    top[blockIdx.x] = fmaxf(m, old);"),
			tt.CU("    tops[0] = m;\n", "    tops[0] = m + 1;\n    sums[0] = s;\n  }\n  if (false) {\n")),
		tt.Mistake("the maximum is not subtracted", []string{extreme}, "", tt.CU("expf(to_float(in[c]) - m)", "expf(to_float(in[c]))"), tt.CU("s += sums[i] * expf(tops[i] - m)", "s += sums[i]"), tt.CU("expf(to_float(x[at]) - m) / s", "expf(to_float(x[at])) / s")),
		tt.Mistake("no barrier between writing and reading scratch memory", []string{small}, "race", tt.CU("  m = block_max(m);\n\n  // A chunk", `  __shared__ float scratch[32];
  m = warp_max(m);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = m;
  for (int w = 0; w < (int)blockDim.x / 32; w++) m = fmaxf(m, scratch[w]);

  // A chunk`)),
		tt.Mistake("a chunk of -inf gives NaN", []string{"chunk 256 with a partial tail, extreme rows"}, "NaN", tt.CU("  if (m != -INFINITY)\n", "")),
		tt.Mistake("sums are not rescaled", []string{small, "chunk 256 with a partial tail, extreme rows"}, "", tt.CU("sums[i] * expf(tops[i] - m)", "sums[i]")),
		tt.Mistake("a chunk's maximum is padded with 0", []string{extreme}, "", tt.CU("float m = -INFINITY;\n  for (int c", "float m = 0;\n  for (int c")),
		tt.Mistake("a row's maximum is padded with 0", []string{extreme}, "", tt.CU("float m = -INFINITY;\n  for (int i", "float m = 0;\n  for (int i")),
		tt.Mistake("the short tail is read to its end", []string{small}, "", tt.CU("int last = min(first + chunk, columns);  // the last chunk may be short", "int last = first + chunk;")),
		tt.Mistake("the short tail is written to its end", []string{small}, "", tt.CU("int last = min(first + chunk, columns);\n  float m", "int last = first + chunk;\n  float m")),
		tt.Mistake("the tail is left out", []string{small}, "", tt.GO("chunks := (columns + chunk - 1) / chunk", "chunks := max(columns/chunk, 1)")),
		tt.Mistake("each chunk is divided by its own sum", []string{small}, "each row", tt.CU("float m = top[(long long)row * chunks], s = sum[(long long)row * chunks];", "float m = top[blockIdx.x], s = sum[blockIdx.x];")),
		tt.Mistake("the sum is a warp's only", []string{small}, "", tt.CU("s = block_sum(s);\n  if", "s = warp_sum(s);\n  if")),
		tt.Mistake("more chunks than threads are not merged", []string{"values 1x131072 f32"}, "", tt.CU("for (int i = threadIdx.x; i < chunks; i += blockDim.x) s +=", "for (int i = threadIdx.x; i < min(chunks, 100); i += blockDim.x) s +=")),
		tt.Mistake("launched on the default stream", []string{"non-default stream"}, "current stream", tt.GO("return y, launch(x, y, rows, columns, o.ChunkSize)", "return y, x.Device().Use(nil, func() error { return launch(x, y, rows, columns, o.ChunkSize) })")),
		tt.Mistake("the input is modified", []string{small}, "inputs are not changed", tt.CU("    y[at] =", "    ((T*)x)[at] = from_float<T>(0);\n    y[at] =")),
		tt.Mistake("the output is the input", []string{small}, "the output is fresh", tt.GO("y, err := x.Device().Empty(x.DType(), rows, columns)", "y, err := x, error(nil)")),
		tt.Mistake("chunks of 511 are accepted", []string{"reject bad chunk"}, "rejects", tt.GO("c != 256 && c != 1024 && c != 4096", "c < 1")),
		tt.Mistake("strided input is accepted", []string{"reject noncontiguous input"}, "rejects", tt.GO("!x.IsContiguous()", "false")),
		tt.Mistake("131073 columns are accepted", []string{"reject oversized width"}, "rejects", tt.GO("MaxColumns = 131072", "MaxColumns = 1 << 20")),
	})
}

func TestVariants(t *testing.T) {
	tt.Changes(t, split.Workshop(), []tt.Change{
		tt.Variant("chunks are summarized online, in one pass", tt.CU(`  float m = -INFINITY;
  for (int c = first + threadIdx.x; c < last; c += blockDim.x) m = fmaxf(m, to_float(in[c]));
  m = block_max(m);

  // A chunk that is masked out, all -inf, adds nothing; -inf - -inf would be no number.
  float s = 0;
  if (m != -INFINITY)
    for (int c = first + threadIdx.x; c < last; c += blockDim.x) s += expf(to_float(in[c]) - m);
  s = block_sum(s);`, `  float mine = -INFINITY, s = 0;
  for (int c = first + threadIdx.x; c < last; c += blockDim.x) {
    float v = to_float(in[c]), greater = fmaxf(mine, v);
    s = (mine == -INFINITY ? 0 : s * expf(mine - greater)) + expf(v - greater);
    mine = greater;
  }
  float m = block_max(mine);
  s = block_sum(mine == -INFINITY ? 0 : s * expf(mine - m));`)),
		tt.Variant("one thread merges a row", tt.CU(`  float m = -INFINITY;
  for (int i = threadIdx.x; i < chunks; i += blockDim.x) m = fmaxf(m, tops[i]);
  m = block_max(m);

  float s = 0;
  for (int i = threadIdx.x; i < chunks; i += blockDim.x) s += sums[i] * expf(tops[i] - m);
  s = block_sum(s);  // its barriers also come after every thread has read tops[0]
  if (threadIdx.x == 0) {`, `  if (threadIdx.x == 0) {
    float m = tops[0], s = sums[0];
    for (int i = 1; i < chunks; i++) {
      float greater = fmaxf(m, tops[i]);
      s = s * expf(m - greater) + sums[i] * expf(tops[i] - greater);
      m = greater;
    }`)),
		tt.Variant("blocks of 128 threads, and a product with the inverse", tt.GO("threads = 256", "threads = 128"), tt.CU("from_float<T>(expf(to_float(x[at]) - m) / s)", "from_float<T>(expf(to_float(x[at]) - m) * (1 / s))")),
	})
}
