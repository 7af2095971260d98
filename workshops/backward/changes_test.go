package backward_test

import (
	"testing"

	"github.com/warpbook/warpbook/workshops/backward"
	tt "github.com/warpbook/warpbook/workshops/trial/trialtest"
)

const (
	small      = "values 7x33 f32"
	wide       = "values 3x8192 f32"
	invariants = "autograd, finite difference and row-sum invariant"
)

func TestMistakes(t *testing.T) {
	launch := "kernel.Launch(c, y, g, dx, columns, y.Strides()[0], y.Strides()[1], g.Strides()[0], g.Strides()[1])"
	tt.Changes(t, backward.Workshop(), []tt.Change{
		tt.Mistake("g's column stride is ignored", []string{"strided upstream gradient"}, "", tt.CU("(long long)c * gs.column", "c").Every()),
		tt.Mistake("y's column stride is ignored", []string{"both operands strided and eight warps"}, "", tt.CU("(long long)c * ys.column", "c").Every()),
		tt.Mistake("g has y's strides", []string{"strided upstream gradient"}, "", tt.GO("g.Strides()[0], g.Strides()[1])", "y.Strides()[0], y.Strides()[1])")),
		tt.Mistake("g's row stride is ignored", []string{"both operands strided and eight warps"}, "", tt.CU("blockIdx.x * gs.row", "blockIdx.x * columns")),
		tt.Mistake("the offset is added twice", []string{"both operands strided and eight warps"}, "",
			tt.CU("int columns, int y_row, int y_column, int g_row, int g_column)", "int columns, int y_row, int y_column, int g_row, int g_column, int offset)").Every(),
			tt.CU("backward(y, g, dx,", "backward(y, g + offset, dx,").Every(), tt.GO("g.Strides()[1])\n}", "g.Strides()[1], g.Offset())\n}")),
		tt.Mistake("the sum is left out", []string{small, invariants}, "", tt.CU(" - sum)", ")")),
		tt.Mistake("the sum is of g alone", []string{small}, "", tt.CU("sum += to_float(y_row[(long long)c * ys.column]) * ", "sum += ")),
		tt.Mistake("the sum is a warp's only", []string{wide}, "", tt.CU("block_sum(sum)", "warp_sum(sum)")),
		tt.Mistake("y and g are exchanged", []string{small}, "", tt.GO("y, g, dx, columns", "g, y, dx, columns")),
		tt.Mistake("multiplied by y twice", []string{small}, "", tt.CU("from_float<T>(p * (", "from_float<T>(p * p * (")),
		tt.Mistake("the sum is of half precision", []string{invariants}, "", tt.CU("sum = block_sum(sum);", "sum = (float)half(block_sum(sum));")),
		tt.Mistake("launched on the default stream", []string{"non-default stream"}, "current stream", tt.GO("return dx, "+launch, "return dx, y.Device().Use(nil, func() error { return "+launch+" })")),
		tt.Mistake("one element past the end is written", []string{small}, "kernels access only what is theirs", tt.CU("c < columns; c += blockDim.x) {", "c <= columns; c += blockDim.x) {")),
		tt.Mistake("the input y is modified", []string{small}, "inputs are not changed", tt.CU("    out[c] =", "    ((T*)y_row)[(long long)c * ys.column] = from_float<T>(0);\n    out[c] =")),
		tt.Mistake("the output is g", []string{small}, "the output is fresh", tt.GO("dx, err := y.Device().Empty(y.DType(), rows, columns)", "dx, err := g, error(nil)")),
		tt.Mistake("no barrier between writing and reading scratch memory", []string{wide}, "race", tt.CU("sum = block_sum(sum);", `__shared__ float scratch[32];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = sum;
  sum = 0;
  for (int w = 0; w < (int)blockDim.x / 32; w++) sum += scratch[w];`)),
		tt.Mistake("another shape is accepted", []string{"reject shape mismatch"}, "rejects", tt.GO("g.Shape()[0] != rows || g.Shape()[1] != columns", "g.Shape()[0] != rows")),
		tt.Mistake("another type is accepted", []string{"reject dtype mismatch"}, "rejects", tt.GO("	case g.DType() != y.DType():\n		return nil, fmt.Errorf(\"g has elements of %v; they must be of y's type, %v\", g.DType(), y.DType())\n", ""),
			tt.CU("const float* g, float* dx", "const void* g, float* dx"), tt.CU("  backward(y, g, dx, columns, Strides{y_row, y_column}, Strides{g_row, g_column});\n}\nextern \"C\" __global__ void backward_f16", "  backward(y, (const float*)g, dx, columns, Strides{y_row, y_column}, Strides{g_row, g_column});\n}\nextern \"C\" __global__ void backward_f16")),
	})
}

func TestVariants(t *testing.T) {
	tt.Changes(t, backward.Workshop(), []tt.Change{
		tt.Variant("the row is kept in registers and shared memory", tt.CU(`  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    sum += to_float(y_row[(long long)c * ys.column]) * to_float(g_row[(long long)c * gs.column]);`, `  __shared__ float kept[8192];
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    kept[c] = to_float(g_row[(long long)c * gs.column]);
    sum += to_float(y_row[(long long)c * ys.column]) * kept[c];
  }`), tt.CU("(to_float(g_row[(long long)c * gs.column]) - sum)", "(kept[c] - sum)")),
		tt.Variant("one warp a row, with fused multiply-add and shuffles down", tt.CU(`  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    sum += to_float(y_row[(long long)c * ys.column]) * to_float(g_row[(long long)c * gs.column]);
  sum = block_sum(sum);`, `  if (threadIdx.x >= 32) return;
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += 32)
    sum = fmaf(to_float(y_row[(long long)c * ys.column]), to_float(g_row[(long long)c * gs.column]), sum);
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffffu, sum, o);
  sum = __shfl_sync(0xffffffffu, sum, 0);`), tt.CU("c < columns; c += blockDim.x) {", "c < columns; c += 32) {")),
		tt.Variant("y*g - y*sum, with a double sum", tt.CU("float sum = 0;", "double total = 0;"), tt.CU("    sum += to_float(y_row", "    total += (double)to_float(y_row"), tt.CU("sum = block_sum(sum);", "float sum = block_sum((float)total);"),
			tt.CU("p * (to_float(g_row[(long long)c * gs.column]) - sum)", "p * to_float(g_row[(long long)c * gs.column]) - p * sum")),
	})
}
