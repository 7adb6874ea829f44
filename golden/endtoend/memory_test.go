package endtoend

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/call"
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/golden/endtoend/fixture"
	"github.com/burngen/burngen/golden/endtoend/module"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// mostOverLive is how much larger than the largest live set an arena may be.
const mostOverLive = 1.2

// TestArenaIsCloseToTheLiveSet compares the arena that plan.go declares with the largest live set,
// which it computes independently from the package's IR file.
func TestArenaIsCloseToTheLiveSet(t *testing.T) {
	module.Long(t)
	t.Parallel()
	for _, m := range []fixture.Corpus{
		"onnx-light/light_resnet50", "onnx-light/light_densenet121", "onnx-light/light_inception_v1",
		"onnx-light/light_shufflenet", "models/fastestdet", "models/nanodet-m-320",
	} {
		t.Run(m.Name(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			module.Generate(t, m.Path(t), dir)
			arena, live := arenaLen(t, filepath.Join(dir, "plan.go")), liveSet(forward(t, dir))
			ratio := float64(arena) / float64(live)
			t.Logf("arena %d bytes, largest live set %d bytes: %.2f×", arena, live, ratio)
			if ratio > mostOverLive {
				t.Errorf("the arena is %.2f times the largest live set, want %.1f at most", ratio, mostOverLive)
			}
		})
	}
}

// forward reads the function @forward of the package in dir.
func forward(t *testing.T, dir string) *ir.Func {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.ir"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%s: one .ir file expected, not %q", dir, files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	m, err := ir.Parse(string(text), storage.Set)
	if err != nil {
		t.Fatal(err)
	}
	return m.Func("forward")
}

// arenaLen returns the size of Forward's arena that a Go file has.
func arenaLen(t *testing.T, path string) int64 {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	ast.Inspect(file, func(n ast.Node) bool {
		if field, ok := n.(*ast.KeyValueExpr); ok && text == "" && isIdent(field.Key, "Fixed") {
			text = field.Value.(*ast.BasicLit).Value
		}
		return true
	})
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: arenaLen: %v", path, err)
	}
	return n
}

// piece is memory that a node fills. It is a value, unless the value is a view or consists of other
// values.
type piece struct {
	bytes       int64
	first, last int  // the nodes that write it and read it last
	caller      bool // the caller's memory, not the arena's
}

// liveSet returns the size in bytes of the largest set of values that are alive at a node of a
// function with static shapes, including the scratch memory of the node. A value is alive at a node
// if it is computed before or by the node, and read by or after it. It ignores alignment and
// operators that overwrite their operands. A view counts as the viewed value. A concatenation along
// the outermost extent that is not 1 counts as its operands, each of them once, from the time it is
// computed. Parameters, weights, constants and results are not in the arena.
func liveSet(f *ir.Func) int64 {
	made := map[*ir.Value][]*piece{}
	for i, n := range f.Nodes {
		for _, v := range reads(n) {
			for _, p := range made[v] {
				p.last = i
			}
		}
		switch o := n.Op.(type) {
		case ir.Load, ir.Constant:
			continue
		case ir.Viewer:
			made[n.Results[0]] = made[n.Args[0]]
			continue
		case op.Concat:
			if pieces, ok := joined(o, n, made, i); ok {
				made[n.Results[0]] = pieces
				continue
			}
		}
		for _, r := range n.Results {
			made[r] = []*piece{{bytes: sizeOf(r.Type), first: i, last: i}}
		}
	}
	for _, r := range f.Results {
		for _, p := range made[r] {
			p.caller = true
		}
	}
	seen := map[*piece]bool{}
	change := make([]int64, len(f.Nodes)+1) // of the live set's size, by node
	for _, pieces := range made {
		for _, p := range pieces {
			if !seen[p] && !p.caller {
				seen[p] = true
				change[p.first] += p.bytes
				change[p.last+1] -= p.bytes
			}
		}
	}
	for i, n := range f.Nodes {
		bytes := scratchOf(n)
		change[i] += bytes
		change[i+1] -= bytes
	}
	var now, most int64
	for _, c := range change {
		now += c
		most = max(most, now)
	}
	return most
}

// scratchOf returns the bytes of scratch memory of a node's kernel.
func scratchOf(n *ir.Node) (bytes int64) {
	c, err := call.Of(n)
	if err != nil {
		return 0
	}
	for _, a := range c.Args {
		if s, ok := a.(kernel.Scratch); ok {
			elems, _ := s.Len.Int64()
			bytes += elems * int64(s.DType.Size())
		}
	}
	return bytes
}

// joined returns the pieces of a concatenation and whether its operands are contiguous in it. An
// operand that occurs twice or is not in the arena is a piece of its own.
func joined(c op.Concat, n *ir.Node, made map[*ir.Value][]*piece, i int) (pieces []*piece, ok bool) {
	for _, d := range n.Results[0].Type.Shape[:c.Axis] {
		if !d.Equal(dim.Const(1)) {
			return nil, false
		}
	}
	twice := map[*ir.Value]bool{}
	for _, a := range n.Args {
		if len(made[a]) == 0 || twice[a] {
			pieces = append(pieces, &piece{bytes: sizeOf(a.Type), first: i, last: i})
			continue
		}
		twice[a] = true
		pieces = append(pieces, made[a]...)
	}
	return pieces, true
}

// reads returns the values that a node reads, also in its blocks.
func reads(n *ir.Node) []*ir.Value {
	values := n.Args
	for _, b := range n.Blocks {
		for _, inner := range b.Nodes {
			values = append(values[:len(values):len(values)], reads(inner)...)
		}
	}
	return values
}

func sizeOf(t ir.Type) int64 {
	n, _ := t.Elems().Int64()
	return n * int64(t.DType.Size())
}

// isIdent reports whether an expression is an identifier.
func isIdent(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}
