package pass

import (
	"bytes"
	"hash/maphash"
	"slices"

	"github.com/burngen/burngen/ir"
)

// shareWeights keeps constants with the same bytes, and weights that @prepare
// makes in the same way, once. Weights of the model stay apart, even when they
// are equal: others may be loaded in their place.
func shareWeights(ctx *Context, m *ir.Module) (bool, error) {
	if err := renameLoads(ctx, m, sameConstants(m)); err != nil {
		return false, err
	}
	err := renameLoads(ctx, m, samePrepared(m.Func(Prepare)))
	return true, err
}

// sameConstants returns the names of constants that an earlier one equals, and
// that one's.
func sameConstants(m *ir.Module) map[string]string {
	renamed := map[string]string{}
	type key struct {
		typ string
		sum uint64
	}
	seed := maphash.MakeSeed()
	first := map[key][]*ir.Weight{}
	for _, w := range m.Weights {
		if !isConst(w.Name) || w.Data == nil {
			continue
		}
		k := key{w.Type.String(), maphash.Bytes(seed, w.Data)}
		i := slices.IndexFunc(first[k], func(v *ir.Weight) bool { return bytes.Equal(v.Data, w.Data) })
		if i >= 0 {
			renamed[w.Name] = first[k][i].Name
			continue
		}
		first[k] = append(first[k], w)
	}
	return renamed
}

// samePrepared drops results of @prepare that are there before, and returns
// their names and the first ones'.
func samePrepared(prepare *ir.Func) map[string]string {
	renamed := map[string]string{}
	if prepare == nil {
		return renamed
	}
	var results []*ir.Value
	var names []string
	first := map[*ir.Value]string{}
	for i, r := range prepare.Results {
		name := prepare.ResultNames[i]
		if first[r] != "" {
			renamed[name] = first[r]
			continue
		}
		first[r] = name
		results, names = append(results, r), append(names, name)
	}
	prepare.Results, prepare.ResultNames = results, names
	return renamed
}

// renameLoads makes loads read other weights, and joins nodes that are equal
// then.
func renameLoads(ctx *Context, m *ir.Module, renamed map[string]string) error {
	ctx.count(SharedWeights, len(renamed))
	for _, f := range m.Funcs {
		for n := range f.All() {
			if load, ok := n.Op.(ir.Load); ok && renamed[load.Name] != "" {
				load.Name = renamed[load.Name]
				n.Op = load
			}
		}
	}
	_, err := eliminateCommon(ctx, m)
	return err
}
