// Package portable implements elementary functions of float64 whose results have the same bits on
// every platform. Package math does not promise that: it uses assembly on some platforms, and lets
// products and sums fuse on others. Errors are within a few units in the last place, except in Pow:
// its relative error is up to about 2e-13 for very large and very small results. Special values are
// handled as in package math.
package portable
