// Command asm writes the assembly of package cpu, and the Go functions that choose a variant of it.
// For each family of kernels and each architecture it writes z<family>_<arch>.s and
// z<family>_<arch>.go. For machines without assembly it writes z<family>_noasm.go. The argument
// names the folder for the files; the default is the folder of package cpu.
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
}

// onARM64 lists the families that are also written for arm64.
var onARM64 = []string{"tile", "window", "window_rows", "transpose", "lrn", "peak", "pointwise", "fold", "softmax", "byte_tile", "byte_window", "max_row", "winograd", "update", "recurrent", "channel", "pool_grad"}

func main() {
	dir := ".."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	for _, family := range families {
		if err := family.into(dir); err != nil {
			fmt.Fprintln(os.Stderr, "asm:", err)
			os.Exit(1)
		}
	}
}

func (y family) into(dir string) error {
	arm := slices.Contains(onARM64, y.name)
	files := map[string]string{}
	for _, arch := range []string{"amd64", "arm64"} {
		if arch == "arm64" && !arm {
			continue
		}
		f := file{arch: arch}
		y.write(&f)
		files["z"+y.name+"_"+arch+".s"] = f.assembly()
		files["z"+y.name+"_"+arch+".go"] = f.declarations()
		if twins := f.twins(arm); twins != "" {
			files["z"+y.name+"_noasm.go"] = twins
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
