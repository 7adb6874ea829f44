// Package text turns text into the tokens that language models read, and tokens into text. It reads
// and writes tokenizer.json, the file of Hugging Face's tokenizers, in version 1.0. It also reads
// the older files: vocab.json with merges.txt, and vocab.txt. It trains byte-level BPE, and cuts
// texts into the items of a data set.
//
// A [Tokenizer] gives the same tokens as the reference implementation, tokenizers 0.23; [Load] names
// the exceptions.
//
// No file and no text makes the package panic, recurse without bound, or allocate much more than the
// input contains. The package knows text and tokens, but not models and training.
package text
