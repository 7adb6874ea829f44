// Package web lets scripts call the model of a generated package. main.wasm, which burngen -web builds, is a program
// that calls [Main]. Scripts pass typed arrays, and arrays of strings. Each input is copied once into Go's memory,
// and each output once out of it.
package web
