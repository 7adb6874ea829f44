// Package narrow rewrites kernels for devices without integers of 64 bits: a value of type i64 or u64
// becomes two of type u32. It does not know any device or machine language.
package narrow
