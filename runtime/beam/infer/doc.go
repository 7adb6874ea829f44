// Package infer runs generated packages in pipelines of Apache Beam. It makes batches of the elements of a bundle,
// and computes them in sessions that all transforms of the process share. It does not know files.
//
// A model is not part of a pipeline: a pipeline names it, and every worker has it in its program. So a program calls
// [Package] or [PackageFile] before beam.Init.
package infer
