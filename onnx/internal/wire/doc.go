// Package wire reads the bytes of ONNX files into plain structs. It knows the encoding of protocol
// buffers and the ONNX schema up to IR version 14. It does not know operators, opsets, shapes or
// other files.
//
// Results point into the bytes that are read: strings of attributes and tensors, raw tensor data
// and undecoded tensor values are views, so these bytes must not change or be unmapped while a
// result is in use. Names are copied, so keeping a name does not keep the file in memory. Files are
// not trusted: time is linear in their size, memory is bounded by [Limits] before it is allocated,
// and no input causes a panic, even one that changes while it is read.
//
// Well-formed bytes are read as protocol buffers define: unknown fields are skipped (including the
// placement of nodes on devices), the last of several scalars is used, repeated fields are
// concatenated, messages are merged, and lists may be packed. The package is stricter where tools
// might otherwise read a model differently: a known field with the wrong wire type, a string that
// is not UTF-8 (except documentation), groups nested more than 64 deep and structs beyond the
// limits are errors. Every error has a position: "graph.node[17].attribute[2].t: wire type 5 for
// dims".
package wire
