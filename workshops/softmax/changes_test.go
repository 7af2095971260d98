package softmax_test

import (
	"testing"

	"github.com/warpbook/warpbook/workshops/softmax"
	tt "github.com/warpbook/warpbook/workshops/trial/trialtest"
)

const (
	small   = "values 7x33 f32"
	wide    = "values 3x8192 f32"
	extreme = "large constants and isolated maximum"
)

// Mistakes that learners make, and those of the contract's list. Each fails at a check
// whose name or words say why.
func TestMistakes(t *testing.T) {
	load := "row[c] = to_float(in[(long long)c * column_stride]);"
	tt.Changes(t, softmax.Workshop(), []tt.Change{
		tt.Mistake("the storage offset is added twice", []string{"slice: physical addressing"}, "", tt.CU("int columns, int row_stride, int column_stride", "int columns, int row_stride, int column_stride, int offset").Every(),
			tt.CU("softmax(x, y, columns, row_stride, column_stride)", "softmax(x, y, columns, row_stride, column_stride, offset)").Every(),
			tt.CU("const T* in = x + ", "const T* in = x + offset + "), tt.GO("x.Strides()[1])\n}", "x.Strides()[1], x.Offset())\n}")),
		tt.Mistake("the column stride is ignored", []string{"transpose: physical addressing", "slice: physical addressing"}, "", tt.CU("(long long)c * column_stride", "c")),
		tt.Mistake("the row stride is ignored", []string{"broadcast: physical addressing", "slice: physical addressing"}, "", tt.CU("blockIdx.x * row_stride", "blockIdx.x * columns")),
		tt.Mistake("the maximum is padded with 0", []string{extreme}, "each row is exp(x - max)", tt.CU("float top = -INFINITY", "float top = 0")),
		tt.Mistake("the maximum is not subtracted", []string{extreme}, "", tt.CU("expf(row[c] - top)", "expf(row[c])")),
		tt.Mistake("the maximum is a warp's only", []string{wide}, "", tt.CU("block_max(top)", "warp_max(top)")),
		tt.Mistake("the sum is a warp's only", []string{wide}, "", tt.CU("block_sum(sum)", "warp_sum(sum)")),
		tt.Mistake("the sum is of half precision", []string{wide}, "", tt.CU("sum += row[c];", "sum = (float)half(sum + row[c]);")),
		tt.Mistake("nothing is divided", []string{small}, "", tt.CU("row[c] / sum", "row[c]")),
		tt.Mistake("launched on the default stream", []string{"non-default stream"}, "current stream", tt.GO("kernel.Launch(c, x, y, columns, x.Strides()[0], x.Strides()[1])",
			"x.Device().Use(nil, func() error { return kernel.Launch(c, x, y, columns, x.Strides()[0], x.Strides()[1]) })")),
		tt.Mistake("one element past the end is written", []string{small}, "kernels access only what is theirs", tt.CU("c < columns; c += blockDim.x) out[c]", "c <= columns; c += blockDim.x) out[c]")),
		tt.Mistake("the last element is not written", []string{small}, "NaN", tt.CU("c < columns; c += blockDim.x) out[c]", "c < columns - 1; c += blockDim.x) out[c]")),
		tt.Mistake("the input is modified", []string{small}, "inputs are not changed", tt.CU(load, load+" ((T*)in)[(long long)c * column_stride] = from_float<T>(0);")),
		tt.Mistake("the output is the input", []string{small}, "the output is fresh", tt.GO("y, err := x.Device().Empty(x.DType(), rows, columns)", "y, err := x, error(nil)")),
		tt.Mistake("no barrier between writing and reading scratch memory", []string{wide}, "race", tt.CU("top = block_max(top);", `__shared__ float scratch[32];
  top = warp_max(top);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = top;
  for (int w = 0; w < (int)blockDim.x / 32; w++) top = fmaxf(top, scratch[w]);`)),
		tt.Mistake("a row of another block's is read", []string{small}, "", tt.CU("x + (long long)blockIdx.x", "x + (long long)(blockIdx.x ^ 1)")),
		tt.Mistake("rounded twice", []string{small}, "", tt.CU("row[c] = expf(row[c] - top);", "row[c] = (float)nv_bfloat16(expf(row[c] - top));")),
		tt.Mistake("3 warps are accepted", []string{"reject bad warps"}, "rejects", tt.GO("o.NumWarps != 4 && o.NumWarps != 8", "o.NumWarps < 1")),
		tt.Mistake("8193 columns are accepted", []string{"reject oversized width"}, "rejects", tt.GO("MaxColumns = 8192", "MaxColumns = 9000")),
		tt.Mistake("no columns are accepted", []string{"reject zero width"}, "rejects", tt.GO("columns < 1 || ", "")),
		tt.Mistake("no rows are launched", []string{"values 0x3 f32"}, "", tt.GO("err != nil || rows == 0", "err != nil"), tt.GO("cuda.D(rows)", "cuda.D(rows+1)")),
		tt.Mistake("validated after the launch", []string{"reject bad warps"}, "", tt.GO("	if err := check(x, o); err != nil {\n		return nil, err\n	}\n", ""),
			tt.GO("return y, kernel.Launch(c, x, y, columns, x.Strides()[0], x.Strides()[1])", "if err := kernel.Launch(c, x, y, columns, x.Strides()[0], x.Strides()[1]); err != nil {\n\t\treturn nil, err\n\t}\n\treturn y, check(x, o)")),
	})
}

// Ways to look right without being so.
func TestCheats(t *testing.T) {
	cached := "var last = map[string]*cuda.Tensor{}\n\n// Softmax returns"
	tt.Changes(t, softmax.Workshop(), []tt.Change{
		tt.Mistake("the output of an earlier call is returned", []string{small}, "the output is fresh", tt.GO("// Softmax returns", cached),
			tt.GO("	rows, columns := x.Shape()[0], x.Shape()[1]\n	y, err :=", "	rows, columns := x.Shape()[0], x.Shape()[1]\n	if y := last[fmt.Sprint(x.Shape(), x.DType())]; y != nil && y.Err() == nil {\n\t\treturn y, nil\n\t}\n	y, err :="),
			tt.GO("	kernel, err :=", "	last[fmt.Sprint(x.Shape(), x.DType())] = y\n	kernel, err :=")),
		tt.Mistake("a copy of an earlier call's output is returned", []string{small}, "", tt.GO("// Softmax returns", "var values = map[string][]byte{}\n\n// Softmax returns"),
			tt.GO("	rows, columns := x.Shape()[0], x.Shape()[1]\n	y, err :=", "	rows, columns := x.Shape()[0], x.Shape()[1]\n	if b := values[fmt.Sprint(x.Shape(), x.DType())]; b != nil {\n\t\treturn x.Device().FromBytes(x.DType(), b, rows, columns)\n\t}\n	y, err :="),
			tt.GO("return y, kernel.Launch(c, x, y, columns, x.Strides()[0], x.Strides()[1])",
				"if err := kernel.Launch(c, x, y, columns, x.Strides()[0], x.Strides()[1]); err != nil {\n\t\treturn nil, err\n\t}\n\tb, err := y.Bytes()\n\tvalues[fmt.Sprint(x.Shape(), x.DType())] = b\n\treturn y, err")),
		tt.Mistake("large shapes are left out", []string{wide, extreme}, "NaN", tt.GO("err != nil || rows == 0", "err != nil || rows*columns > 10000 || rows == 0")),
		tt.Mistake("work is done late, on another stream", []string{small}, "current stream", tt.GO("return y, kernel.Launch(c, x, y, columns, x.Strides()[0], x.Strides()[1])",
			"if c.Stream, err = x.Device().NewStream(); err != nil {\n\t\treturn nil, err\n\t}\n\treturn y, kernel.Launch(c, x, y, columns, x.Strides()[0], x.Strides()[1])")),
	})
}

// Other ways to do it right.
func TestVariants(t *testing.T) {
	whole := func(body string) []tt.Edit {
		return []tt.Edit{tt.CU(`  extern __shared__ float row[];  // columns elements
  const T* in = x + (long long)blockIdx.x * row_stride;
  T* out = y + (long long)blockIdx.x * columns;

  // Each thread reads again only what it wrote itself, so no barrier is needed for
  // row; block_max and block_sum have their own.
  float top = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    row[c] = to_float(in[(long long)c * column_stride]);
    top = fmaxf(top, row[c]);
  }
  top = block_max(top);

  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    row[c] = expf(row[c] - top);
    sum += row[c];
  }
  sum = block_sum(sum);

  for (int c = threadIdx.x; c < columns; c += blockDim.x) out[c] = from_float<T>(row[c] / sum);
`, body)}
	}
	tt.Changes(t, softmax.Workshop(), []tt.Change{
		{Name: "online, in one pass over the row and one more", Edits: whole(`
  const T* in = x + (long long)blockIdx.x * row_stride;
  float top = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    float v = to_float(in[(long long)c * column_stride]), m = fmaxf(top, v);
    sum = sum * (top == -INFINITY ? 0 : expf(top - m)) + expf(v - m);
    top = m;
  }
  float all = block_max(top);
  sum = block_sum(top == -INFINITY ? 0 : sum * expf(top - all));
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    y[(long long)blockIdx.x * columns + c] = from_float<T>(expf(to_float(in[(long long)c * column_stride]) - all) / sum);
`)},
		{Name: "one warp a row, the others idle", Edits: whole(`
  if (threadIdx.x >= 32) return;
  const T* in = x + (long long)blockIdx.x * row_stride;
  float top = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < columns; c += 32) top = fmaxf(top, to_float(in[(long long)c * column_stride]));
  top = warp_max(top);
  for (int c = threadIdx.x; c < columns; c += 32) sum += expf(to_float(in[(long long)c * column_stride]) - top);
  sum = warp_sum(sum);
  for (int c = threadIdx.x; c < columns; c += 32)
    y[(long long)blockIdx.x * columns + c] = from_float<T>(expf(to_float(in[(long long)c * column_stride]) - top) / sum);
`)},
		{Name: "a tree in shared memory, and a double sum", Edits: whole(`
  __shared__ double tree[256];
  const T* in = x + (long long)blockIdx.x * row_stride;
  float top = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) top = fmaxf(top, to_float(in[(long long)c * column_stride]));
  tree[threadIdx.x] = top;
  __syncthreads();
  for (int n = blockDim.x / 2; n > 0; n /= 2) {
    if (threadIdx.x < n) tree[threadIdx.x] = fmax(tree[threadIdx.x], tree[threadIdx.x + n]);
    __syncthreads();
  }
  top = tree[0];
  __syncthreads();
  double sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += expf(to_float(in[(long long)c * column_stride]) - top);
  tree[threadIdx.x] = sum;
  __syncthreads();
  for (int n = blockDim.x / 2; n > 0; n /= 2) {
    if (threadIdx.x < n) tree[threadIdx.x] += tree[threadIdx.x + n];
    __syncthreads();
  }
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    y[(long long)blockIdx.x * columns + c] = from_float<T>((float)(expf(to_float(in[(long long)c * column_stride]) - top) / tree[0]));
`)},
		{Name: "several rows a block, and powers of two", Edits: append(whole(`
  for (int r = blockIdx.x; r < blockIdx.x + 1; r++) {
    const T* in = x + (long long)r * row_stride;
    const float log2e = 1.4426950408889634f;
    float top = -INFINITY, sum = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) top = fmaxf(top, to_float(in[(long long)c * column_stride]));
    top = block_max(top);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += exp2f((to_float(in[(long long)c * column_stride]) - top) * log2e);
    float scale = 1 / block_sum(sum);
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
      y[(long long)r * columns + c] = from_float<T>(exp2f((to_float(in[(long long)c * column_stride]) - top) * log2e) * scale);
  }
`), tt.GO("Shared: 4 * columns", "Shared: 0"))},
	})
}
