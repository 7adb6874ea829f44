// Package elementary builds the elementary functions of f32 and f64 out of the arithmetic of ir/kernel. So the
// functions are equally precise on every device.
//
// The errors of f32 results are at most 4 units in the last place. The relative errors of f64 results are at most
// 1e-13. Both hold over the whole range of a function, and for subnormal numbers. For zeros, infinities and NaN,
// the functions return what package math returns. The functions need sums, differences and products that are
// rounded separately. They do not depend on how quotients, roots and fused products are rounded.
//
// Functions whose names begin with Narrow are for results that are stored in 16 bits. Their comments state their
// errors.
//
// The coefficients of polynomials were fitted for the smallest relative error of the function.
package elementary
