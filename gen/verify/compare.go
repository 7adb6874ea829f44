package verify

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
)

// tolerance is the accepted difference of a float from the reference. It is a sum of four terms: relative times the
// magnitude of the float's reference, absolute, ofRMS times the root mean square of the whole reference, and ofMax
// times the largest magnitude of the reference. Strict mode leaves out the third term.
type tolerance struct{ relative, absolute, ofRMS, ofMax float64 }

// tolerances are the tolerances of the float types. Other types have no tolerance.
var tolerances = map[ir.DType]tolerance{
	ir.F64:  {1e-3, 1e-5, 1e-4, 0},
	ir.F32:  {1e-3, 1e-5, 1e-4, 0},
	ir.F16:  {1e-2, 0, 0, 1e-3},
	ir.BF16: {4e-2, 0, 0, 4e-3},
}

// maxOff is the share of quantised values that may be off by one quantum.
const maxOff = 0.01

// quantumSlack is added to the one quantum by which a float may differ from its reference. Its unit is the quantum.
// Both floats are rounded, so their difference may be a little more than the quantum.
const quantumSlack = 1e-4

type judge struct {
	ports   *ports
	strict  bool
	weights ir.DType // the type of the model's weights if narrower than f32
	// eval returns the outputs that the evaluator computes for the same arguments.
	eval func() ([]*onnx.Value, error)
}

// check returns why got does not match w, or "" if it does.
func (j *judge) check(got *onnx.Value, w want) string {
	p := j.ports.results[w.output]
	why := ""
	switch {
	case w.value != nil && w.value.Tensor == nil:
		why = j.container(got, w.value, p.random)
	case got.Tensor == nil:
		why = "not a tensor"
	default:
		why = j.tensor(got.Tensor, w, p.random)
	}
	if why == "" {
		return ""
	}
	return fmt.Sprintf("output %q: %s", w.name, why)
}

// container compares sequences, optionals and maps element by element. It returns the first difference,
// or "". If random is set, it does not compare the elements of tensors.
func (j *judge) container(got, want *onnx.Value, random bool) string {
	if want.Tensor != nil {
		if got.Tensor == nil {
			return "not a tensor"
		}
		whole := want.Tensor
		return j.tensor(got.Tensor, trialOf(whole), random)
	}
	if got.Tensor != nil {
		return "a tensor, a container expected"
	}
	if len(got.Items) != len(want.Items) {
		return fmt.Sprintf("%d elements, want %d", len(got.Items), len(want.Items))
	}
	if want.Keys != nil && (got.Keys == nil || !got.Keys.Equal(want.Keys)) {
		return "other keys"
	}
	for i := range want.Items {
		if why := j.container(got.Items[i], want.Items[i], random); why != "" {
			return fmt.Sprintf("item %d: %s", i, why)
		}
	}
	return ""
}

func trialOf(t *ir.Tensor) want {
	return want{output: -1, dtype: t.DType, shape: t.Shape, parts: []part{{1, t}}}
}

func (j *judge) tensor(got *ir.Tensor, w want, random bool) string {
	if got.DType != w.dtype || !slices.Equal(got.Shape, w.shape) {
		return fmt.Sprintf("%s, want %s", got.Type(), ir.StaticTensor(w.dtype, w.shape...))
	}
	if random {
		return ""
	}
	for _, p := range w.parts {
		if n := p.values.Len(); n > 0 && (got.Len() == 0 || n-1 > (got.Len()-1)/p.stride) {
			return fmt.Sprintf("the reference has %d elements, %d apart", n, p.stride)
		}
		if why := j.elements(got, p, w); why != "" {
			return why
		}
	}
	return j.summary(got, w)
}

// elements compares the elements of got with the reference p, a part of w. It returns a description of
// the differences, or "" if they are acceptable.
func (j *judge) elements(got *ir.Tensor, p part, w want) string {
	near, quantum := j.near(w, p), j.quantum(w)*(1+quantumSlack)
	first, bad, off := -1, 0, 0
	for i := range p.values.Len() {
		at := i * p.stride
		if near(got, at, p.values, i) {
			continue
		}
		if quantum > 0 && math.Abs(got.Number(at)-p.values.Number(i)) <= quantum {
			off++
		}
		if bad++; first < 0 {
			first = i
		}
	}
	if bad == 0 {
		return ""
	}
	why := fmt.Sprintf("element %d %s is %s, want %s", first*p.stride, place(first*p.stride, w.shape), text(got, first*p.stride), text(p.values, first))
	if bad > 1 {
		why += fmt.Sprintf(" (%d of %d differ)", bad, p.values.Len())
	}
	if off == bad && float64(bad) <= maxOff*float64(p.values.Len()) {
		return j.equalsEval(got, w, why)
	}
	return why
}

func (j *judge) quantum(w want) float64 {
	if w.output < 0 || w.output >= len(j.ports.results) {
		return 0
	}
	return j.ports.results[w.output].quantum
}

// equalsEval returns "" if got has exactly the values that the evaluator computes. The values may then be off by one
// quantum from the reference. Otherwise equalsEval returns reason, the description of the difference from the
// reference.
func (j *judge) equalsEval(got *ir.Tensor, w want, reason string) string {
	if j.eval == nil {
		return reason
	}
	outputs, err := j.eval()
	if err != nil {
		return reason + "; eval: " + err.Error()
	}
	if w.output >= len(outputs) {
		return reason
	}
	if t := outputs[w.output].Tensor; t == nil || !t.Equal(got) {
		return reason + "; eval computes something else"
	}
	return ""
}

func (j *judge) near(w want, p part) func(got *ir.Tensor, i int, want *ir.Tensor, k int) bool {
	switch {
	case w.dtype == ir.String:
		return func(got *ir.Tensor, i int, want *ir.Tensor, k int) bool { return got.Text(i) == want.Text(k) }
	case !w.dtype.IsFloat():
		return func(got *ir.Tensor, i int, want *ir.Tensor, k int) bool { return got.Int(i) == want.Int(k) }
	}
	rms, largest := magnitude(p.values)
	if w.stats != nil && w.stats.Count > p.values.Len() {
		rms, largest = w.stats.magnitude()
	}
	absolute, relative := j.limits(w.dtype, rms, largest)
	return func(got *ir.Tensor, i int, want *ir.Tensor, k int) bool {
		return within(got.Float(i), want.Float(k), absolute, relative)
	}
}

// limits returns the absolute and relative tolerance of a float, given the reference's root mean
// square and largest magnitude.
func (j *judge) limits(d ir.DType, rms, largest float64) (absolute, relative float64) {
	for _, d := range []ir.DType{d, j.weights} {
		t := tolerances[d]
		room := t.absolute + t.ofMax*largest
		if !j.strict {
			room += t.ofRMS * rms
		}
		absolute, relative = max(absolute, room), max(relative, t.relative)
	}
	rounding := j.ports.rounding
	absolute, relative = max(absolute, rounding*rms), max(relative, rounding)
	return absolute, relative
}

// within reports whether both numbers are NaN or the same infinity, or |got − want| ≤ absolute +
// relative·|want|.
func within(got, want, absolute, relative float64) bool {
	switch {
	case got == want || got != got && want != want:
		return true
	case math.IsInf(got, 0) || math.IsInf(want, 0):
		return false
	}
	return math.Abs(got-want) <= absolute+relative*math.Abs(want)
}

// magnitude returns the root mean square and the largest magnitude of the finite elements.
func magnitude(t *ir.Tensor) (rms, largest float64) {
	n := 0.0
	for i := range t.Len() {
		if v := t.Float(i); !math.IsInf(v, 0) && v == v {
			rms += v * v
			largest = max(largest, math.Abs(v))
			n++
		}
	}
	return math.Sqrt(rms / max(n, 1)), largest
}

// summary compares the statistics of an output that is known only in parts. It returns the first
// difference, or "".
func (j *judge) summary(got *ir.Tensor, w want) string {
	s := w.stats
	if !w.summarised(got.Len()) {
		return ""
	}
	nans, low, high := extremes(got)
	rms, largest := s.magnitude()
	absolute, relative := j.limits(w.dtype, rms, largest)
	if nans != s.NaN {
		return fmt.Sprintf("%d NaNs, want %d", nans, s.NaN)
	}
	if nans == got.Len() {
		return ""
	}
	quantum := j.quantum(w) * (1 + quantumSlack)
	for _, extreme := range []struct {
		name      string
		got, want float64
	}{{"smallest", low, float64(s.Min)}, {"largest", high, float64(s.Max)}} {
		if within(extreme.got, extreme.want, absolute, relative) {
			continue
		}
		why := fmt.Sprintf("the %s element is %v, want %v", extreme.name, extreme.got, extreme.want)
		if quantum > 0 && math.Abs(extreme.got-extreme.want) <= quantum {
			why = j.equalsEval(got, w, why)
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// summarised reports whether an output of n elements is compared by statistics, because the reference has them and
// does not have all elements.
func (w want) summarised(n int) bool {
	return w.stats != nil && w.dtype.IsFloat() && !(len(w.parts) == 1 && w.parts[0].values.Len() == n)
}

// extremes returns the number of NaNs and the smallest and largest of the other elements. If there
// are no others, low is +Inf and high −Inf.
func extremes(t *ir.Tensor) (nans int, low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := range t.Len() {
		v := t.Float(i)
		if v != v {
			nans++
			continue
		}
		low, high = min(low, v), max(high, v)
	}
	return nans, low, high
}

func place(i int, shape []int) string {
	index := make([]int, len(shape))
	for k := len(shape) - 1; k >= 0; k-- {
		if shape[k] > 0 {
			index[k] = i % shape[k]
			i /= shape[k]
		}
	}
	return fmt.Sprint(index)
}

func text(t *ir.Tensor, i int) string {
	switch {
	case t.DType == ir.String:
		return strconv.Quote(t.Text(i))
	case t.DType == ir.F64:
		return strconv.FormatFloat(t.Float(i), 'g', -1, 64)
	case t.DType.IsFloat():
		return strconv.FormatFloat(t.Float(i), 'g', -1, 32)
	case t.DType == ir.Bool:
		return strconv.FormatBool(t.Bool(i))
	case t.DType == ir.U64:
		return strconv.FormatUint(uint64(t.Int(i)), 10)
	}
	return strconv.FormatInt(t.Int(i), 10)
}
