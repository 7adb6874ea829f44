// Package portable knows elementary functions of float64 whose results have the
// same bits on every platform, which package math does not promise: that uses
// assembly on some, and lets products and sums fuse on others. Their errors are
// within a few units in the last place. Special values are those of package
// math.
package portable
