package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
)

// manifest is ref/manifest.json.
type manifest struct {
	Cases []struct {
		Name       string
		Kind       string // "stream", or ""
		Inputs     entries
		Outputs    entries
		State      map[string]string
		FinalState entries `json:"final_state"`
	}
}

// entries are named tensors in the order of the file.
type entries []entry

type entry struct {
	Name        string `json:"-"`
	DType       string
	Dims        []int
	File        string
	Zeros       bool
	Gen         *generated
	Image       *picture `json:"image_u8"`
	Frames      int
	FramesFile  string `json:"frames_file"`
	StepsFile   string `json:"steps_file"`
	Head        *excerpt
	Strided     *excerpt
	Stats       *stats
	Strings     []string
	Unsupported string
}

type generated struct {
	Kind   string
	Lo, Hi float64
	Seed   uint32
}

// picture is an input computed from RGB bytes.
type picture struct {
	File          string
	H, W          int
	Order, Layout string
	Mean, Scale   [3]float64
}

// excerpt is a part of an output: its first elements, or the elements 0, Stride, 2·Stride, ….
type excerpt struct {
	File   string
	Stride int
}

type stats struct {
	Count, NaN int
	SumSq      number
	Min, Max   number
}

func (s *stats) magnitude() (rms, largest float64) {
	rms = math.Sqrt(float64(s.SumSq) / float64(max(s.Count, 1)))
	return rms, max(math.Abs(float64(s.Min)), math.Abs(float64(s.Max)))
}

// number is a float in JSON, including values that JSON has no literal for.
type number float64

// UnmarshalJSON implements [json.Unmarshaler]. It reads a number, a string such as "Infinity", or null
// for NaN.
func (n *number) UnmarshalJSON(data []byte) error {
	text := string(bytes.Trim(data, `"`))
	if text == "null" {
		text = "NaN"
	}
	f, err := strconv.ParseFloat(text, 64)
	*n = number(f)
	return err
}

// UnmarshalJSON implements [json.Unmarshaler]. It reads an object and keeps its order.
func (e *entries) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("an object of tensors expected")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var one entry
		if err := d.Decode(&one); err != nil {
			return err
		}
		one.Name = name.(string)
		*e = append(*e, one)
	}
	return nil
}

var dtypes = map[string]ir.DType{
	"float64": ir.F64, "float32": ir.F32, "float16": ir.F16, "bfloat16": ir.BF16,
	"int64": ir.I64, "int32": ir.I32, "int16": ir.I16, "int8": ir.I8, "int4": ir.I4,
	"uint64": ir.U64, "uint32": ir.U32, "uint16": ir.U16, "uint8": ir.U8, "uint4": ir.U4,
	"bool": ir.Bool, "string": ir.String,
}

func readManifest(dir string) (*manifest, error) {
	data, err := os.ReadFile(filepath.Join(dir, "ref", "manifest.json"))
	if err != nil {
		return nil, err
	}
	m := new(manifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("manifest.json: %w", err)
	}
	return m, nil
}

func (m *manifest) layers() []string {
	var names []string
	for _, c := range m.Cases {
		for _, o := range c.Outputs {
			if !slices.Contains(names, o.Name) {
				names = append(names, o.Name)
			}
		}
	}
	return names
}

func manifestTrials(dir string, p *ports) ([]trial, error) {
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(filepath.Join(dir, "ref"))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	r := &reader{root: root, ports: p}
	var out []trial
	for _, c := range m.Cases {
		t := trial{name: c.Name, calls: 1, inputs: make([]*onnx.Value, len(p.params)), frames: map[int]*ir.Tensor{}, state: map[int]int{}}
		if c.Kind != "" && c.Kind != "stream" {
			return nil, fmt.Errorf("%s: unknown kind %q", c.Name, c.Kind)
		}
		if err := r.inputs(&t, c.Inputs); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		for from, to := range c.State {
			i, j := p.result(from), p.param(to)
			if i < 0 || j < 0 {
				return nil, fmt.Errorf("%s: state %q → %q: no such output or input", c.Name, from, to)
			}
			t.state[i] = j
		}
		for _, last := range []bool{false, true} {
			list := c.Outputs
			if last {
				list = c.FinalState
			}
			for _, e := range list {
				w, ok, err := r.want(e, t.calls)
				if err != nil {
					return nil, fmt.Errorf("%s: output %q: %w", c.Name, e.Name, err)
				}
				if w.last = last; ok {
					t.wants = append(t.wants, w)
				}
			}
		}
		out = append(out, t)
	}
	return out, nil
}

type reader struct {
	root  *os.Root
	ports *ports
}

func (r *reader) inputs(t *trial, list entries) error {
	for _, e := range list {
		i := r.ports.param(e.Name)
		if i < 0 {
			// An input with an initializer is not a parameter.
			continue
		}
		v, err := r.input(e)
		if err != nil {
			return fmt.Errorf("input %q: %w", e.Name, err)
		}
		if e.FramesFile != "" {
			if e.Frames < 1 || len(t.frames) > 0 && t.calls != e.Frames {
				return fmt.Errorf("input %q: %d frames", e.Name, e.Frames)
			}
			t.frames[i], t.calls = v, e.Frames
			continue
		}
		t.inputs[i] = &onnx.Value{Tensor: v}
	}
	for i, v := range t.inputs {
		if v == nil && t.frames[i] == nil {
			return fmt.Errorf("no value for the input %q", r.ports.params[i].Name)
		}
	}
	return nil
}

const maxElems = 1 << 28

// input reads the argument that entry e of the manifest describes. If e has a file of frames, the first axis
// of the argument is the frames.
func (r *reader) input(e entry) (*ir.Tensor, error) {
	d, ok := dtypes[e.DType]
	if !ok {
		return nil, fmt.Errorf("unknown element type %q", e.DType)
	}
	if n, err := ir.CheckedLen(e.Dims); err != nil || n > maxElems {
		return nil, fmt.Errorf("shape %v: too large", e.Dims)
	}
	switch {
	case e.FramesFile != "":
		return r.tensor(e.FramesFile, d, append([]int{e.Frames}, e.Dims...))
	case e.File != "":
		return r.tensor(e.File, d, e.Dims)
	case e.Strings != nil:
		return texts(e)
	case e.Zeros:
		return ir.NewTensor(d, e.Dims...), nil
	case e.Image != nil:
		return r.image(e.Image, d, e.Dims)
	case e.Gen != nil && e.Gen.Kind == "murmur3":
		return draw(d, e.Dims, e.Gen.Lo, e.Gen.Hi, e.Gen.Seed)
	}
	return nil, fmt.Errorf("no values")
}

func texts(e entry) (*ir.Tensor, error) {
	n, err := ir.CheckedLen(e.Dims)
	if err != nil || n != len(e.Strings) {
		return nil, fmt.Errorf("%d strings for the shape %v", len(e.Strings), e.Dims)
	}
	t := ir.NewTensor(ir.String, e.Dims...)
	for i, s := range e.Strings {
		t.SetText(i, s)
	}
	return t, nil
}

func (r *reader) tensor(file string, d ir.DType, shape []int) (*ir.Tensor, error) {
	data, err := r.root.ReadFile(filepath.FromSlash(file))
	if err != nil {
		return nil, err
	}
	t, err := ir.DecodeTensor(d, shape, data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return t, nil
}

// image converts the bytes of a picture: element = (byte − mean) · scale, for each channel.
func (r *reader) image(p *picture, d ir.DType, shape []int) (*ir.Tensor, error) {
	if !d.IsFloat() || p.H < 1 || p.W < 1 || p.H > maxElems/p.W {
		return nil, fmt.Errorf("%d×%d pixels of %s", p.H, p.W, d)
	}
	px, err := r.root.ReadFile(filepath.FromSlash(p.File))
	if err != nil {
		return nil, err
	}
	t := ir.NewTensor(d, shape...)
	if len(px) != 3*p.H*p.W || t.Len() != len(px) {
		return nil, fmt.Errorf("%s: %d bytes for %d×%d pixels and %s", p.File, len(px), p.H, p.W, t.Type())
	}
	for i := range p.H * p.W {
		for c := range 3 {
			from, to := c, 3*i+c
			if p.Order == "BGR" {
				from = 2 - c
			}
			if p.Layout == "NCHW" {
				to = c*p.H*p.W + i
			}
			v := float64(float64(px[3*i+from])-p.Mean[c]) * p.Scale[c]
			t.SetFloat(to, float64(float32(v)))
		}
	}
	return t, nil
}

// want returns the expected value of an output. `calls` is the number of calls of the trial. ok is false if the
// reference does not contain the output, or if the model does not have the output.
func (r *reader) want(e entry, calls int) (w want, ok bool, err error) {
	w = want{name: e.Name, output: r.ports.result(e.Name), shape: e.Dims, stats: e.Stats}
	if e.Unsupported != "" || w.output < 0 {
		return w, false, nil
	}
	if w.dtype, ok = dtypes[e.DType]; !ok {
		return w, false, fmt.Errorf("unknown element type %q", e.DType)
	}
	n, err := ir.CheckedLen(e.Dims)
	if err != nil {
		return w, false, err
	}
	add := func(file string, stride int, shape ...int) {
		if err != nil || file == "" {
			return
		}
		var t *ir.Tensor
		if t, err = r.tensor(file, w.dtype, shape); err == nil {
			w.parts = append(w.parts, part{stride, t})
		}
	}
	if e.StepsFile != "" {
		w.shape = append([]int{calls}, e.Dims...)
		add(e.StepsFile, 1, w.shape...)
	}
	add(e.File, 1, e.Dims...)
	if e.Head != nil {
		size, statErr := r.root.Stat(filepath.FromSlash(e.Head.File))
		if statErr != nil {
			return w, false, statErr
		}
		add(e.Head.File, 1, int(size.Size())/max(w.dtype.Size(), 1))
	}
	if e.Strided != nil && e.Strided.Stride > 0 && n > 0 {
		add(e.Strided.File, e.Strided.Stride, (n-1)/e.Strided.Stride+1)
	}
	if e.Strings != nil {
		var t *ir.Tensor
		if t, err = texts(e); err == nil {
			w.parts = append(w.parts, part{1, t})
		}
	}
	return w, err == nil && (w.parts != nil || w.stats != nil), err
}
