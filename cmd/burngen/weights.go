package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/pytorch"
	"github.com/burngen/burngen/runtime/record"
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"
)

// nameFlags declares the flags that say what weights are called.
func nameFlags(flags *flag.FlagSet) *keys.Map {
	m := &keys.Map{}
	flags.StringVar(&m.Top, "top-key", "", "keep the tensors below `KEY`, without it: model_state_dict")
	flags.Func("remap", "rewrite names by `'REGEX=>REPLACEMENT'`, with $1 for groups; may be repeated", func(text string) error {
		r, err := keys.ParseRule(text)
		m.Rules = append(m.Rules, r)
		return err
	})
	flags.BoolVar(&m.Renumber, "renumber", false, "close gaps in indices: fc.0, fc.2, fc.4 become fc.0, fc.1, fc.2")
	flags.Func("transpose", "transpose the matrices whose names match `REGEX`; may be repeated", func(text string) error {
		re, err := regexp.Compile(text)
		m.Transpose = append(m.Transpose, re)
		return err
	})
	return m
}

const (
	safetensorsExt = ".safetensors"
	indexEnd       = ".safetensors.index.json"
)

// torchExts are the endings of files that PyTorch saved, and recordExts those of records
// of burngen and burn, which may be compressed. What is in a ".bin" says whose it is.
var (
	torchExts  = map[string]bool{".pt": true, ".pth": true, ".bin": true, ".ckpt": true, ".jit": true, ".tar": true}
	recordExts = map[string]bool{".mpk": true, ".bpk": true, ".json": true, ".bin": true}
)

// isRecord reports whether a file may be a record, by its name.
func isRecord(file string) bool {
	name := strings.ToLower(file)
	return recordExts[filepath.Ext(strings.TrimSuffix(name, ".gz"))]
}

// isWeights reports whether a file is one of weights, by its name.
func isWeights(file string) bool {
	ext := strings.ToLower(filepath.Ext(file))
	return ext == safetensorsExt || torchExts[ext] || strings.HasSuffix(file, indexEnd) || isRecord(file)
}

// openWeights opens a weights file of any kind.
func openWeights(file string) (w *rt.Weights, err error) {
	switch {
	case strings.HasSuffix(file, indexEnd):
		w = rt.OpenWeightsIndex(file)
		err = w.Err()
	case strings.EqualFold(filepath.Ext(file), safetensorsExt):
		w = rt.OpenWeightsFile(file)
		err = w.Err()
	case isRecord(file):
		w, err = record.Open(file)
		if errors.Is(err, record.ErrUnknown) && strings.EqualFold(filepath.Ext(file), ".bin") {
			w, err = pytorch.Open(file)
		}
	default:
		w, err = pytorch.Open(file)
	}
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	return w, nil
}

// inspectWeights prints the tensors of a weights file, and what names make of theirs.
func inspectWeights(out io.Writer, file string, names keys.Map) error {
	weights, err := openWeights(file)
	if err != nil {
		return err
	}
	defer weights.Close()
	became, err := names.Names(weights.Names())
	if err != nil {
		return err
	}
	var total int64
	for name := range became {
		info, _ := weights.Info(name)
		total += info.Bytes
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s: %d tensors, %s\n", filepath.Base(file), len(became), gen.Bytes(total))
	for _, name := range weights.Names() {
		now, kept := became[name]
		if !kept {
			continue
		}
		info, _ := weights.Info(name)
		fmt.Fprintf(w, "  %q\t", name)
		if !names.IsZero() {
			fmt.Fprintf(w, "%q\t", now)
		}
		fmt.Fprintf(w, "%s\t%s\n", info, gen.Bytes(info.Bytes))
	}
	return w.Flush()
}

var convertCommand = command{
	name:  "convert",
	usage: "FILE OUT.safetensors [flags]",
	short: "writes the weights in a file (.pt, .pth, .bin, .safetensors, .safetensors.index.json, .mpk, .bpk, .json) as safetensors, in one file or several",
	examples: `  burngen convert whisper.pt whisper.safetensors -top-key model_state_dict
  burngen convert llama.safetensors.index.json llama.safetensors -dtype bf16
  burngen convert llama.pt llama.safetensors.index.json -shard 2000
  burngen convert burn.mpk.gz model.safetensors -transpose 'fc\d\.weight'
`,
	define: defineConvert,
}

func defineConvert(flags *flag.FlagSet) func(*streams, []string) error {
	names := nameFlags(flags)
	dtype := flags.String("dtype", "", "store floats as `TYPE`: f64, f32, f16 or bf16")
	shard := flags.Int64("shard", 5000, "of an index: at most `N` MB in a file")
	return func(s *streams, files []string) error {
		switch {
		case len(files) != 2:
			return usagef("a weights file and one to write expected, %d arguments given", len(files))
		case !strings.EqualFold(filepath.Ext(files[1]), safetensorsExt) && !strings.HasSuffix(files[1], indexEnd):
			return usagef("%s: a name that ends in %s or %s expected", files[1], safetensorsExt, indexEnd)
		case *shard <= 0 || *shard > math.MaxInt64/1_000_000:
			return usagef("-shard %d: a number of MB expected", *shard)
		case *dtype != "" && !rt.Convertible("f32", *dtype):
			return usagef("-dtype %s: f64, f32, f16 or bf16 expected", *dtype)
		}
		weights, err := openWeights(files[0])
		if err != nil {
			return err
		}
		if weights, err = names.Apply(weights); err != nil {
			return err
		}
		defer weights.Close()
		if *dtype != "" {
			if err := weights.ConvertFloats(*dtype); err != nil {
				return err
			}
		}
		if strings.HasSuffix(files[1], indexEnd) {
			err = weights.SaveIndex(files[1], *shard*1_000_000)
		} else {
			err = weights.Save(files[1])
		}
		if err != nil {
			return err
		}
		var total int64
		for _, name := range weights.Names() {
			info, _ := weights.Info(name)
			total += info.Bytes
		}
		fmt.Fprintf(s.out, "wrote %s: %d tensors, %s\n", filepath.Base(files[1]), len(weights.Names()), gen.Bytes(total))
		return nil
	}
}
