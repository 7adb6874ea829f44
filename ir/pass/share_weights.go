package pass

import (
	"bytes"
	"hash/maphash"
	"slices"

	"github.com/burngen/burngen/ir"
)

// shareWeights merges equal weights. It keeps one copy of constants with the same bytes, and one
// copy of weights that @prepare computes in the same way. Weights of the model are not merged even
// if they are equal, because a program may load other data for each of them.
func shareWeights(ctx *Context, m *ir.Module) (changed bool, err error) {
	constants, err := renameLoads(ctx, m, sameConstants(m))
	if err != nil {
		return false, err
	}
	prepared, err := renameLoads(ctx, m, samePrepared(m.Func(Prepare)))
	return constants || prepared, err
}

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

// samePrepared removes each result of @prepare that is the same value as an earlier result. It
// returns a map from the names of the removed results to the names of the earlier results.
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

func renameLoads(ctx *Context, m *ir.Module, renamed map[string]string) (changed bool, err error) {
	ctx.Count(SharedWeights, len(renamed))
	for _, f := range m.Funcs {
		for n := range f.All() {
			if load, ok := n.Op.(ir.Load); ok && renamed[load.Name] != "" {
				load.Name = renamed[load.Name]
				n.Op = load
			}
		}
	}
	merged, err := eliminateCommon(ctx, m)
	return merged || len(renamed) > 0, err
}
