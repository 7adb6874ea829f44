// Package kernels holds the kernels that targets with devices make operators of: functions that build them
// with package ir/kernel, with holes for what an operator computes. It does not know any operator,
// device or machine language.
package kernels
