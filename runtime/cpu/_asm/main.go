// Command asm writes the assembly of package cpu, and the Go functions that choose a variant of it.
// For each family of kernels and each architecture it writes z<family>_<arch>.s and
// z<family>_<arch>.go. For machines without assembly it writes z<family>_noasm.go. For WebAssembly it
// writes simd128/kernels.wasm in place of assembly. The argument names the folder for the files; the default
// is the folder of package cpu.
//
// A kernel is an assembly function. It has a variant for each instruction set. A Go function in
// z<family>_<arch>.go has a twin, the function of the same name in z<family>_noasm.go. The
// functions of this command write code: where a comment says that such a function adds or stores
// registers, the written code does.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

type family struct {
	name  string
	write func(*file)
}

var families = []family{
	{"tile", tiles},
	{"one_row", oneRows},
	{"byte_tile", byteTiles},
	{"byte_window", byteWindows},
	{"max_row", maxRows},
	{"quantize", quantizers},
	{"pack_bytes", packBytes},
	{"window", windows},
	{"window_rows", windowRowsFamily},
	{"transpose", transposes},
	{"transpose_bytes", byteTransposes},
	{"gather_channels", gatherChannels},
	{"grid_taps", gridTaps},
	{"plane", planeFamily},
	{"lrn", lrns},
	{"peak", peaks},
	{"pointwise", pointwiseFamily},
	{"fold", foldFamily},
	{"compare", compareFamily},
	{"convert", convertFamily},
	{"softmax", softmaxFamily},
	{"winograd", winogradFamily},
	{"update", updateFamily},
	{"recurrent", cells},
	{"divide", divisions},
	{"channel", channels},
	{"pool_grad", poolGrads},
	{"random", uniforms},
	{"pixel", pixelFamily},
}

// onWASM lists the families that are also written for WebAssembly.
var onWASM = []string{"tile", "window", "window_rows", "pointwise", "fold", "softmax", "winograd", "recurrent"}

// onARM64 lists the families that are also written for arm64.
var onARM64 = []string{"tile", "window", "window_rows", "transpose", "lrn", "peak", "pointwise", "fold", "softmax", "byte_tile", "byte_window", "max_row", "winograd", "update", "recurrent", "channel", "pool_grad"}

func main() {
	dir := ".."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := write(dir); err != nil {
		fmt.Fprintln(os.Stderr, "asm:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	fields, err := readFields("..")
	if err != nil {
		return err
	}
	module := kernelModule{fields: fields}
	for _, family := range families {
		if err := family.into(dir, &module); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "simd128", "kernels.wasm"), module.bytes(), 0o644)
}

func (y family) into(dir string, module *kernelModule) error {
	others := []string{"amd64"}
	if slices.Contains(onARM64, y.name) {
		others = append(others, "arm64")
	}
	if slices.Contains(onWASM, y.name) {
		others = append(others, "wasm")
	}
	files := map[string]string{}
	for _, arch := range others {
		f := file{arch: arch, tables: map[string][]uint32{}}
		y.write(&f)
		if arch == "wasm" {
			f.finishWasm(module)
		} else {
			files["z"+y.name+"_"+arch+".s"] = f.assembly()
		}
		files["z"+y.name+"_"+arch+".go"] = f.declarations()
		if twins := f.twins(others); twins != "" {
			name := "z" + y.name + "_noasm.go"
			if before, ok := files[name]; ok && before != twins {
				return fmt.Errorf("%s: %s wants other twins than the architectures before it", name, arch)
			}
			files[name] = twins
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
