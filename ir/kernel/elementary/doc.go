// Package elementary builds the elementary functions of f32 and f64 out of the arithmetic of
// ir/kernel, so that they are equally good on every device.
//
// The errors of f32 results are at most 4 units in the last place, and the relative errors of f64
// results at most 1e-13, over the whole range and for subnormal numbers. Zeros, infinities and NaN
// give what package math gives. The functions rely on sums, differences and products that are
// rounded separately, and not on the rounding of quotients, roots and fused products.
//
// Functions whose names begin with Narrow are for results that are stored in 16 bits. They state their errors.
//
// The coefficients of polynomials were fitted for the smallest relative error of the function.
package elementary
