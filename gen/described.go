package gen

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/burngen/burngen/gen/config"
	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/load"
	"github.com/burngen/burngen/ir/nn/record"
	"github.com/burngen/burngen/runtime/rt"
)

// FromRecord converts the record of a described model to a source. file is the file with the description. sum is the
// digest of the record. docs is the documentation of the methods, keyed by name. It returns an error if a method uses
// states that it cannot have.
func FromRecord(name, file, sum string, docs map[string]string, r *record.Model) (*Source, error) {
	src := &Source{
		Name: name, File: file, Sum: sum, Format: "Go",
		Meta:      rt.Meta{Name: name, Source: file},
		Module:    r.Module,
		Params:    []string{},
		Initial:   []rt.Initial{},
		Operators: map[string]int{},
		Aliases:   map[string][]string{},
	}
	for _, m := range r.Methods {
		src.Functions = append(src.Functions, Function{
			Name: m.Func, Method: m.Name, Doc: docs[m.Name], Outputs: m.Name + "Result", Direct: true, Loss: m.Loss,
		})
	}
	for i, w := range r.Weights {
		typ := r.Module.Weights[i].Type
		shape, _ := typ.Static()
		src.Initial = append(src.Initial, rt.Initial{Name: w.Name, DType: typ.DType.String(), Shape: shape, Init: w.Init})
		src.Aliases[w.Name] = w.Aliases
		if !w.Buffer && !w.Frozen {
			src.Params = append(src.Params, w.Name)
		}
	}
	if err := src.keep(r.States); err != nil {
		return nil, err
	}
	src.describe()
	return src, nil
}

// IsDescription reports whether a command-line argument names a description: a folder or a package
// path instead of a file.
func IsDescription(path string) bool {
	if info, err := os.Stat(path); err == nil {
		return info.IsDir()
	}
	isPath := strings.Contains(path, "/") && !filepath.IsAbs(path) && !strings.HasPrefix(path, ".")
	return isPath && filepath.Ext(path) != ".onnx"
}

// ErrOnlyConfigs is the error for a folder with configurations but no model.
var ErrOnlyConfigs = errors.New("the folder has configurations only")

// Describe reads a description: a Go package that describes a model. path is its folder or import path. If o has
// variants, it reads the first variant that the weights of o.Foreign match. If the error is [ErrOnlyConfigs], the
// result holds the configurations.
func Describe(path string, o Options) (*load.Description, error) {
	if len(o.Variants) > 0 {
		return describeVariant(path, o)
	}
	dir, err := load.Find(path)
	if err != nil {
		return nil, err
	}
	d, err := load.Load(context.Background(), dir, load.Options{
		Config: o.Config, Header: emit.Header, Stdout: o.Stdout, Stderr: o.Stderr,
	})
	if err == nil && d.Model == nil {
		err = ErrOnlyConfigs
	}
	return d, err
}

// describeVariant reads the first variant of o.Variants that the weights of o.Foreign match. If no variant matches,
// the error explains for each variant why.
func describeVariant(path string, o Options) (*load.Description, error) {
	var errs []error
	for _, set := range o.Variants {
		of := o
		of.Variants, of.Config.Set = nil, slices.Concat(o.Config.Set, set)
		d, err := Describe(path, of)
		if err == nil {
			var src *Source
			if src, err = sourceOf(d, o); err == nil {
				_, err = src.with(o.Foreign)
			}
		}
		if err == nil {
			return d, nil
		}
		errs = append(errs, fmt.Errorf("variant %s:\n%w", strings.Join(set, ";"), err))
	}
	return nil, errors.Join(errs...)
}

func described(path string, o Options) (*Model, error) {
	d, err := Describe(path, o)
	if errors.Is(err, ErrOnlyConfigs) {
		return nil, fmt.Errorf("%s: no method carries //burngen:func", path)
	}
	if err != nil {
		return nil, err
	}
	return CompileDescription(d, o)
}

// CompileDescription compiles a description. The model has the name of the generated package.
func CompileDescription(d *load.Description, o Options) (*Model, error) {
	src, err := sourceOf(d, o)
	if err != nil {
		return nil, err
	}
	return CompileSource(src, o)
}

func sourceOf(d *load.Description, o Options) (*Source, error) {
	name := o.Package
	if name == "" {
		name = d.Package
	}
	src, err := FromRecord(name, d.File, d.Sum, d.Docs, d.Model)
	if err != nil {
		return nil, err
	}
	src.Configs, src.Built = d.Configs, d.Built
	return src, src.fix(o.Dims)
}

// NewConfigOutput is like [NewOutput], for the file [config.File] in the folder of a description. The
// file holds the functions of the description's configurations. Without configurations, the output
// removes an earlier file. It returns an error if burngen did not write the file that is there.
func NewConfigOutput(d *load.Description) (*Output, error) {
	o := &Output{Dir: d.Dir}
	path := filepath.Join(d.Dir, config.File)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		if !isGenerated(path) {
			return nil, fmt.Errorf("%s: was not written by burngen; give it another name", path)
		}
		if d.Source == nil {
			o.stale = []string{config.File}
		}
	}
	if d.Source != nil {
		o.Files = []emit.File{{Name: config.File, Data: d.Source}}
	}
	return o, nil
}
