package launch

import (
	"reflect"
	"slices"
)

// table holds the builders of all families. An operator belongs to one family.
var table = slices.Concat(
	attention, check, convolution, fill, gather, integer, lines, movement, norm, pointwise, pool, product, quantize, random, reduce, resize, scatter, vision,
)

// builders finds the builder of an operator.
var builders = func() map[reflect.Type]builder {
	m := make(map[reflect.Type]builder, len(table))
	for _, e := range table {
		m[e.op] = e.build
	}
	return m
}()
