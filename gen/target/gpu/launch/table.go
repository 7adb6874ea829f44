package launch

import (
	"reflect"
	"slices"
)

var table = slices.Concat(
	attention, channels, channelsLast, check, columns, convolution, fill, fourier, gather, integer, lines, lookup, matrix, movement, norm, padding, pointwise, pool, product,
	quantize, random, recurrent, reduce, regions, resize, resizeTables, scatter, sequence, signal, sort, unique, vision,
)

var builders = func() map[reflect.Type]entry {
	m := make(map[reflect.Type]entry, len(table))
	for _, e := range table {
		m[e.op] = e
	}
	return m
}()
