// Package text turns text into the tokens that language models read, and tokens into text. It reads
// and writes the files of Hugging Face's tokenizers, version 1.0 of tokenizer.json, and the older
// vocab.json with merges.txt, and vocab.txt. It also trains byte-level BPE, and cuts texts into the
// items of a data set.
//
// A [Tokenizer] gives the same tokens as the reference implementation, tokenizers 0.23; [Load] names
// the exceptions.
//
// No file and no text makes the package panic, recurse without bound, or allocate much more than the
// input contains. The package knows text and tokens, but not models and training.
package text
