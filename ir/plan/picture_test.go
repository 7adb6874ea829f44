package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir/plan"
)

func TestPicture(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"static": {`
func @f(%x: f32[1,64]) -> (y: f32[1,480]) {
  %conv = exp %x : f32[1,64]
  %pool = concat %conv, %conv, %conv {axis=1} : f32[1,192]
  %mid = tanh %pool : f32[1,192]
  %sum = add %mid, %pool : f32[1,192]
  %wide = concat %sum, %sum {axis=1} : f32[1,384]
  %long = concat %conv, %wide, %x {axis=1} : f32[1,512]
  %out = strided_copy %long {shape=[1,480] strides=[512,1]} : f32[1,480]
  return %out
}`, `
3 buffers in 3584 bytes; the largest live set is 3584

     steps     0                                                            3584
pool 0-5                                           [------------)
mid  2-3                                                         [------------)
long 3-6       [----------------------------------)
`},
		"scaled": {`
func @f(%x: f32[N,10]) -> (y: f32[N,10]) {
  %a = exp %x : f32[N,10]
  %"a b/😀" = cast %a {to=f64} : f64[N,10]
  %"a.long.name.of.a.value" = cast %"a b/😀" {to=f32} : f32[N,10]
  %b = add %"a.long.name.of.a.value", %a : f32[N,10]
  %c = sub %x, %b : f32[N,10]
  return %c
}`, `
3 buffers in 256*N bytes; the largest live set is 256*N

                       steps     0                                                             256
a                      0-3                                       [--------------)
a?b/?                  1-2       [------------------------------)
a.long.name.of.a.value 2-4                                                       [--------------)
`},
		"dynamic": {`
func @f(%x: f32[N,M]) -> (y: i64[2,L]) {
  %a = exp %x : f32[N,M]
  %b = non_zero %a {count="L"} : i64[2,L]
  return %b
}`, `
1 buffer, placed once the extents are known: where all are 1, in 64 bytes

  steps     0                                                              64
a 0-1       [--------------------------------------------------------------)
1 more, each allocated at the step that fills it
`},
		"where no size is negative": {`
func @f(%x: f32[N-100,M]) -> (y: f32[N-100,M]) {
  %a = exp %x : f32[N-100,M]
  %b = exp %a : f32[N-100,M]
  %y = add %a, %b : f32[N-100,M]
  return %y
}`, `
2 buffers, placed once the extents are known: where all are 128, in 28672 bytes

  steps     0                                                           28672
a 0-2       [------------------------------)
b 1-2                                       [------------------------------)
`},
		"none": {`
func @f(%x: f32[N-100,100-N]) -> (y: f32[N-100,100-N]) {
  %a = exp %x : f32[N-100,100-N]
  %y = add %a, %x : f32[N-100,100-N]
  return %y
}`, `
1 buffer, placed once the extents are known: where all are 1, in 0 bytes
`},
		"empty": {`
func @f(%x: f32[4]) -> (y: f32[4]) {
  %a = exp %x : f32[4]
  return %a
}`, `
0 buffers in 0 bytes; the largest live set is 0
`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := "\n" + planned(t, c.text).Picture(bufferName); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func bufferName(b *plan.Buffer) string { return b.Name }

func TestPictureOfManyBuffers(t *testing.T) {
	var b strings.Builder
	b.WriteString("func @f(%x: f32[4]) -> (y: f32[4]) {\n  %v0 = exp %x : f32[4]\n")
	for i := range 99 {
		fmt.Fprintf(&b, "  %%v%d = exp %%x : f32[4]\n  %%s%d = add %%v%d, %%v%d : f32[4]\n", i+1, i, i, i+1)
	}
	b.WriteString("  return %s98\n}")
	p := planned(t, b.String())
	lines := strings.Split(strings.TrimSpace(p.Picture(bufferName)), "\n")
	if want := fmt.Sprintf("and %d smaller ones", len(p.Buffers)-60); lines[len(lines)-1] != want || len(lines) != 64 {
		t.Errorf("%d lines end with %q, %q expected", len(lines), lines[len(lines)-1], want)
	}
	for _, l := range lines {
		if len(l) > 100 {
			t.Errorf("%d columns: %s", len(l), l)
		}
	}
}
