package rt

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Param is a tensor that is trained.
type Param struct {
	Name  string // path, as in PyTorch: "layers.0.attn.weight"
	Shape []int
	Off   int // of its first element, in Data and in Grad
}

// Params are the parameters of a model that is trained, or some of them: views that
// [Params.Match] and [Params.Except] return share the memory of all. A trainer adds
// to the gradients, an optimizer uses them up.
//
// Of every parameter's gradient it is known whether it is there. It is not at
// first, nor after an optimizer has used it up or [Params.ZeroGrad] has dropped it:
// what Grad holds then means nothing, optimizers leave the parameter as it is, and
// what a trainer adds next replaces it. So nobody has to zero gradients, and a
// parameter that no loss depends on does not decay.
//
// Fields are for reading; elements of Data and Grad may be written. A nil Params has
// no parameters. Params are not for several goroutines at once.
type Params struct {
	Items      []Param
	Data, Grad []float32 // of all parameters, also in a view

	all *parameters
	at  []int // of Items in all
	err error
}

// parameters are what views share.
type parameters struct {
	items      []Param
	size       []int // elements
	data, grad []float32
	there      []bool // the gradient is
	bound      []bool // to an optimizer
}

// NewParams returns parameters of the given names, shapes and places, in zeroed
// memory that begins at a 64-byte boundary. Errors, all of them at once: a name
// that is empty or appears twice, a shape that is none, places that overlap or are
// not in the order of the list, more memory than [ArenaLimit].
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

// view returns some of the parameters.
func (all *parameters) view(at []int) *Params {
	p := &Params{Data: all.data, Grad: all.grad, all: all, at: at}
	for _, i := range at {
		p.Items = append(p.Items, all.items[i])
	}
	return p
}

// each calls f with the parameters' numbers among all.
func (p *Params) each(f func(all *parameters, i int)) {
	if p == nil {
		return
	}
	for _, i := range p.at {
		f(p.all, i)
	}
}

// of is the part of a vector like Data that is parameter i's.
func (all *parameters) of(x []float32, i int) []float32 {
	off := all.items[i].Off
	return x[off : off+all.size[i] : off+all.size[i]]
}

// Err returns what went wrong in choosing the parameters: a pattern that matches
// none, or is not a pattern.
func (p *Params) Err() error {
	if p == nil {
		return nil
	}
	return p.err
}

// Len returns the number of elements.
func (p *Params) Len() int {
	n := 0
	p.each(func(all *parameters, i int) { n += all.size[i] })
	return n
}

// Value returns the elements of parameter i of Items, nil if there is none.
func (p *Params) Value(i int) []float32 {
	if p == nil || i < 0 || i >= len(p.at) {
		return nil
	}
	return p.all.of(p.all.data, p.at[i])
}

// Gradient returns the gradient of parameter i of Items, which means nothing unless
// it is there, see [Params.Fresh]; nil if there is no parameter i.
func (p *Params) Gradient(i int) []float32 {
	if p == nil || i < 0 || i >= len(p.at) {
		return nil
	}
	return p.all.of(p.all.grad, p.at[i])
}

// Fresh reports whether the gradient of parameter i of Items is there.
func (p *Params) Fresh(i int) bool {
	return p != nil && i >= 0 && i < len(p.at) && p.all.there[p.at[i]]
}

// UsedUp reports whether the gradient of no parameter is there: a trainer may then
// write gradients where it would have to add.
func (p *Params) UsedUp() bool {
	used := true
	p.each(func(all *parameters, i int) { used = used && !all.there[i] })
	return used
}

// UseUp marks all gradients as not there.
func (p *Params) UseUp() { p.each(func(all *parameters, i int) { all.there[i] = false }) }

// Renew marks all gradients as there. Who has written them into Grad calls it.
func (p *Params) Renew() { p.each(func(all *parameters, i int) { all.there[i] = true }) }

// ZeroGrad drops the gradients: it zeroes them and marks them as not there.
func (p *Params) ZeroGrad() {
	p.each(func(all *parameters, i int) { clear(all.of(all.grad, i)) })
	p.UseUp()
}

// Accumulate adds gradients, which lie in grad as they do in Grad, to those that are
// there and puts them in the place of those that are not; then all are there. Error:
// grad is shorter than Grad.
func (p *Params) Accumulate(grad []float32) error {
	if p == nil {
		return nil
	}
	if p.all != nil && len(grad) < len(p.all.grad) {
		return fmt.Errorf("params: %d gradients: parameters have %d elements", len(grad), len(p.all.grad))
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

// Bind reserves the parameters for an optimizer. Errors: p.Err, no parameters, and
// one that another optimizer has, unless that was released; nothing is reserved
// then.
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

// Release ends what Bind began.
func (p *Params) Release() { p.each(func(all *parameters, i int) { all.bound[i] = false }) }

// State registers the parameters' elements by their names.
func (p *Params) State(s *State) {
	p.each(func(all *parameters, i int) {
		StateTensor(s, all.items[i].Name, all.of(all.data, i), all.items[i].Shape...)
	})
}

// String is a table of the parameters: name, type, number of elements, and the
// total.
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
