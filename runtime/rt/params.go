package rt

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"weak"
)

// Param is a tensor that is trained.
type Param struct {
	Name  string // path, as in PyTorch: "layers.0.attn.weight"
	Shape []int
	Off   int // Off is the index of the first element in Data and Grad.
}

// Params are the parameters of a model that is trained, or a subset of them. [Params.Match] and
// [Params.Except] return subsets that share the memory of the whole. A trainer adds to the gradients; an
// optimizer consumes them.
//
// The gradient of a parameter is present or absent. It is absent at first, after an optimizer has
// consumed it, and after [Params.ZeroGrad]. If it is absent, its elements in Grad are meaningless, and
// optimizers do not change the parameter. The next gradient from a trainer then replaces the elements; it
// is not added. So a training loop need not zero gradients. If no loss depends on a parameter, weight
// decay does not change the parameter.
//
// The fields are read-only, except for the elements of Data and Grad. In a package for a GPU the elements
// are on the device while an optimizer changes them there; Data and Grad are nil then. [Params.Fetch],
// Value and Gradient bring them back. A nil Params has no parameters. Params are not safe for use by
// several goroutines at once.
type Params struct {
	Items      []Param
	Data, Grad []float32 // the vectors of all parameters, also in a subset

	all *parameters
	at  []int // index of each of Items among all parameters
	err error
}

// parameters is the state that a [Params] shares with its subsets.
type parameters struct {
	items      []Param
	size       []int // number of elements of each
	data, grad []float32
	there      []bool // whether the gradient is present
	bound      []bool // whether an optimizer has bound it

	mirror  Mirror                 // the device that trains; nil for the host
	staying int                    // optimizers that change the vectors on the device
	away    bool                   // the elements are on the device only
	failed  error                  // the first error of the device
	views   []weak.Pointer[Params] // the Params that share this state
}

// NewParams returns parameters of the given names, shapes and places in zeroed memory that starts at a
// 64-byte boundary. It returns one error that lists all empty and duplicate names, invalid shapes, places
// that overlap or are out of order, and a size over [ArenaLimit].
func NewParams(items []Param) (*Params, error) {
	all := &parameters{size: make([]int, len(items)), there: make([]bool, len(items)), bound: make([]bool, len(items))}
	names := map[string]bool{}
	var errs []error
	end := 0
	for i, it := range items {
		it.Shape = slices.Clone(it.Shape)
		all.items = append(all.items, it)
		n, err := Elems(it.Shape)
		switch {
		case err != nil:
		case it.Name == "":
			err = fmt.Errorf("parameter %d has no name", i)
		case names[it.Name]:
			err = errors.New("name appears twice")
		case it.Off < end:
			err = fmt.Errorf("begins at element %d: the one before ends at %d", it.Off, end)
		default:
			err = CheckSize[float32](it.Off)
			if err == nil {
				err = CheckSize[float32](it.Off + n)
			}
		}
		names[it.Name] = true
		if err != nil {
			errs = append(errs, fmt.Errorf("params: %.100q: %w", it.Name, err))
			continue
		}
		all.size[i], end = n, it.Off+n
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	all.data, all.grad = Make[float32](end), Make[float32](end)
	at := make([]int, len(items))
	for i := range at {
		at[i] = i
	}
	return all.view(at), nil
}

func (all *parameters) view(at []int) *Params {
	p := &Params{all: all, at: at}
	if !all.away {
		p.Data, p.Grad = all.data, all.grad
	}
	if len(all.views) == cap(all.views) {
		all.views = slices.DeleteFunc(all.views, func(v weak.Pointer[Params]) bool { return v.Value() == nil })
	}
	all.views = append(all.views, weak.Make(p))
	for _, i := range at {
		p.Items = append(p.Items, all.items[i])
	}
	return p
}

// each calls f for each parameter of p, with its index among all parameters.
func (p *Params) each(f func(all *parameters, i int)) {
	if p == nil {
		return
	}
	for _, i := range p.at {
		f(p.all, i)
	}
}

// of returns the part of x, a vector laid out like Data, that belongs to parameter i.
func (all *parameters) of(x []float32, i int) []float32 {
	off := all.items[i].Off
	return x[off : off+all.size[i] : off+all.size[i]]
}

// Err returns the errors of the patterns in [Params.Match] and [Params.Except] that selected the
// parameters. If there are none, it returns the first error of the device that trains, or nil.
func (p *Params) Err() error {
	switch {
	case p == nil:
		return nil
	case p.err == nil && p.all != nil:
		return p.all.failed
	}
	return p.err
}

// Len returns the number of elements.
func (p *Params) Len() int {
	n := 0
	p.each(func(all *parameters, i int) { n += all.size[i] })
	return n
}

// Size returns the number of elements of Items[i], or 0 if i is out of range.
func (p *Params) Size(i int) int {
	if p == nil || i < 0 || i >= len(p.at) {
		return 0
	}
	return p.all.size[p.at[i]]
}

// Value returns the elements of Items[i], or nil if i is out of range or [Params.Fetch] fails.
func (p *Params) Value(i int) []float32 {
	if p == nil || i < 0 || i >= len(p.at) || p.Fetch() != nil {
		return nil
	}
	return p.all.of(p.all.data, p.at[i])
}

// Gradient returns the gradient of Items[i], or nil if i is out of range or [Params.Fetch] fails. It is
// meaningful only if [Params.Fresh] reports true.
func (p *Params) Gradient(i int) []float32 {
	if p == nil || i < 0 || i >= len(p.at) || p.Fetch() != nil {
		return nil
	}
	return p.all.of(p.all.grad, p.at[i])
}

// Fresh reports whether the gradient of Items[i] is present. It returns false if i is out of range.
func (p *Params) Fresh(i int) bool {
	return p != nil && i >= 0 && i < len(p.at) && p.all.there[p.at[i]]
}

// UsedUp reports whether no gradient of p is present. A trainer may then write gradients instead of
// adding to them.
func (p *Params) UsedUp() bool {
	used := true
	p.each(func(all *parameters, i int) { used = used && !all.there[i] })
	return used
}

// UseUp marks all gradients as absent, as an optimizer does after a step.
func (p *Params) UseUp() { p.each(func(all *parameters, i int) { all.there[i] = false }) }

// Renew marks all gradients as present. Call it after writing gradients into Grad.
func (p *Params) Renew() { p.each(func(all *parameters, i int) { all.there[i] = true }) }

// ZeroGrad zeroes all gradients and marks them as absent. [Params.Err] returns an error of the device.
func (p *Params) ZeroGrad() {
	if p != nil && p.all != nil && p.all.away {
		every := func(*parameters, int) bool { return true }
		p.spans(every, func(all *parameters, from, to int) { all.update("zero", nil, all.grad[from:to]) })
	} else {
		p.each(func(all *parameters, i int) { clear(all.of(all.grad, i)) })
	}
	p.UseUp()
}

// Accumulate adds grad, which is laid out like Grad, to the gradients that are present. It sets absent
// gradients to their part of grad. Afterwards all gradients are present. It returns an error if grad is
// shorter than the gradients of all parameters, and the errors of [Params.Fetch].
func (p *Params) Accumulate(grad []float32) error {
	if p == nil {
		return nil
	}
	if p.all != nil && len(grad) < len(p.all.grad) {
		return fmt.Errorf("params: %d gradients: parameters have %d elements", len(grad), len(p.all.grad))
	}
	if err := p.Fetch(); err != nil {
		return err
	}
	for _, i := range p.at {
		from, to := p.all.of(grad, i), p.all.of(p.all.grad, i)
		if !p.all.there[i] {
			copy(to, from)
			continue
		}
		for k, g := range from[:len(to)] {
			to[k] += g
		}
	}
	p.Renew()
	return nil
}

// accumulate is [Params.Accumulate] for gradients that a step has computed. If the parameters have
// a device, grad is on the device.
func (p *Params) accumulate(grad []float32) (err error) {
	if p.all.mirror == nil {
		return p.Accumulate(grad)
	}
	present := func(all *parameters, i int) bool { return all.there[i] }
	absent := func(all *parameters, i int) bool { return !all.there[i] }
	p.spans(present, func(all *parameters, from, to int) {
		err = cmp.Or(err, all.update("accumulate", nil, all.grad[from:to], grad[from:to]))
	})
	p.spans(absent, func(all *parameters, from, to int) {
		err = cmp.Or(err, all.assign(all.grad[from:to], grad[from:to]))
	})
	if err == nil {
		p.Renew()
	}
	return err
}

// isFinite reports whether the sum of the squares of grad is finite. If the parameters have a
// device, grad is on the device.
func (p *Params) isFinite(grad []float32) (is bool, err error) {
	is = true
	every := func(*parameters, int) bool { return true }
	p.spans(every, func(all *parameters, from, to int) {
		sum := 0.0
		if all.mirror == nil {
			sum = squares(grad[from:to])
		} else if s, failed := all.mirror.Squares(grad[from:to]); failed != nil {
			err = cmp.Or(err, all.fail(failed))
		} else {
			sum = s
		}
		is = is && sum-sum == 0
	})
	return is, err
}

// Bind reserves the parameters for an optimizer. It returns the errors of the patterns that selected the
// parameters. It also returns an error if there are no parameters or another optimizer holds one of them.
// After an error, nothing is reserved.
func (p *Params) Bind() error {
	if p == nil {
		return errors.New("params: none given")
	}
	if p.err != nil {
		return p.err
	}
	if len(p.at) == 0 {
		return errors.New("params: none to train")
	}
	var errs []error
	for _, i := range p.at {
		if p.all.bound[i] {
			errs = append(errs, fmt.Errorf("params: %.100q: another optimizer has it", p.all.items[i].Name))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for _, i := range p.at {
		p.all.bound[i] = true
	}
	return nil
}

// Release undoes Bind: another optimizer may bind the parameters.
func (p *Params) Release() { p.each(func(all *parameters, i int) { all.bound[i] = false }) }

// State implements [Stater]. It registers the elements of each parameter by the parameter's name.
func (p *Params) State(s *State) {
	if err := p.Fetch(); err != nil {
		s.fail(err)
	}
	p.each(func(all *parameters, i int) {
		StateTensor(s, all.items[i].Name, all.of(all.data, i), all.items[i].Shape...)
	})
}

// String returns a table with the name, type and number of elements of each parameter. The last line has
// the number of parameters and the number of all their elements.
func (p *Params) String() string {
	if p == nil {
		return "0 parameters\n"
	}
	rows := make([][3]string, len(p.at), len(p.at)+1)
	for k, i := range p.at {
		it := p.all.items[i]
		rows[k] = [3]string{it.Name, formatType("f32", it.Shape), strconv.Itoa(p.all.size[i])}
	}
	rows = append(rows, [3]string{strconv.Itoa(len(p.at)) + " parameters", "", strconv.Itoa(p.Len())})
	var width [3]int
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&b, "%-*s  %-*s  %*s\n", width[0], row[0], width[1], row[1], width[2], row[2])
	}
	return b.String()
}
