package emit

import (
	"testing"

	"github.com/burngen/burngen/ir"
)

// TestFormOf asserts how callers pass what functions take and return.
func TestFormOf(t *testing.T) {
	for _, c := range []struct {
		name, signature string
		mixed           bool
		want            form
		symbol          string
	}{
		{"arrays", "(f32[2,3], i64[]) -> (f32[2])", false, static, ""},
		{"items of a batch", "(f32[N,3], i64[N]) -> (f32[N,2])", false, batched, "N"},
		{"a batch that is not the first extent", "(f32[3,N]) -> (f32[N])", false, dynamic, ""},
		{"two symbols", "(f32[N,M]) -> (f32[N])", false, dynamic, ""},
		{"an extent that follows from the batch", "(f32[N,3]) -> (f32[2*N])", false, dynamic, ""},
		{"a batch and an array", "(f32[N,3], f32[4]) -> (f32[N])", false, dynamic, ""},
		{"a batch and an array, mixed", "(f32[N,3], f32[4]) -> (f32[N])", true, batched, "N"},
		{"text", "(string[2]) -> (f32[2])", false, dynamic, ""},
		{"nothing", "() -> ()", false, dynamic, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := ir.ParseSignature(c.signature)
			if err != nil {
				t.Fatal(err)
			}
			values := func(types []ir.Type) (out []*ir.Value) {
				for _, typ := range types {
					out = append(out, &ir.Value{Type: typ})
				}
				return out
			}
			if got, symbol := formOf(values(s.Params), values(s.Results), c.mixed); got != c.want || symbol != c.symbol {
				t.Errorf("form %d, symbol %q, want %d, %q", got, symbol, c.want, c.symbol)
			}
		})
	}
}
