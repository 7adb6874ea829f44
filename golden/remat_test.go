package golden

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/ir/nn"
	"github.com/burngen/burngen/ir/pass"
	"github.com/burngen/burngen/onnx"
)

// stepUnder compiles a model that trains and takes a step on the sample. Missing weights are drawn.
// It returns the results of the step and the size of the arena.
func stepUnder(t *testing.T, src *gen.Source, o gen.Options) (results []any, size int64) {
	t.Helper()
	o.Train = true
	m, err := gen.CompileSource(src, o)
	if err != nil {
		t.Fatal(err)
	}
	step := m.Training.Steps[0]
	args, shapes, err := gen.SampleInputs(step.IR)
	if err != nil {
		t.Fatal(err)
	}
	results, _, err = exec.New(step.Func, cpu.Target{}, exec.Weights(m.Raw)).Run(t.Context(), args, shapes)
	if err != nil {
		t.Fatal(err)
	}
	size, ok := step.Plan.Size.Int64()
	if !ok {
		t.Fatalf("the arena is %s", step.Plan.Size)
	}
	return results, size
}

// TestRecomputing takes steps of models with each mode of recomputation: none, memory-bound
// operators, all. The results have the same bits.
func TestRecomputing(t *testing.T) {
	paths, err := filepath.Glob("gradients/*.onnx")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no models: %v", err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".onnx")
		t.Run(name, func(t *testing.T) {
			src, err := onnx.Open(path, onnx.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s := gen.SourceOf(name, src.Module)
			s.Functions[0].Loss = true
			want, before := stepUnder(t, s, gen.Options{Remat: pass.RematNone})
			for _, remat := range []pass.Remat{pass.RematAuto, pass.RematAll} {
				got, size := stepUnder(t, s, gen.Options{Remat: remat})
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: other results:\n%.500s", remat, diff)
				}
				if size > before {
					t.Errorf("%s: the arena has %d bytes, %d before", remat, size, before)
				}
				before = size
			}
		})
	}
}

// chain is a CNN whose layers can be recomputed: normalisations, activations and dropout.
type chain struct {
	Layers nn.Sequential
	FC     nn.Linear
}

func (m *chain) Forward(x nn.Value) nn.Value { return m.FC.Forward(m.Layers.Forward(x).Flatten(1, -1)) }

// encoder is a transformer.
type encoder struct {
	Encoder nn.TransformerEncoder
	FC      nn.Linear
}

func (m *encoder) Forward(x nn.Value) nn.Value {
	return m.FC.Forward(m.Encoder.Forward(x, nn.Value{}).Mean(1).Squeeze(1))
}

// TestRecomputingSaves takes steps of models whose memory is mostly activations that are kept for
// the backward pass. The results have the same bits, and the arena is smaller the more is
// recomputed. With a limit of the arena, a step recomputes until it fits, or the error names the largest values.
func TestRecomputingSaves(t *testing.T) {
	for name, c := range map[string]struct {
		signature string
		model     func() nn.Layer
	}{
		"cnn": {"(f32[8,3,24,24], f32[8,10]) -> f32[]", func() nn.Layer {
			layers := nn.Sequential{nn.NewConv2d(3, 16, 3, nn.Padding(1))}
			for range 3 {
				layers = append(layers, nn.NewBatchNorm(16), nn.Activation(nn.ReLU), nn.NewDropout(0.25), nn.NewConv2d(16, 16, 3, nn.Padding(1)))
			}
			return &chain{append(layers, nn.Activation(nn.GELU), nn.NewMaxPool2d(2)), nn.NewLinear(16*12*12, 10)}
		}},
		"transformer": {"(f32[8,32,64], f32[8,10]) -> f32[]", func() nn.Layer {
			return &encoder{nn.NewTransformerEncoder(64, 4, 3, nn.FeedForward(128)), nn.NewLinear(64, 10)}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := nn.Record(func(r *nn.Recorder) {
				m := c.model()
				r.Model(m)
				r.Method(nn.Method{
					Name: "Loss", Loss: true, Pos: "model.go:1:1", Signature: func() string { return c.signature },
					Params: []string{"x", "target"}, Results: []string{"loss"},
				}, func(in []nn.Value) []nn.Value { return []nn.Value{nn.MSE(m.Forward(in[0]), in[1])} })
			})
			if err != nil {
				t.Fatal(err)
			}
			s, err := gen.FromRecord("net", "model.go", strings.Repeat("0", 64), nil, r)
			if err != nil {
				t.Fatal(err)
			}
			want, none := stepUnder(t, s, gen.Options{Remat: pass.RematNone})
			got, auto := stepUnder(t, s, gen.Options{Remat: pass.RematAuto})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("auto: other results:\n%.500s", diff)
			}
			got, all := stepUnder(t, s, gen.Options{Remat: pass.RematAll})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("all: other results:\n%.500s", diff)
			}
			if !(none > auto && auto > all) {
				t.Errorf("arenas of %d, %d and %d bytes for none, auto and all", none, auto, all)
			}
			t.Log(none, auto, all)

			limit := (auto + all) / 2 // more is recomputed than auto does by itself
			got, limited := stepUnder(t, s, gen.Options{Room: limit})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("within %d bytes: other results:\n%.500s", limit, diff)
			}
			if limited > limit || limited >= auto {
				t.Errorf("within %d bytes: an arena of %d bytes, and %d without a limit", limit, limited, auto)
			}
			_, err = gen.CompileSource(s, gen.Options{Train: true, Room: all / 2})
			tooLarge := regexp.MustCompile(`^model\.go: @step needs an arena of .+, and .+ are allowed; the largest of \d+ values that are in use at once: ("\w+" f32\[[\d,]+\] \d+ kB(, |$)){3}$`)
			if err == nil || !tooLarge.MatchString(err.Error()) {
				t.Errorf("within %d bytes: error %v", all/2, err)
			}
		})
	}
}
