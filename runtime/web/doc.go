// Package web lets scripts call the model of a generated package. A program that calls [Main], built for js/wasm, is
// what burngen -web puts into main.wasm. Scripts pass typed arrays, and arrays of strings. Each input is copied once
// into Go's memory, and each output once out of it.
package web
