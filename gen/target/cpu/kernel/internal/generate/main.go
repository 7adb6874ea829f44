// Command generate reads the kernels of runtime/cpu and of the folders in it. It writes package
// kernel: the kernels' constructors, and the formulas of their scratch memory. It also writes the
// table of the kernels' instances, which is in package instance.
package main

import (
	"flag"
	"log"
	"os"
	"path/filepath"
)

func main() {
	src := flag.String("src", "../../../../runtime/cpu", "the folder of the kernels")
	constructors := flag.String("constructors", "zkernels.go", "the file of the constructors")
	composites := flag.String("composites", "zcomposites.go", "the file of the composite arguments")
	formulas := flag.String("formulas", "zformulas.go", "the file of the formulas")
	instances := flag.String("instances", "../instance/zinstances.go", "the file of the instances")
	flag.Parse()
	if err := run(*src, *constructors, *composites, *formulas, *instances); err != nil {
		log.Fatal(err)
	}
}

func run(src, constructors, composites, formulas, instances string) error {
	cpu, err := load(src, "cpu")
	if err != nil {
		return err
	}
	image, err := load(filepath.Join(src, "..", "rt", "image"), "rt/image")
	if err != nil {
		return err
	}
	elements, err := elementTypes(cpu.pkg)
	if err != nil {
		return err
	}
	w := &writer{elements: elements, sets: map[string][]string{}, composites: map[string]*composite{}}
	if err := w.kernels(cpu.pkg, image.pkg); err != nil {
		return err
	}
	for _, file := range []struct {
		name  string
		write func() ([]byte, error)
	}{{constructors, w.constructorFile}, {composites, w.compositeFile}, {formulas, cpu.formulaFile}, {instances, w.instanceFile}} {
		text, err := file.write()
		if err != nil {
			return err
		}
		if err := os.WriteFile(file.name, text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
