package launch

import (
	"reflect"
	"slices"
)

// table holds the builders of all families. An operator belongs to one family.
var table = slices.Concat(
	attention, channels, check, columns, convolution, fill, fourier, gather, integer, lines, lookup, matrix, movement, norm, padding, pointwise, pool, product,
	quantize, random, recurrent, reduce, regions, resize, resizeTables, scatter, sequence, signal, sort, unique, vision,
)

// builders maps the type of an operator to its builder.
var builders = func() map[reflect.Type]builder {
	m := make(map[reflect.Type]builder, len(table))
	for _, e := range table {
		m[e.op] = e.build
	}
	return m
}()
