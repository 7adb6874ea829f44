// Package record knows the file in which a described model reaches burngen: the
// program that ran the description writes it, the generator reads it. It knows
// neither how descriptions are written (package nn) nor how they are run (package
// gen).
//
// The file begins with the line [Header]. Sections follow, each a line "NAME BYTES"
// and so many bytes: "about", what [Model] holds beside the module, as JSON; "ir", the
// module's text form; "data", the elements that the text leaves out, as safetensors.
package record

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

// Header is the first line of a file. Its number changes with the format.
const Header = "burngen ir 1"

// Model is a described model.
type Model struct {
	// Module has a function for each marked method, whose parameters and results are
	// named as Go names them: after its parameters and named results, or the fields of
	// the struct that it takes, in snake case. Its weights are the parameters and
	// buffers that some function loads or that the description holds, in the order of
	// the fields; they have data where Init is [rt.InitGiven].
	Module *ir.Module `json:"-"`
	// Weights describe those of Module, in their order.
	Weights []Weight
	// Methods are in the order of the description.
	Methods []Method
	// States are what calls leave to the next, by name.
	States []State `json:",omitempty"`
	// Structure is the model as [nn.Describe] prints it.
	Structure string
}

// Weight is a parameter or a buffer.
type Weight struct {
	// Name is the path of fields to it, joined by dots: "layers.0.attn.q_proj.weight".
	Name string
	// Aliases are further paths to it, which a file of weights may name it by too.
	Aliases []string `json:",omitempty"`
	// Buffer is set where it is saved but not trained, such as running statistics.
	Buffer bool `json:",omitempty"`
	// Frozen is set where the description says that it is not trained.
	Frozen bool `json:",omitempty"`
	// Init says how it begins.
	Init rt.Init
	// Pos is where it was made, as file:line.
	Pos string
}

// Method is a marked method.
type Method struct {
	// Name is the method's, and Func that of its function in the module: the snake
	// case of Name.
	Name, Func string
	// Loss is set where it is trained: its first result is a float of one element.
	Loss bool `json:",omitempty"`
	// Pos is where it is marked, as file:line:column.
	Pos string
}

// State is a tensor that a call leaves to the next. Each function that reads or sets
// it has a parameter of this name, its value before the call, behind the method's own,
// and a result of this name, that after the call.
type State struct {
	Name string
	// Type may have symbols: those of the functions.
	Type string
	// Methods are the functions that have it.
	Funcs []string
}

// maxText is the number of elements up to which a constant stands in the text.
const maxText = 256

// Names that elements have in the section "data".
const (
	givenPrefix    = "given/"
	constantPrefix = "constant/"
)

// WriteTo writes the file.
func (m *Model) WriteTo(w io.Writer) (int64, error) {
	data := rt.NewWeights()
	for _, x := range m.Module.Weights {
		if x.Data != nil {
			shape, _ := x.Type.Static()
			data.AddRaw(givenPrefix+x.Name, x.Type.DType.String(), shape, x.Data)
		}
	}
	text := m.withoutConstants(data).String()
	about, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return 0, err
	}
	var elements bytes.Buffer
	if _, err := data.WriteTo(&elements); err != nil {
		return 0, err
	}
	var out bytes.Buffer
	fmt.Fprintln(&out, Header)
	for _, s := range []struct {
		name string
		text []byte
	}{{"about", about}, {"ir", []byte(text)}, {"data", elements.Bytes()}} {
		fmt.Fprintln(&out, s.name, len(s.text))
		out.Write(s.text)
	}
	return out.WriteTo(w)
}

// withoutConstants returns the module with large constants moved to data: they are
// loads of weights that have no declaration elsewhere.
func (m *Model) withoutConstants(data *rt.Weights) *ir.Module {
	c := m.Module.Clone()
	for _, f := range c.Funcs {
		for n := range f.All() {
			k, ok := n.Op.(ir.Constant)
			if !ok || k.Value.Stored() <= maxText {
				continue
			}
			name := constantPrefix + strconv.Itoa(len(c.Weights))
			data.AddRaw(name, k.Value.DType.String(), k.Value.Shape, k.Value.Bytes())
			c.Weights = append(c.Weights, &ir.Weight{Name: name, Type: k.Value.Type()})
			n.Op = ir.Load{Name: name, Type: k.Value.Type()}
		}
	}
	return c
}

// Read reads a file. Everything in it is checked: sizes, the module, and that what
// stands beside it fits.
func Read(r io.Reader) (*Model, error) {
	b := bufio.NewReader(r)
	head, err := b.ReadString('\n')
	if err != nil || head != Header+"\n" {
		return nil, fmt.Errorf("the file begins with %q, not with %q: the module that the description is in needs another version of burngen", strings.TrimSpace(head), Header)
	}
	m := &Model{}
	about, err := section(b, "about")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(about, m); err != nil {
		return nil, fmt.Errorf("section about: %w", err)
	}
	text, err := section(b, "ir")
	if err != nil {
		return nil, err
	}
	if m.Module, err = ir.Parse(string(text), op.Set); err != nil {
		return nil, fmt.Errorf("section ir: %w", err)
	}
	elements, err := section(b, "data")
	if err != nil {
		return nil, err
	}
	data := rt.ParseWeights(elements)
	if err := data.Err(); err != nil {
		return nil, fmt.Errorf("section data: %w", err)
	}
	if err := m.takeData(data); err != nil {
		return nil, err
	}
	return m, m.check()
}

// section reads the bytes of a section.
func section(b *bufio.Reader, name string) ([]byte, error) {
	line, err := b.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("section %s is missing", name)
	}
	found, length, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	n, err := strconv.ParseInt(length, 10, 64)
	if err != nil || n < 0 || found != name {
		return nil, fmt.Errorf("section %s expected, not %q", name, line)
	}
	var text bytes.Buffer // grows as far as there are bytes
	if got, err := io.Copy(&text, io.LimitReader(b, n)); err != nil || got != n {
		return nil, fmt.Errorf("section %s: %d of %d bytes", name, got, n)
	}
	return text.Bytes(), nil
}

// takeData gives weights their elements and makes constants of the loads of others.
func (m *Model) takeData(data *rt.Weights) error {
	constants := map[string]*ir.Tensor{}
	var weights []*ir.Weight
	for _, w := range m.Module.Weights {
		name := givenPrefix + w.Name
		constant := strings.HasPrefix(w.Name, constantPrefix)
		if constant {
			name = w.Name
		}
		info, ok := data.Info(name)
		if ok && info.String() != w.Type.String() {
			return fmt.Errorf("data %q is %s, not %s", name, info, w.Type)
		}
		switch {
		case ok:
			w.Data = data.Raw(name)
		case constant:
			return fmt.Errorf("data %q is missing", name)
		}
		if !constant {
			weights = append(weights, w)
			continue
		}
		t, err := w.Tensor()
		if err != nil {
			return err
		}
		constants[w.Name] = t
	}
	m.Module.Weights = weights
	for _, f := range m.Module.Funcs {
		for n := range f.All() {
			if l, ok := n.Op.(ir.Load); ok && constants[l.Name] != nil {
				n.Op = ir.Constant{Value: constants[l.Name]}
			}
		}
	}
	return nil
}

// check reports what of the model does not fit the module.
func (m *Model) check() error {
	if len(m.Weights) != len(m.Module.Weights) {
		return fmt.Errorf("%d weights are described, the module has %d", len(m.Weights), len(m.Module.Weights))
	}
	for i, w := range m.Weights {
		x := m.Module.Weights[i]
		if w.Name != x.Name {
			return fmt.Errorf("weight %d is %q, in the module %q", i, w.Name, x.Name)
		}
		if given := w.Init.Kind == rt.InitGiven; given != (x.Data != nil) {
			return fmt.Errorf("weight %q begins as %q, with data: %t", w.Name, w.Init.Kind, x.Data != nil)
		}
	}
	for _, k := range m.Methods {
		if m.Module.Func(k.Func) == nil {
			return fmt.Errorf("method %s: no function @%s", k.Name, k.Func)
		}
	}
	return nil
}

// Text returns what tells one recording from another: the file without the elements of
// weights.
func (m *Model) Text() (string, error) {
	data := rt.NewWeights()
	text := m.withoutConstants(data).String()
	about, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	if _, err := data.WriteTo(sum); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s\n%s%x\n", text, about, sum.Sum(nil)), nil
}
