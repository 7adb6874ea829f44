// Package record reads and writes the file in which a described model reaches burngen. The program that runs the
// description writes the file, and the generator reads it. The package does not know how descriptions are written
// (package nn) or run (package gen).
//
// The file starts with the line [Header]. Sections follow. Each section is a line "NAME BYTES" and that many bytes.
// Section "ir" is the module in text form. Section "data" holds the large elements that this text omits, as
// safetensors. Section "about" is the rest of [Model] as JSON.
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

// Header is the first line of a file. Its number increases when the format changes.
const Header = "burngen ir 1"

// Model is a model that a Go struct describes.
type Model struct {
	// Module has one function for each marked method. The function's parameters are named in snake
	// case after the method's parameters or the fields of a struct parameter, and results likewise.
	// The weights of Module are the parameters and buffers that a function loads or a field of the
	// struct holds, in the order of the fields. They have data if Init is [rt.InitGiven].
	Module *ir.Module `json:"-"`
	// Weights describes the weights of Module, in their order.
	Weights []Weight
	// Methods are in the order of the description.
	Methods []Method
	// States are the tensors that calls pass on, sorted by name.
	States []State `json:",omitempty"`
	// Structure is the output of [nn.Describe].
	Structure string
}

// Weight is a parameter or a buffer.
type Weight struct {
	// Name is the path of fields, joined by dots: "layers.0.attn.q_proj.weight".
	Name string
	// Aliases are further paths, which a weights file may use too.
	Aliases []string `json:",omitempty"`
	// Buffer marks a tensor that is saved but not trained, such as running statistics.
	Buffer bool `json:",omitempty"`
	// Frozen marks a parameter that the description excludes from training.
	Frozen bool `json:",omitempty"`
	// Init is the initialisation.
	Init rt.Init
	// Pos is the position of its creation, as file:line.
	Pos string
}

// Method is a method marked with a directive.
type Method struct {
	// Name is the name of the method. Func is the name of its function in the module: Name in snake
	// case.
	Name, Func string
	// Loss marks a method that is trained. Its first result is a float scalar.
	Loss bool `json:",omitempty"`
	// Pos is the position of the mark, as file:line:column.
	Pos string
}

// State is a tensor that one call passes to the next. A function that uses the state has one more parameter and one
// more result, both with the state's name. The parameter is the last one, and holds the value before the call. The
// result holds the value after the call.
type State struct {
	Name string
	// Type may have symbols of the functions.
	Type string
	// Funcs are the functions that use it.
	Funcs []string
}

// maxText is the largest number of elements of a constant that is written in the text. Larger constants are written
// to section "data".
const maxText = 256

// Prefixes of names in the section "data".
const (
	givenPrefix    = "given/"
	constantPrefix = "constant/"
)

// WriteTo writes the model to w as a file that [Read] reads, and returns the number of bytes.
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

// withoutConstants returns the module without large constants. Each large constant moves to data, and a load of a
// new weight takes its place. The declaration of this weight has no elements.
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

// Read reads a file that [Model.WriteTo] has written. It checks all sizes, verifies the module, and checks that the
// rest of the file agrees with the module.
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
	var text bytes.Buffer // grows only as bytes arrive
	if got, err := io.Copy(&text, io.LimitReader(b, n)); err != nil || got != n {
		return nil, fmt.Errorf("section %s: %d of %d bytes", name, got, n)
	}
	return text.Bytes(), nil
}

// takeData sets the elements of weights. A load of a weight that the module does not declare becomes a constant
// again.
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

// Text returns a text that is the same for equal recordings. It is the contents of the file, but with a digest of
// the elements of weights instead of the elements.
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
