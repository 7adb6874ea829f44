// Package narrow rewrites kernels for devices without integers of 64 bits: a value of type i64 or u64 becomes two
// values of type u32. The package does not know any device or machine language.
package narrow
