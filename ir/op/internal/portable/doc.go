// Package portable implements elementary functions of float64 whose results have the same bits on every platform.
// Package math does not promise this: it uses assembly on some platforms, and fuses products and sums on others.
// Errors are within a few units in the last place. Only Pow has a larger error, up to about 2e-13 relative to very
// large and very small results. Special values are handled as in package math.
package portable
