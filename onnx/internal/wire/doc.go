// Package wire reads the bytes of ONNX files into plain structs. It knows the encoding of protocol
// buffers and the ONNX schema up to IR version 14. It does not know operators, opsets, shapes or
// other files.
//
// Results share memory with the bytes that are read: strings of attributes and tensors, raw tensor
// data and undecoded tensor values. These bytes must not change or be unmapped while a result is in
// use. Names are copied, so that a name does not keep the file in memory.
//
// Files are not trusted. Time is linear in their size. Memory is checked against [Limits] before it
// is allocated. No input causes a panic, even a file that changes while it is read.
//
// Well-formed bytes are read as protocol buffers define. Unknown fields are skipped, including the
// placement of nodes on devices. The last of several scalars is used. Repeated fields are
// concatenated, messages are merged, and lists may be packed.
//
// The package is stricter where tools might otherwise read a model differently. These are errors: a
// known field with the wrong wire type, a string that is not UTF-8 (except documentation), groups
// nested more than 64 deep, and structs beyond the limits. Every error has a position:
// "graph.node[17].attribute[2].t: wire type 5 for dims".
package wire
