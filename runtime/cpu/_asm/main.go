// Command asm writes the assembly of package cpu. For each family and architecture it
// makes z<family>_<arch>.s and z<family>_stubs_<arch>.go in the folder named by its
// argument, by default the package's own.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// families are the files to write, each described in its own Go file.
var families = []struct {
	name  string
	write func(*file)
}{
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
}

// onARM64 are the families that there are for arm64, too.
var onARM64 = []string{"tile", "window", "window_rows", "transpose", "lrn", "peak", "pointwise", "fold", "softmax", "byte_tile", "byte_window", "max_row", "winograd", "update", "recurrent", "channel", "pool_grad"}

func main() {
	dir := ".."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	for _, family := range families {
		for _, arch := range []string{"amd64", "arm64"} {
			if arch == "arm64" && !slices.Contains(onARM64, family.name) {
				continue
			}
			f := file{arch: arch}
			family.write(&f)
			for name, text := range map[string]string{
				"z" + family.name + "_" + arch + ".s":        f.assembly(),
				"z" + family.name + "_stubs_" + arch + ".go": f.stubs(),
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					fmt.Fprintln(os.Stderr, "asm:", err)
					os.Exit(1)
				}
			}
		}
	}
}
