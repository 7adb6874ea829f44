package gen

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/target"
)

// AutoName is the name of the package that chooses among targets when a program runs.
const AutoName = "auto"

// auto returns the files of a package that chooses among the packages of one model. list has a package
// for each of [target.All], in any order. The new package has the types of the default target, which is
// tried last. It returns an error if a package is missing, or if the folder of a package is not in a
// module.
func auto(list []Packaged) ([]emit.File, error) {
	byTarget := map[string]Packaged{}
	for _, p := range list {
		byTarget[p.options.Target.Name()] = p
	}
	own := byTarget[target.All[0].Name()]
	var members []emit.Member
	for _, t := range append(slices.Clone(target.All[1:]), target.All[0]) {
		p, ok := byTarget[t.Name()]
		if !ok {
			return nil, fmt.Errorf("burngen bug: no package for %s", t.Name())
		}
		imported, err := ImportPath(p.Dir)
		if err != nil {
			return nil, err
		}
		members = append(members, emit.Member{Target: t.Name(), Path: imported, OnDevice: p.OnGPU()})
	}
	m, _, err := own.emission()
	if err != nil {
		return nil, err
	}
	m.Package = AutoName
	return emit.Auto(m, members)
}
