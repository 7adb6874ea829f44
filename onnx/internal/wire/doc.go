// Package wire reads the bytes of ONNX files into plain structs. It knows the protocol buffer encoding and the ONNX
// schema up to IR version 14; it does not know operators, opsets, shapes or other files.
//
// What it returns points into the bytes it was given: texts of attributes and of tensors, raw tensor data and undecoded
// tensor values are views, so those bytes must not change or be unmapped while a result is in use. Names are copies: who
// keeps one does not keep the file. Files are hostile: time is linear in their size,
// memory is bounded by [Limits] before it is allocated, and no input panics, not even one that changes while it is read.
//
// The reading of well-formed bytes is the one that protocol buffers define: unknown fields are skipped (among them the
// placement of nodes on devices), the last of several scalars stands, repeated fields are joined and messages merged, lists
// are packed or not. It is stricter where a model could otherwise mean different things to different tools: a known field of
// the wrong wire type, a string that is not UTF-8 (but for documentation), groups nested more than 64 deep and structs beyond
// the limits are errors, and every error says where: "graph.node[17].attribute[2].t: wire type 5 for dims".
package wire
