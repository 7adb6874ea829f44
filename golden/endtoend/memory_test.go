package endtoend

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// mostOverLive is how much larger than the largest live set an arena may be.
const mostOverLive = 1.2

// TestArenaIsCloseToTheLiveSet compares the arena that plan.go declares with the
// largest live set, found anew from the IR that is written beside it.
func TestArenaIsCloseToTheLiveSet(t *testing.T) {
	long(t)
	t.Parallel()
	for _, m := range []corpusModel{
		"onnx-light/light_resnet50", "onnx-light/light_densenet121", "onnx-light/light_inception_v1",
		"onnx-light/light_shufflenet", "models/fastestdet", "models/nanodet-m-320",
	} {
		t.Run(m.name(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			generate(t, m.path(t), dir)
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
	m, err := ir.Parse(string(text), op.Set)
	if err != nil {
		t.Fatal(err)
	}
	return m.Func("forward")
}

// arenaLen returns the constant of that name in a Go file.
func arenaLen(t *testing.T, path string) int64 {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && spec.Names[0].Name == "arenaLen" {
			text = spec.Values[0].(*ast.BasicLit).Value
		}
		return true
	})
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: arenaLen: %v", path, err)
	}
	return n
}

// piece is memory that a node fills: a value, unless that is a view or is made
// of other values.
type piece struct {
	bytes       int64
	first, last int  // the nodes that write it and read it last
	caller      bool // the caller's memory, not the arena's
}

// liveSet returns the size in bytes of the largest set of values alive at one
// node of a function with static shapes: made before it or by it, and read by it
// or after it; and the scratch memory of the node. It knows neither rounding nor
// operators that write over their operands. A view is what it views. A concatenation along the
// outermost extent that is not 1 is its operands, each counted once, from when
// each is made on. Parameters, weights, constants and what becomes a result
// are not in the arena.
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

// scratchOf returns the bytes that the kernel of a node takes beside its operands and
// results.
func scratchOf(n *ir.Node) (bytes int64) {
	c, ok := n.Op.(ir.Caller)
	if !ok {
		return 0
	}
	call, err := c.Call(n)
	if err != nil {
		return 0
	}
	for _, a := range call.Args {
		if s, ok := a.(ir.Scratch); ok {
			elems, _ := s.Len.Int64()
			bytes += elems * int64(s.DType.Size())
		}
	}
	return bytes
}

// joined returns the pieces that a concatenation consists of, and whether its
// operands follow each other in it. What stands in it twice, or is not in the
// arena, is a piece of its own.
func joined(c op.Concat, n *ir.Node, made map[*ir.Value][]*piece, i int) (pieces []*piece, ok bool) {
	for _, d := range n.Results[0].Type.Shape[:c.Axis] {
		if !d.Equal(ir.Const(1)) {
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
