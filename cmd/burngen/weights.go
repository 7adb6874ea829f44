package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/temporary"
	"github.com/burngen/burngen/internal/file"
	"github.com/burngen/burngen/pytorch"
	"github.com/burngen/burngen/runtime/record"
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"
)

// nameFlags declares the flags that select, rename and transpose weights.
func nameFlags(flags *flagSet) *keys.Options {
	o := &keys.Options{}
	flags.Func("top-key", "keep only the tensors below `KEY`, such as model_state_dict, and remove KEY from their names (default: all tensors)", func(text string) error { return keys.TopKey(text)(o) })
	flags.Var(each(func(text string) error { return keys.Remap(text)(o) }), "remap", "rewrite the names of tensors by `'REGEX=>REPLACEMENT'`, with $1 for groups")
	flags.BoolVar(&o.Map.Renumber, "renumber", false, "close gaps in indices: fc.0, fc.2, fc.4 become fc.0, fc.1, fc.2")
	flags.Var(each(func(text string) error { return keys.Transpose(text)(o) }), "transpose", "transpose the matrices whose names match `REGEX`")
	return o
}

// weightsFlags holds the flags for loading weights into a model.
type weightsFlags struct {
	// select and rename tensors
	names *keys.Options
	place string // "embed", "file" or ""
	// path, or "" for the model's own weights
	file string
}

// fileFlags declares the flags for loading weights from a file. If place is true, -weights can also
// choose where a package keeps its weights.
func fileFlags(flags *flagSet, place bool) *weightsFlags {
	w := &weightsFlags{}
	if place {
		flags.Var(each(w.setAny), "weights", "take the weights from a file, or choose where the package stores its weights, `FILE|embed|file`:\n"+
			"  FILE   replace the model's weights by the tensors of FILE ("+weightsNames+")\n"+
			"  embed  embed the package's weights in the program (default up to 512 MiB)\n"+
			"  file   store them in a file, which the program loads (default above 512 MiB)\nFILE may be given together with embed or file")
	} else {
		flags.Func("weights", "replace the model's weights by the tensors of `FILE` ("+weightsNames+") (default: the model's own weights)", w.setFile)
	}
	flags.section(ofWeights, func() {
		w.names = nameFlags(flags)
		flags.BoolVar(&w.names.Fit.AllowMissing, "allow-missing", false, "keep the model's own weight where FILE has no such tensor")
		flags.BoolVar(&w.names.Fit.AllowUnused, "allow-unused", false, "ignore tensors of FILE that the model does not have")
	})
	return w
}

// setAny sets w.place if text is "embed" or "file". It returns an error if w.place is set already. For other texts it
// calls setFile.
func (w *weightsFlags) setAny(text string) error {
	switch {
	case text != "embed" && text != "file":
		return w.setFile(text)
	case w.place != "":
		return fmt.Errorf("-weights %s is also given; use either embed or file", w.place)
	}
	w.place = text
	return nil
}

// setFile sets w.file. It returns an error if w.file is set already. text must be an existing file, or have the
// extension of a weights file; otherwise setFile returns an error.
func (w *weightsFlags) setFile(text string) error {
	if w.file != "" {
		return fmt.Errorf("-weights %s is also given; use one file, or an index of several files", w.file)
	}
	if _, err := os.Stat(text); err != nil && !namesWeights(text) {
		return fmt.Errorf("embed, file, or a weights file expected (" + weightsNames + ")")
	}
	w.file = text
	return nil
}

// open opens the weights file, if one is given, and sets it in o. The function `done` closes the file.
func (w *weightsFlags) open(flags *flagSet, o *gen.Options, s *streams) (done func(), err error) {
	if w.file == "" {
		if len(flags.given(ofWeights)) > 0 {
			return nil, usagef("%s needs -weights FILE", flags.given(ofWeights)[0])
		}
		return func() {}, nil
	}
	weights, err := openWeights(w.file)
	if err == nil {
		weights, err = withoutRefused(weights, w.file, s.err)
	}
	if err != nil {
		return nil, err
	}
	o.Foreign = &gen.Foreign{File: filepath.Base(w.file), Weights: weights, Keys: *w.names, InPlace: strings.EqualFold(filepath.Ext(w.file), safetensorsExt)}
	return func() { weights.Close() }, nil
}

func (w *weightsFlags) line() []string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, "-"+name+" "+quoted(value))
		}
	}
	add("weights", w.file)
	add("weights", w.place)
	add("top-key", w.names.Top)
	for _, r := range w.names.Rules {
		add("remap", r.String())
	}
	for _, re := range w.names.Map.Transpose {
		add("transpose", re.String())
	}
	for _, f := range []struct {
		name string
		is   bool
	}{{"renumber", w.names.Map.Renumber}, {"allow-missing", w.names.Fit.AllowMissing}, {"allow-unused", w.names.Fit.AllowUnused}} {
		if f.is {
			parts = append(parts, "-"+f.name)
		}
	}
	return parts
}

// quoted quotes a word for a shell if it needs quotes.
func quoted(word string) string {
	if strings.ContainsAny(word, " '\"$&|;<>()*?[]{}~#!`\\") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// weightsNames lists the extensions of weights files, for help and errors.
const weightsNames = ".safetensors, .pt, .pth, .bin, .mpk, .bpk, .json, or the .index.json of several files"

const (
	onnxExt        = ".onnx"
	safetensorsExt = ".safetensors"
	indexEnd       = ".safetensors.index.json"
	torchIndexEnd  = ".bin.index.json"
)

var (
	// torchExts has the extensions of PyTorch files.
	torchExts = map[string]bool{".pt": true, ".pth": true, ".bin": true, ".ckpt": true, ".jit": true, ".tar": true}
	// recordExts has the extensions of records of Burn and burngen. The name of a compressed record
	// also ends in .gz. A .bin file is a PyTorch file or a record, depending on its contents.
	recordExts = map[string]bool{".mpk": true, ".bpk": true, ".json": true, ".bin": true}
)

// isRecord reports whether a file may be a record, by its name.
func isRecord(path string) bool {
	name := strings.ToLower(path)
	return recordExts[filepath.Ext(strings.TrimSuffix(name, ".gz"))]
}

// isWeights reports whether a file is a weights file, by its name or its first bytes.
func isWeights(path string) bool {
	if namesWeights(path) {
		return true
	}
	switch formatOf(path) {
	case file.PyTorch, file.Safetensors, file.Pickle:
		return !strings.EqualFold(filepath.Ext(path), onnxExt)
	}
	return false
}

// namesWeights reports whether a path has the name of a weights file.
func namesWeights(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == safetensorsExt || torchExts[ext] || strings.HasSuffix(path, indexEnd) || isRecord(path)
}

// formatOf returns the format of a file by its first bytes, such as [file.PyTorch]. It is "" if the
// file does not exist or its format is unknown.
func formatOf(path string) string {
	head := file.Head(path)
	if head == nil {
		return ""
	}
	return file.Format(head)
}

// openWeights opens a weights file of any format.
func openWeights(path string) (w *rt.Weights, err error) {
	format := formatOf(path)
	ext := strings.ToLower(filepath.Ext(path))
	switch {
	case ext == onnxExt:
		return nil, fmt.Errorf("%s: an ONNX model, not a weights file; burngen gen %s -weights file -weights-keep raw -o DIR writes its weights as safetensors", filepath.Base(path), quoted(path))
	case strings.HasSuffix(path, indexEnd):
		w = rt.OpenWeightsIndex(path)
		err = w.Err()
	case strings.HasSuffix(path, torchIndexEnd):
		w, err = pytorch.OpenIndex(path)
	case ext == safetensorsExt || format == file.Safetensors && !isRecord(path):
		w = rt.OpenWeightsFile(path)
		err = w.Err()
	case isRecord(path):
		w, err = record.Open(path)
		if errors.Is(err, record.ErrUnknown) && ext == ".bin" {
			w, err = pytorch.Open(path)
		}
	default:
		w, err = pytorch.Open(path)
	}
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), whyNotWeights(path, format, err))
	}
	return w, nil
}

// whyNotWeights returns the reason why the file at path could not be opened, without the path. The reason is the file
// system's error, or that files of this format do not hold weights, or err, the reader's error.
func whyNotWeights(path, format string, err error) error {
	var at *fs.PathError
	switch {
	case errors.As(err, &at) && at.Path == path:
		return at.Err
	case isRecord(path) && (format == file.Text || format == file.Gzip): // the reader's error says more
	case format == file.Pickle:
		return errors.New("not a weights file: a Python pickle that torch.save did not write; save a state_dict with torch.save, or the tensors with safetensors")
	case format != "" && format != file.PyTorch && format != file.Safetensors && format != file.Tar:
		return fmt.Errorf("not a weights file: %s", format)
	}
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "weights: "), path+": ")
	if rest, ok := strings.CutPrefix(text, "safetensors: header"); ok && strings.HasSuffix(path, ".index.json") {
		text = "not a readable index of weights files:" + rest
	}
	return errors.New(text)
}

// For each tensor of w that cannot be read, refused maps the tensor's name to the reason. Such a tensor has no bytes.
func refused(w *rt.Weights) map[string]string {
	why := map[string]string{}
	for _, name := range w.Names() {
		if info, _ := w.Info(name); info.Bytes > 0 {
			continue
		}
		use := w.Fork()
		use.Raw(name)
		if err := use.Err(); err != nil {
			why[name] = strings.TrimPrefix(err.Error(), fmt.Sprintf("weights: %.100q: ", name))
		}
	}
	return why
}

// withoutRefused returns the tensors that can be read. It prints a line to `note` for each tensor that cannot be
// read. If all can be read, it returns w itself; else it closes w. It returns an error if no tensor can be read.
func withoutRefused(w *rt.Weights, path string, note io.Writer) (*rt.Weights, error) {
	why := refused(w)
	if len(why) == 0 {
		return w, nil
	}
	names := map[string]string{}
	for _, name := range w.Names() {
		if why[name] == "" {
			names[name] = name
			continue
		}
		fmt.Fprintf(note, "%s: %q is left out: %s\n", filepath.Base(path), name, why[name])
	}
	if len(names) == 0 {
		w.Close()
		return nil, fmt.Errorf("%s: no tensor of the file can be read", filepath.Base(path))
	}
	left, err := w.Renamed(names)
	w.Close()
	return left, err
}

func inspectWeights(out io.Writer, path string, names *keys.Options) error {
	weights, err := openWeights(path)
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
	why := refused(weights)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s: %d tensors, %s\n", filepath.Base(path), len(became), gen.Bytes(total))
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
		if reason := why[name]; reason != "" {
			fmt.Fprintf(w, "refused: %s\n", reason)
		} else {
			fmt.Fprintf(w, "%s\t%s\n", info, gen.Bytes(info.Bytes))
		}
	}
	return w.Flush()
}

var convertCommand = command{
	name:  "convert",
	usage: "FILE OUT.safetensors|OUT.safetensors.index.json [flags]",
	short: "write the tensors of a weights file (" + weightsNames + ") as safetensors",
	examples: `  burngen convert whisper.pt whisper.safetensors -top-key model_state_dict
  burngen convert llama.safetensors.index.json llama.safetensors -dtype bf16
  burngen convert pytorch_model.bin.index.json bert.safetensors
  burngen convert llama.pt llama.safetensors.index.json -shard 2000
  burngen convert burn.mpk.gz model.safetensors -transpose 'fc\d\.weight'
`,
	define: defineConvert,
}

func defineConvert(flags *flagSet) func(*streams, []string) error {
	names := nameFlags(flags)
	dtype := flags.String("dtype", "", "store floats as `TYPE`: f64, f32, f16 or bf16 (default: the types in FILE)")
	shard := flags.Int64("shard", 5000, "write at most `N` MB into each file, if OUT is an index")
	return func(s *streams, files []string) error {
		switch {
		case len(files) != 2:
			return usagef("name a weights file to read and a file to write; got %d arguments", len(files))
		case !strings.EqualFold(filepath.Ext(files[1]), safetensorsExt) && !strings.HasSuffix(files[1], indexEnd):
			return usagef("%s: a name that ends in %s or %s expected", files[1], safetensorsExt, indexEnd)
		case !strings.HasSuffix(files[1], indexEnd) && flags.isGiven("shard"):
			return usagef("-shard needs an OUT that ends in %s", indexEnd)
		case *shard <= 0 || *shard > math.MaxInt64/1_000_000:
			return usagef("-shard %d: a number of MB expected, at least 1", *shard)
		case *dtype != "" && !rt.Convertible("f32", *dtype):
			return usagef("-dtype %s: f64, f32, f16 or bf16 expected", *dtype)
		}
		weights, err := openWeights(files[0])
		if err == nil {
			weights, err = withoutRefused(weights, files[0], s.err)
		}
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
			err = saveIndex(weights, files[1], *shard*1_000_000)
		} else {
			err = temporary.Write(files[1], func(out *os.File) error { _, err := weights.WriteFile(out); return err })
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

// saveIndex writes an index at path, and the files that the index lists. A file has at most `limit` bytes, unless a
// single tensor is larger. All files appear at once.
func saveIndex(weights *rt.Weights, path string, limit int64) error {
	dir := filepath.Dir(path)
	temporary.Sweep(dir)
	parts, err := temporary.Folder(dir)
	if err != nil {
		return err
	}
	defer temporary.Remove(parts)
	if err := weights.SaveIndex(filepath.Join(parts, filepath.Base(path)), limit); err != nil {
		return err
	}
	entries, err := os.ReadDir(parts)
	if err != nil {
		return err
	}
	var renamings []temporary.Renaming
	for _, e := range entries {
		renamings = append(renamings, temporary.Renaming{From: filepath.Join(parts, e.Name()), To: filepath.Join(dir, e.Name())})
	}
	return temporary.Rename(renamings)
}
