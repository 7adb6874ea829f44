package nn

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/nn/record"
)

// Recorder receives the model and the methods of a description. Only the recording program, which burngen writes and
// runs, uses it.
type Recorder struct {
	states []*State // states of the model, in the order of the fields
	out    *record.Model
	errs   []error
}

// Method is a method marked with a directive.
type Method struct {
	// Name is the method's name in Go.
	Name string
	// Loss says that the method is marked as a loss.
	Loss bool
	// Pos is the position of the mark, as file:line:column.
	Pos string
	// Signature returns the type in the mark, with expressions evaluated: "(f32[N,28,28], i64[N])
	// -> f32[]". The results may be omitted.
	Signature func() string
	// Params and Results are the Go names of parameters and results.
	Params, Results []string
}

// ExtentText formats the value of a Go expression for a signature.
func ExtentText[T ~int | ~int8 | ~int16 | ~int32 | ~int64](n T) string { return fmt.Sprint(int64(n)) }

// Environment variables of a recording program.
const (
	// OutEnv is the name of the environment variable that holds the path of the output file; see [record.Model].
	OutEnv = "BURNGEN_OUT"
	// LimitEnv is the name of the environment variable that holds the time limit of one recording. The default
	// limit is 10s.
	LimitEnv = "BURNGEN_LIMIT"
	// Between is a line that the program writes to standard error to separate its parts. It writes the line after
	// the output of the first recording, and again before its own messages. The text between the two lines is the
	// output of the other recordings.
	Between = "\x1e"
)

// Recordings is the number of times that a description is recorded. If the results differ, the description depends
// on something that changes from run to run, such as the order of a map. Eight recordings detect a map of six keys
// with near certainty.
const Recordings = 8

// maxStack is the maximum size of the stack of a recording program, in bytes. An infinite recursion ends the
// program when it exceeds maxStack.
const maxStack = 128 << 20

// Main is the main function of the recording program. It records a description [Recordings] times,
// compares the results, and writes the file that OutEnv names. It prints errors to standard error,
// one per line, and then exits with status 3.
func Main(describe func(*Recorder)) {
	debug.SetMaxStack(maxStack)
	limit := 10 * time.Second
	if d, err := time.ParseDuration(os.Getenv(LimitEnv)); err == nil {
		limit = d
	}
	model, err := recordings(describe, limit)
	if err == nil {
		err = save(model, os.Getenv(OutEnv))
	}
	fmt.Fprint(os.Stderr, Between)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

func save(m *record.Model, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = m.WriteTo(f)
	return errors.Join(err, f.Close())
}

// recordings records a description [Recordings] times. It returns an error if the results differ.
func recordings(describe func(*Recorder), limit time.Duration) (*record.Model, error) {
	var first *record.Model
	var text string
	for i := range Recordings {
		watch := time.AfterFunc(limit, func() { late(limit) })
		model, err := Record(describe)
		watch.Stop()
		if err != nil {
			return nil, err
		}
		t, err := model.Text()
		if err != nil {
			return nil, err
		}
		switch {
		case i == 0:
			first, text = model, t
			// Output of the description appears once.
			fmt.Fprint(os.Stderr, Between)
			if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
				stdout := os.Stdout
				os.Stdout = null
				defer func() { os.Stdout = stdout; null.Close() }()
			}
		case t != text:
			return nil, fmt.Errorf("%s", difference(text, t))
		}
	}
	return first, nil
}

func difference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i, line := range x {
		if i >= len(y) || y[i] != line {
			where := ""
			if _, pos, ok := strings.Cut(line, "  // "); ok {
				line, where = strings.TrimSpace(strings.TrimSuffix(line, "  // "+pos)), pos+": "
			}
			return fmt.Sprintf("%sthe description records differently each time, because of the order of a map, the time or random numbers: %s", where, strings.TrimSpace(line))
		}
	}
	return "the description records differently each time"
}

// late ends the program, because a recording takes longer than `limit`. Its error names the line that the recording
// is at.
func late(limit time.Duration) {
	fmt.Fprint(os.Stderr, Between)
	where := ""
	if pos := position(); pos != "" {
		where = shortPos(pos) + ": "
	}
	fmt.Fprintf(os.Stderr, "%sstill running after %v: an endless loop?\n", where, limit)
	os.Exit(3)
}

// position returns the innermost position outside this package at which the recording goroutine is, as file:line,
// or "" if there is none.
func position() string {
	buf := make([]byte, 1<<20)
	for g := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		lines := strings.Split(g, "\n")
		if !strings.Contains(g, self+"Record(") {
			continue
		}
		for i := 1; i+1 < len(lines); i += 2 {
			at, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
			if file, _, _ := strings.Cut(at, ".go:"); !isOwn(file+".go", lines[i]) {
				function := lines[i][:max(0, strings.LastIndexByte(lines[i], '('))]
				return cmp.Or(emptyLoop(function), at)
			}
		}
	}
	return ""
}

// emptyLoop returns the position of an empty loop that a goroutine runs in `function`, or in a function that is
// inlined there. It returns "" if there is no such loop.
//
// In the compiled code, the jump of an empty loop has line 1. The instruction before the jump has the line where
// the loop begins, or the line of the call if the loop is inlined. A goroutine may also stop at that instruction,
// and not at the jump. So emptyLoop takes several samples.
func emptyLoop(function string) string {
	for range 16 {
		records := make([]runtime.StackRecord, 256)
		n, _ := runtime.GoroutineProfile(records)
		for _, r := range records[:min(n, len(records))] {
			if pos := jumpsIn(function, r.Stack()); pos != "" {
				return pos
			}
		}
		time.Sleep(time.Millisecond)
	}
	return ""
}

// jumpsIn returns the position of the empty loop that the goroutine with this stack runs. It returns "" if the
// goroutine does not run an empty loop, or if `function` is not on the stack.
func jumpsIn(function string, stack []uintptr) string {
	var outside []runtime.Frame
	frames := runtime.CallersFrames(stack)
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); !isOwn(f.File, f.Function) {
			outside = append(outside, f)
		}
	}
	if len(outside) == 0 || outside[0].Line != 1 || !slices.ContainsFunc(outside, func(f runtime.Frame) bool { return f.Function == function }) {
		return ""
	}
	f := outside[0]
	if before := runtime.FuncForPC(f.PC - 1); before != nil && before.Name() == f.Function {
		if file, line := before.FileLine(f.PC - 1); line > 1 {
			return fmt.Sprintf("%s:%d", file, line)
		}
	}
	if len(outside) == 1 {
		return ""
	}
	return fmt.Sprintf("%s:%d", outside[1].File, outside[1].Line)
}

// Record records a description once. It returns all errors joined.
func Record(describe func(*Recorder)) (*record.Model, error) {
	r := &Recorder{out: &record.Model{Module: &ir.Module{}}}
	session.recording = true
	session.first = session.nodes.Load()
	session.params.Store(0)
	session.random.Store(0)
	session.gradients = nil // names do not depend on what was recorded or computed before
	defer func() { session.recording = false }()
	r.try(func() { describe(r) })
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	withGradients(r.out.Module)
	if err := ir.Verify(r.out.Module); err != nil {
		return nil, fmt.Errorf("what was recorded is not valid: %w", err)
	}
	return r.out, nil
}

func (r *Recorder) try(f func()) {
	defer func() {
		if err := recovered(recover(), nil); err != nil {
			r.report(err)
		}
	}()
	f()
}

func (r *Recorder) report(err error) {
	if !slices.ContainsFunc(r.errs, func(e error) bool { return e.Error() == err.Error() }) {
		r.errs = append(r.errs, err)
	}
}

// Model sets the model, which is the result of the description's function New. Call it before Method.
func (r *Recorder) Model(m any) {
	r.try(func() {
		Name(m)
		walk(m, func(x part) {
			if x.state != nil && !slices.Contains(r.states, x.state) {
				r.states = append(r.states, x.state)
			}
		})
		r.out.Structure = Describe(m)
		for _, p := range params(m) {
			w := &ir.Weight{Name: p.path, Type: p.typ}
			if p.given != nil {
				w.Data = p.given.Data
			}
			r.out.Module.Weights = append(r.out.Module.Weights, w)
			r.out.Weights = append(r.out.Weights, record.Weight{Name: p.path, Aliases: p.aliases, Buffer: p.buffer, Frozen: p.frozen, Init: p.init, Pos: shortPos(p.pos)})
		}
	})
}

// Method records the method m of the model. The function `call` must run this method on the values `in` and return
// the method's results.
func (r *Recorder) Method(m Method, call func(in []Value) []Value) {
	r.try(func() {
		fault := func(format string, args ...any) {
			panic(&Error{m.Pos, m.Name + ": " + fmt.Sprintf(format, args...)})
		}
		text := m.Signature()
		open := !strings.Contains(text, "->")
		if open {
			text += " -> ()"
		}
		sig, err := ir.ParseSignature(text)
		if err != nil {
			fault("%v", err)
		}
		if len(sig.Params) != len(m.Params) {
			fault("%d parameters, the signature has %d", len(m.Params), len(sig.Params))
		}
		session.random.Store(0)
		session.symbols.Store(0)
		session.binders = nil
		first := session.nodes.Load() + 1
		for _, s := range r.states {
			s.reset()
		}
		in := make([]Value, len(sig.Params))
		for i, t := range sig.Params {
			in[i] = leaf(&node{types: []ir.Type{t}, name: "input " + m.Params[i], open: true})
		}
		out := call(in)
		f := &ir.Func{Name: Snake(m.Name), ResultNames: slices.Clone(m.Results)}
		for i, v := range out {
			switch {
			case !v.Valid():
				fault("result %s is the zero nn.Value", m.Results[i])
			case !open && (i >= len(sig.Results) || len(out) != len(sig.Results)):
				fault("%d results, the signature has %d", len(out), len(sig.Results))
			case !open && !sameType(v.typ(), sig.Results[i]):
				fault("%s is %s, declared %s; it is computed at %s", m.Results[i], v.typ(), sig.Results[i], shortPos(v.n.pos))
			}
		}
		if t := out[0].typ(); m.Loss && (t.Rank() != 0 || !t.DType.IsFloat()) {
			fault("a loss is a float scalar, this is %s; it is computed at %s", t, shortPos(out[0].n.pos))
		}
		if err := r.emit(f, first, m.Params, in, out); err != nil {
			fault("%v", err)
		}
		r.out.Module.Funcs = append(r.out.Module.Funcs, f)
		r.out.Methods = append(r.out.Methods, record.Method{Name: m.Name, Func: f.Name, Loss: m.Loss, Pos: m.Pos})
	})
}

func sameType(a, b ir.Type) bool {
	return a.DType == b.DType && slices.EqualFunc(a.Shape, b.Shape, dim.Dim.Same)
}

// emit writes a method into f. `in` and `out` are the arguments and results of the call that recorded the method,
// and `names` are the names of the parameters. A node with data becomes a constant if its number is below `first`.
func (r *Recorder) emit(f *ir.Func, first int64, names []string, in, out []Value) error {
	e := newEmitter(ir.NewBuilder(f), r.leaf)
	e.first = first
	return ir.Try(func() {
		for i, v := range in {
			e.bring(v, names[i])
		}
		for _, s := range r.states {
			if s.first.Valid() {
				e.bring(s.first, s.path)
				out = append(out, s.now)
				f.ResultNames = append(f.ResultNames, s.path)
				r.state(s, f.Name)
			}
		}
		e.b.Return(e.values(out)...)
		for n := range f.All() {
			n.Pos = shortPos(n.Pos)
		}
		f.Prune()
	})
}

func (r *Recorder) state(s *State, fn string) {
	for i := range r.out.States {
		if x := &r.out.States[i]; x.Name == s.path {
			x.Funcs = append(x.Funcs, fn)
			return
		}
	}
	r.out.States = append(r.out.States, record.State{Name: s.path, Type: s.typ.String(), Funcs: []string{fn}})
}

func (r *Recorder) leaf(b *ir.Builder, v Value) *ir.Value {
	p := v.n.param
	if p.path == "" {
		panic(&Error{p.pos, "this parameter is used, but no exported fields of the model lead to it, so that it has no name"})
	}
	return b.Node(ir.Load{Name: p.path, Type: p.typ})
}
