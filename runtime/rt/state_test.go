package rt

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// progress is a part with a variable of each kind.
type progress struct {
	mean  []float32
	sums  []float64
	bits  []uint8
	done  []bool
	steps int64
	seed  uint64
	text  string // held in bits in a file
	log   string

	refuse error // the log that is loaded
	fail   error
}

func (c *progress) State(s *State) {
	StateTensor(s, "mean", c.mean, 2, len(c.mean)/2)
	StateTensor(s, "sums", c.sums, len(c.sums))
	StateTensor(s, "bits", c.bits, len(c.bits))
	StateTensor(s, "done", c.done, len(c.done))
	StateScalar(s, "steps", &c.steps)
	StateScalar(s, "seed", &c.seed)
	StateBytes(s, "log",
		func() ([]byte, error) { return []byte(c.log), c.fail },
		func(saved []byte) (func(), error) { return func() { c.log = string(saved) }, c.refuse })
	StateFunc(s,
		func() error { copy(c.bits, c.text); return c.fail },
		func() error { c.text = string(c.bits); return c.fail })
}

func newProgress() *progress {
	return &progress{mean: make([]float32, 4), sums: make([]float64, 3), bits: make([]uint8, 5), done: make([]bool, 2)}
}

// fill gives it values, NaNs of several kinds among them.
func (c *progress) fill() {
	copy(c.mean, []float32{1.5, math.Float32frombits(0x7fc01234), math.Float32frombits(0x80000000), math.Float32frombits(1)})
	copy(c.sums, []float64{math.Pi, math.Inf(-1), math.Float64frombits(0x7ff0000000000001)})
	c.done[1], c.steps, c.seed, c.text = true, -3, 1<<63+1, "hello"
	c.log = "one\ntwo"
}

// bytesOfState returns the file that holds the parts.
func bytesOfState(t testing.TB, parts map[string]Stater) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state")
	if err := SaveState(path, parts); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.safetensors")
	a, p := newProgress(), trained(t)
	a.fill()
	parts := map[string]Stater{"count": a, "model": p}
	if err := SaveState(path, parts); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("%v lie beside the file", entries)
	}
	b, q := newProgress(), trained(t)
	clear(q.Data)
	if err := LoadState(path, map[string]Stater{"count": b, "model": q}); err != nil {
		t.Fatal(err)
	}
	if b.text != "hello" || b.log != a.log || b.steps != -3 || q.Value(2)[3] != 35 || q.Data[10] != 0 {
		t.Errorf("restored %+v, %v", b, q.Data)
	}
	if !bytes.Equal(bytesOfState(t, map[string]Stater{"count": b, "model": q}), bytesOfState(t, parts)) {
		t.Error("restored variables make another file")
	}
	t.Run("some parts", func(t *testing.T) {
		q := trained(t)
		clear(q.Data)
		if err := LoadState(path, map[string]Stater{"model": q}); err != nil || q.Data[5] != 5 {
			t.Error(err, q.Data)
		}
	})
	t.Run("any bits", func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			c, d := newProgress(), newProgress()
			for i := range c.mean {
				c.mean[i] = math.Float32frombits(rapid.Uint32().Draw(r, "bits"))
			}
			if err := SaveState(path, map[string]Stater{"c": c}); err != nil {
				r.Fatal(err)
			}
			if err := LoadState(path, map[string]Stater{"c": d}); err != nil {
				r.Fatal(err)
			}
			for i := range c.mean {
				if math.Float32bits(c.mean[i]) != math.Float32bits(d.mean[i]) {
					r.Errorf("%x became %x", math.Float32bits(c.mean[i]), math.Float32bits(d.mean[i]))
				}
			}
		})
	})
}

func TestStatesThatDoNotFit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	a := newProgress()
	a.fill()
	if err := SaveState(path, map[string]Stater{"a": a, "b": trained(t)}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-1] ^= 1
	for _, tt := range []struct {
		name string
		file []byte
		load map[string]Stater
		want string
	}{
		{"cut short", whole[:len(whole)-1], nil, "data section has"},
		{"empty", nil, nil, "file has 0 bytes"},
		{"a bit flipped", flipped, nil, "digest of the contents is"},
		{"a file of weights", encodeWeights(t, everyKind()), map[string]Stater{"a": newProgress()}, `"a/mean": f32[2,2] expected, file has no such tensor`},
		{"a part that is missing", whole, map[string]Stater{"c": trained(t)}, `"c/scale": f32[] expected, file has no such tensor`},
		{"another shape", whole, map[string]Stater{"a": &progress{mean: make([]float32, 4), sums: make([]float64, 2), bits: make([]uint8, 5), done: make([]bool, 2)}},
			`"a/sums": f64[2] expected, file has f64[3]`},
		{"more than there is", whole, map[string]Stater{"b": trained(t).Match("conv1")}, `"b/scale": not among the variables of "b"`},
		{"a nil part", whole, map[string]Stater{"a": nil}, `part "a" is nil`},
		{"a nil pointer", whole, map[string]Stater{"a": (*progress)(nil)}, `part "a": panic: `},
		{"no function that restores", whole, map[string]Stater{"a": textless{}}, `"a/log": no function that restores it`},
		{"a name with a slash", whole, map[string]Stater{"a/b": a}, `part "a/b": not a name`},
		{"an odd variable", whole, map[string]Stater{"a": odd{}}, "data has 0"},
		{"a text that is refused", whole, map[string]Stater{"a": func() *progress { c := newProgress(); c.refuse = errors.New("no log"); return c }()}, `"a/log": no log`},
		{"what takes over fails", whole, map[string]Stater{"a": func() *progress { c := newProgress(); c.fail = errors.New("full"); return c }()}, "a: full"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state")
			if err := os.WriteFile(path, tt.file, 0o600); err != nil {
				t.Fatal(err)
			}
			untouched := newProgress()
			if tt.load == nil {
				tt.load = map[string]Stater{"a": untouched}
			}
			err := LoadState(path, tt.load)
			if err == nil || !strings.HasPrefix(err.Error(), "load state: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
			if untouched.steps != 0 || untouched.mean[0] != 0 {
				t.Error("a part has changed")
			}
		})
	}
	t.Run("one that fits beside one that does not", func(t *testing.T) {
		fits := newProgress()
		err := LoadState(path, map[string]Stater{"a": fits, "c": trained(t)})
		if err == nil || fits.steps != 0 || fits.mean[0] != 0 {
			t.Errorf("error %v, part %+v", err, fits)
		}
	})
	t.Run("no file", func(t *testing.T) {
		if err := LoadState(filepath.Join(dir, "none"), nil); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	})
	t.Run("saving in vain leaves the file", func(t *testing.T) {
		for want, parts := range map[string]map[string]Stater{
			"save state: weights: \"a/steps\": tensor: shape [] has 1 elements: data has 0\nweights: \"a/twice\": name appears twice": {"a": odd{}},
			"save state: b: full":                             {"b": &progress{fail: errors.New("full")}},
			`save state: part "": not a name without slashes`: {"": trained(t)},
			`save state: part "p": panic: runtime error: invalid memory address or nil pointer dereference`: {"p": (*progress)(nil)},
			`save state: weights: "t/log": no function that saves it`:                                       {"t": textless{}},
		} {
			wantError(t, SaveState(path, parts), want)
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, whole) {
			t.Error("the file has changed")
		}
	})
}

// textless registers a text without functions.
type textless struct{}

func (textless) State(s *State) { StateBytes(s, "log", nil, nil) }

// odd registers variables without memory.
type odd struct{}

func (odd) State(s *State) {
	StateScalar[int64](s, "steps", nil)
	StateTensor(s, "twice", []bool{true}, 1)
	StateTensor(s, "twice", []bool{true}, 1)
}
