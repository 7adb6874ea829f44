package main

import (
	"fmt"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/temporary"
)

// checkWeb checks -web with the flags that it excludes.
func (g *genFlags) checkWeb() error {
	if !g.options.Web {
		return nil
	}
	for _, name := range []string{"serve", "train", "pkg"} {
		if g.flags.isGiven(name) {
			return usagef("-web cannot be used with -%s", name)
		}
	}
	if g.options.WeightsOutside {
		return usagef("-web cannot be used with -weights file: a page has no files")
	}
	for _, t := range g.targets {
		if t != nil && !t.CanRun() {
			return usagef("-web cannot be used with -target %s: a program in a browser computes on the processor", t.Name())
		}
	}
	if len(g.targets) > 1 {
		return usagef("-web cannot be used with several targets")
	}
	g.options.Package = "model"
	return nil
}

// buildWeb builds the program that scripts call, and returns the files of a folder for browsers.
func buildWeb(m *gen.Model) ([]emit.File, error) {
	if m.WeightsSize() > gen.MaxEmbedded {
		return nil, fmt.Errorf("-web: the weights have %s, the limit is %s", gen.Bytes(m.WeightsSize()), gen.Bytes(gen.MaxEmbedded))
	}
	dir, err := temporary.Folder("")
	if err != nil {
		return nil, err
	}
	defer temporary.Remove(dir)
	module, err := programOf(m, dir, "web", m.WebMain)
	if err != nil {
		return nil, err
	}
	program, support, err := module.BuildWeb()
	if err != nil {
		return nil, err
	}
	return m.WebFiles(program, support)
}
