// Command asm writes the assembly of package cpu. For each family it makes
// <family>_amd64.s and <family>_stubs_amd64.go in the folder named by its argument,
// by default the package's own.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// families are the files to write, each described in its own Go file.
var families = []struct {
	name  string
	write func(*file)
}{
	{"tile", tiles},
	{"byte_tile", byteTiles},
	{"window", windows},
	{"transpose", transposes},
	{"lrn", lrns},
	{"peak", peaks},
	{"pointwise", pointwiseFamily},
	{"fold", foldFamily},
	{"softmax", softmaxFamily},
}

func main() {
	dir := ".."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	for _, family := range families {
		var f file
		family.write(&f)
		for name, text := range map[string]string{
			family.name + "_amd64.s":        f.assembly(),
			family.name + "_stubs_amd64.go": f.stubs(),
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				fmt.Fprintln(os.Stderr, "asm:", err)
				os.Exit(1)
			}
		}
	}
}
