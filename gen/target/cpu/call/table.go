package call

import (
	"reflect"
	"slices"
)

var table = slices.Concat(
	arithmetic, attention, bind, blocks, cast, channels, comparison, container, conv, convBytes,
	elementwise, fill, forest, gather, indices, lines, logic, matrix, movement, norm, pool, product,
	quantize, random, recurrent, resize, scatter, selection, signal, simple, text, vision, winograd,
)

var builders = func() map[reflect.Type]entry {
	m := make(map[reflect.Type]entry, len(table))
	for _, e := range table {
		m[e.op] = e
	}
	return m
}()
