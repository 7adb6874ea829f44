// Writes the vectors that the tests compare with: what the reference library makes of texts, of
// every character, and of a corpus. It runs with Node.js and its package tokenizers, version 0.23.2:
//
//	go test -run TestTrainedFile -update . && cd testdata && node make.js
//
// The tokenizers are small and made here, except the merges of gpt2.json, which the test trains.
const fs = require('fs');
const { Tokenizer } = require('tokenizers');

const read = (name) => JSON.parse(fs.readFileSync(name, 'utf8'));
const write = (name, value) => fs.writeFileSync(name, value + '\n');
const special = (id, content, more) => ({ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true, ...more });

// ---- texts ----

const all = [
  '', ' ', '  ', '\n', 'a', 'The lower newest widest river.', 'the newest and the lowest', ' lower  lower   lower ',
  "I'm sure they'll say we've won't he'd it's you're 'tis '' ' 's", "Don'T DON'T don\u2019t 'S 'Sa x'\u017f 'LLa",
  'Hello, world! (yes) [no] {maybe} <ok> #1 $2 %3 ^4 &5 *6 _7_ ~8 `9`', 'a.b,c;d:e?f!g', '1234567 3.14 1,000,000 \u00bd \u2460 \u0664\u0662 \u2167 x\u00b2',
  'caf\u00e9 cafe\u0301 na\u00efve nai\u0308ve \u00c5ngstr\u00f6m A\u030angstro\u0308m', 'e\u0323\u0301 e\u0301\u0323 \u1e9b\u0323 \u0344 a\u0344\u0323 \u0958 q\u0307\u0323',
  '\uac00\uac01 \u1100\u1161 \u1100\u1161\u11a8 \uac00\u11a8 \ud55c\uad6d\uc5b4', '\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8\u3002 \u4e2d\u6587 \ud840\udc00\u4e00', '\uff21\uff22\uff23 \uff11\uff12 \uff76\uff9e \u3000 \ufb01sh \u2122 \u338f',
  '\u0440\u0435\u043a\u0430 \u0419\u043e\u0433\u0430 \u0438\u0306', '\u0645\u0631\u062d\u0628\u0627 \u0628\u0650\u0633\u0652\u0645\u0650 \u05e9\u05c1\u05dc\u05d5\u05dd', '\u0939\u093f\u0928\u094d\u0926\u0940 \u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22 \u0e19\u0e49\u0e33',
  '\ud83d\ude00 \ud83d\udc68\u200d\ud83d\udc69\u200d\ud83d\udc67 \ud83c\udde9\ud83c\uddea \u2764\ufe0f \ud83d\udc4d\ud83c\udffd', '\u00a9\u200d\u00a9 \u00ae\u200da \u00a9\ufe0f', 'a\u200db a\u200cb a\u00adb a\u200bb \ufeffa \u2060',
  'tab\there\r\nnew\rline\u000b\u000c\u0085\u2028\u2029end', '\u0000nul \u0001\u0002\u001f\u007f\u0080\u009f \ufffd', '\u00a0nbsp\u00a0 \u2003em\u2003 \u3000wide\u3000 \u1680', '\u0130stanbul I\u0131 \u00df\u1e9e \u01c5 \u03a3\u03b1\u03c2 K\u212a \u00c5\u212b',
  'x'.repeat(120), 'lower'.repeat(25), 'unaffable unwanted runningly', '[CLS] a [MASK] b [SEP]', 'a[MASK]b  [MASK]  c [mask]', '<s>Hello</s> <mask>  <mask><pad>', '<|endoftext|>the<|endoftext|> end <|endoftext|>',
  'new new newer NEW New\u0301 day monday day. day', '\u2581the \u2581 \u2581\u2581 low\u2581er', '<0x41> <0xFF>', '``quoted\'\' "text"', 'a     b\t\tc \n\n d   \n', '   \n \n  x', 'end   ', 'no\u00a0 break', "l'\u00e9t\u00e9 d\u00e9j\u00e0-vu", '!?\u00bf\u00a1\u2026\u2014\u2013\u00ab\u00bb\u3001', '\u0301a \u0301\u0302', 'a\u0300\u0301\u0302\u0303\u0304\u0305b', '\u0600a \u0600\u0301 \u06dd1', '\u1100\u1161\u0301 \uac00\u0301 \u0e33 x\u0e33',
];
const pool = [' ', ' ', ' ', 'a', 'e', 'l', 'o', 'w', 'r', 'the', 'lower', 'new', 'est', 'N', 'E', '1', '2', '.', ',', "'", "'s", '-', '\n', '\t', '\r', '\u00e9', '\u0301', '\u0323', '\u0308', '\u00df', '\u0130', '\u00a0', '\u3000', '\u4e2d', '\uac00', '\u1100', '\u1161', '\u11a8', '\ud83d\ude00', '\u200d', '\ufe0f', '\u00a9', '\u0600', '\u0e33', '\ufb01', '\uff21', '\u00bd', '\u2581', '\u0000', '\ufffd', '\u0344', '\u1e9b', '<s>', '[MASK]', '<mask>', 'day'];
let state = 1;
const draw = (n) => { state = (Math.imul(state, 1103515245) + 12345) >>> 0; return (state >>> 8) % n; };
for (let i = 0; i < 80; i++) {
  let s = '';
  for (let k = draw(14) + 1; k > 0; k--) s += pool[draw(pool.length)];
  all.push(s);
}

// ---- models ----

// Pieces of the texts for models of a fixed vocabulary.
const pieces = ['the', 'low', 'lower', 'lowest', 'new', 'newest', 'wide', 'widest', 'river', 'er', 'est', 'and', 'hello', 'world', 'un', 'aff', 'able', 'want', 'ed', 'run', 'ning', 'ly', 'day', 'caf', 'text', 'is', 'it'];
const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEHIKLNOSTX0123456789'];
const signs = [...'.,!?\'"()[]-;:#$%<>/_`'];
const other = ['\u00e9', '\u00e8', '\u00df', '\u4e2d', '\u6587', '\u65e5', '\uac00', '\u0440', '\u0435', '\u043a', '\u0430', '\u0645', '\u0301', '\u0323', '\u200d', '\ufe0f', '\u00bd', '\u2044', 'i\u0307', '\u1100', '\u1161'];
const number = (list) => { const v = {}; for (const s of list) if (!(s in v)) v[s] = Object.keys(v).length; return v; };

const wordpiece = (cased) => {
  const list = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
  for (const s of [...letters, ...signs, ...other, ...pieces]) list.push(s, '##' + s);
  if (cased) list.push('The', 'Hello', 'New');
  return { type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##', max_input_chars_per_word: 100, vocab: number(list) };
};

// BPE with a token for each beginning of a piece, each made of the one before it and a character.
const prefixes = (list) => {
  const merges = [], made = [];
  for (const s of list) {
    const chars = [...s];
    for (let i = 1; i < chars.length; i++) {
      const left = chars.slice(0, i).join(''), to = left + chars[i];
      if (!made.includes(to)) { made.push(to); merges.push([left, chars[i]]); }
    }
  }
  return { merges, made };
};
const llamaModel = (fallback) => {
  const { merges, made } = prefixes(pieces.flatMap((s) => ['\u2581' + s, s]).concat(['\u2581\u2581', '\u2581\u2581\u2581']));
  const list = ['<unk>', '<s>', '</s>'];
  for (let b = 0; b < 256; b++) list.push('<0x' + b.toString(16).toUpperCase().padStart(2, '0') + '>');
  if (!fallback) list.splice(3 + 128, 64);
  list.push('\u2581', ...letters, ...signs, ...other.filter((s) => [...s].length === 1), ...made);
  return { type: 'BPE', dropout: null, unk_token: '<unk>', continuing_subword_prefix: null, end_of_word_suffix: null, fuse_unk: true, byte_fallback: true, ignore_merges: false, vocab: number(list), merges };
};
const unigram = (fallback) => {
  const vocab = [['<pad>', 0], ['</s>', 0], ['<unk>', 0], ['\u2581', -2.1]];
  let score = -2.5;
  const add = (s) => { if (!vocab.some(([t]) => t === s)) { vocab.push([s, Math.round(score * 1e4) / 1e4]); score -= 0.037; } };
  for (const s of pieces) { add('\u2581' + s); add(s); }
  for (const s of [...letters, ...signs, ...other]) add(s);
  if (fallback) for (let b = 0; b < 256; b++) vocab.push(['<0x' + b.toString(16).toUpperCase().padStart(2, '0') + '>', 0]);
  return { type: 'Unigram', unk_id: 2, vocab, byte_fallback: fallback };
};

// ---- a precompiled map: a double-array trie as Darts has it ----

function charsmap(map) {
  let blob = Buffer.alloc(0);
  const root = { next: new Map(), value: -1 };
  for (const [from, to] of map) {
    let n = root;
    for (const b of Buffer.from(from)) { if (!n.next.has(b)) n.next.set(b, { next: new Map(), value: -1 }); n = n.next.get(b); }
    n.value = blob.length;
    blob = Buffer.concat([blob, Buffer.from(to + '\0')]);
  }
  const units = [0], used = new Set([0]);
  const place = (node, at, label) => {
    const labels = [...node.next.keys()];
    if (node.value >= 0) labels.push(0);
    let base = 1;
    while (labels.some((c) => used.has(base ^ c))) base++;
    for (const c of labels) used.add(base ^ c);
    units[at] = ((((at ^ base) << 10) | label | (node.value >= 0 ? 1 << 8 : 0)) >>> 0);
    if (node.value >= 0) units[base] = (node.value | 0x80000000) >>> 0;
    for (const [c, child] of node.next) place(child, base ^ c, c);
  };
  place(root, 0, 0);
  const size = Math.ceil((Math.max(...used) + 1) / 256) * 256;
  const out = Buffer.alloc(4 + 4 * size);
  out.writeUInt32LE(4 * size);
  for (let i = 0; i < size; i++) out.writeUInt32LE(units[i] || 0, 4 + 4 * i);
  return Buffer.concat([out, blob]).toString('base64');
}
const nfkc = [['\u00a0', ' '], ['\u3000', ' '], ['\t', ' '], ['\n', ' '], ['\r', ' '], ['\ufb01', 'fi'], ['\u2122', 'TM'], ['\u2460', '1'], ['\u00bd', '1\u20442'], ['e\u0301', '\u00e9'], ['e\u0323', '\u1eb9'], ['\uff76\uff9e', '\u30ac'], ['\uff76', '\u30ab'], ['\u0e33', '\u0e4d\u0e32'], ['\u200b', ' '], ['\ufeff', ''], ['\u0000', ''], ['\u00a9', '(c)'], ['\u0600', 'N'], ['\uac00', '\u1100\u1161'], ['\u1161', 'A'], ['\u0130', 'I\u0307']];
for (let c = 0xff01; c < 0xff5f; c++) nfkc.push([String.fromCharCode(c), String.fromCharCode(c - 0xfee0)]);

// ---- tokenizers ----

const base = { version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };
const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
const gpt2 = read('gpt2.json');
const size = Object.keys(gpt2.model.vocab).length;
const template = (before, after, pairBetween) => ({
  type: 'TemplateProcessing',
  single: [...before.map(([t]) => ({ SpecialToken: { id: t, type_id: 0 } })), { Sequence: { id: 'A', type_id: 0 } }, ...after.map(([t]) => ({ SpecialToken: { id: t, type_id: 0 } }))],
  pair: [...before.map(([t]) => ({ SpecialToken: { id: t, type_id: 0 } })), { Sequence: { id: 'A', type_id: 0 } }, ...pairBetween.map(([t]) => ({ SpecialToken: { id: t, type_id: 0 } })), { Sequence: { id: 'B', type_id: 1 } }, ...after.map(([t]) => ({ SpecialToken: { id: t, type_id: 1 } }))],
  special_tokens: Object.fromEntries([...before, ...after, ...pairBetween].map(([t, id]) => [t, { id: t, ids: [id], tokens: [t] }])),
});
const bertTokens = [special(0, '[PAD]'), special(1, '[UNK]'), special(2, '[CLS]'), special(3, '[SEP]'), special(4, '[MASK]')];
const metaspace = { type: 'Metaspace', replacement: '\u2581', prepend_scheme: 'always', split: true };

const files = {
  roberta: {
    ...base, model: gpt2.model, decoder: byteLevel, pre_tokenizer: { ...byteLevel, add_prefix_space: true },
    added_tokens: [special(0, '<|endoftext|>'), special(size, '<s>'), special(size + 1, '</s>'), special(size + 2, '<pad>'), special(size + 3, '<mask>', { lstrip: true }), special(size + 4, 'day', { single_word: true, special: false, normalized: true }), special(size + 5, 'end', { rstrip: true, special: false, normalized: true })],
    post_processor: { type: 'RobertaProcessing', sep: ['</s>', size + 1], cls: ['<s>', size], trim_offsets: true, add_prefix_space: true },
    truncation: { direction: 'Right', max_length: 24, strategy: 'LongestFirst', stride: 0 },
    padding: { strategy: 'BatchLongest', direction: 'Right', pad_to_multiple_of: 8, pad_id: size + 2, pad_type_id: 0, pad_token: '<pad>' },
  },
  llama3: {
    ...base, model: { ...gpt2.model, ignore_merges: true }, decoder: byteLevel,
    added_tokens: [special(0, '<|endoftext|>'), special(size, '<|begin_of_text|>')],
    pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Split', pattern: { Regex: "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+" }, behavior: 'Isolated', invert: false }, { ...byteLevel, use_regex: false }] },
    post_processor: { type: 'Sequence', processors: [byteLevel, template([['<|begin_of_text|>', size]], [], [])] },
  },
  bert: {
    ...base, model: wordpiece(false), added_tokens: bertTokens, decoder: { type: 'WordPiece', prefix: '##', cleanup: true }, pre_tokenizer: { type: 'BertPreTokenizer' },
    normalizer: { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true },
    post_processor: template([['[CLS]', 2]], [['[SEP]', 3]], [['[SEP]', 3]]),
    padding: { strategy: { Fixed: 20 }, direction: 'Right', pad_to_multiple_of: null, pad_id: 0, pad_type_id: 0, pad_token: '[PAD]' },
  },
  bertcased: {
    ...base, model: wordpiece(true), added_tokens: bertTokens, decoder: { type: 'WordPiece', prefix: '##', cleanup: false }, pre_tokenizer: { type: 'BertPreTokenizer' },
    normalizer: { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: false },
    post_processor: { type: 'BertProcessing', sep: ['[SEP]', 3], cls: ['[CLS]', 2] },
    truncation: { direction: 'Left', max_length: 12, strategy: 'OnlyFirst', stride: 0 },
    padding: { strategy: 'BatchLongest', direction: 'Left', pad_to_multiple_of: 4, pad_id: 0, pad_type_id: 0, pad_token: '[PAD]' },
  },
  llama: {
    ...base, model: llamaModel(true), added_tokens: [special(0, '<unk>'), special(1, '<s>'), special(2, '</s>')],
    normalizer: { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: '\u2581' }, { type: 'Replace', pattern: { String: ' ' }, content: '\u2581' }] },
    post_processor: template([['<s>', 1]], [], [['<s>', 1]]),
    decoder: { type: 'Sequence', decoders: [{ type: 'Replace', pattern: { String: '\u2581' }, content: ' ' }, { type: 'ByteFallback' }, { type: 'Fuse' }, { type: 'Strip', content: ' ', start: 1, stop: 0 }] },
  },
  llamapart: {
    ...base, model: { ...llamaModel(false), fuse_unk: false }, added_tokens: [special(0, '<unk>'), special(1, '<s>'), special(2, '</s>', { normalized: true })],
    pre_tokenizer: { ...metaspace, prepend_scheme: 'first', split: false }, post_processor: template([], [['</s>', 2]], []), decoder: { ...metaspace, prepend_scheme: 'first', split: false },
  },
  t5: {
    ...base, model: unigram(false), added_tokens: [special(0, '<pad>'), special(1, '</s>'), special(2, '<unk>')],
    normalizer: { type: 'Sequence', normalizers: [{ type: 'Precompiled', precompiled_charsmap: charsmap(nfkc) }, { type: 'Replace', pattern: { Regex: ' {2,}' }, content: ' ' }] },
    pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'WhitespaceSplit' }, metaspace] }, post_processor: template([], [['</s>', 1]], [['</s>', 1]]), decoder: metaspace,
    truncation: { direction: 'Right', max_length: 16, strategy: 'OnlySecond', stride: 0 },
  },
  albert: {
    ...base, model: unigram(true), added_tokens: [special(0, '<pad>'), special(1, '</s>'), special(2, '<unk>')],
    normalizer: { type: 'Sequence', normalizers: [{ type: 'Replace', pattern: { String: '``' }, content: '"' }, { type: 'Replace', pattern: { String: "''" }, content: '"' }, { type: 'NFKD' }, { type: 'StripAccents' }, { type: 'Lowercase' }, { type: 'Nmt' }, { type: 'Strip', strip_left: true, strip_right: true }] },
    pre_tokenizer: { ...metaspace, prepend_scheme: 'first' }, decoder: { type: 'Sequence', decoders: [{ type: 'ByteFallback' }, metaspace] },
  },
  clip: {
    ...base, model: (() => {
      const { merges, made } = prefixes(['lo', 'wer', 'new', 'es']);
      const ends = [['lo', 'w</w>'], ['lower', '</w>']].slice(0, 1);
      const list = ['<unk>', ...letters, ...letters.map((s) => s + '</w>'), ...made, 'low</w>'];
      return { type: 'BPE', dropout: null, unk_token: '<unk>', continuing_subword_prefix: '', end_of_word_suffix: '</w>', fuse_unk: false, byte_fallback: false, ignore_merges: false, vocab: number(list), merges: [...merges, ...ends].map((p) => p.join(' ')) };
    })(),
    normalizer: { type: 'Sequence', normalizers: [{ type: 'NFC' }, { type: 'Replace', pattern: { Regex: '\\s+' }, content: ' ' }, { type: 'Lowercase' }] },
    pre_tokenizer: { type: 'Split', pattern: { Regex: "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+" }, behavior: 'Removed', invert: true },
    decoder: { type: 'BPEDecoder', suffix: '</w>' },
  },
  words: {
    ...base, model: { type: 'WordLevel', vocab: number(['[UNK]', 'the', 'lower', 'newest', 'a', 'b', '.', ',', 'Hello', 'day']), unk_token: '[UNK]' },
    pre_tokenizer: { type: 'Whitespace' }, decoder: { type: 'CTC', pad_token: '<pad>', word_delimiter_token: '|', cleanup: true },
    added_tokens: [special(10, 'new day', { single_word: true, lstrip: true, rstrip: true, special: false }), special(11, ' ', { special: false }), special(12, 'newer', { normalized: true, special: false })],
  },
};

const run = async () => {
  const pairs = [['the lower', 'newest day'], ['Hello, world!', 'caf\u00e9 \u4e2d'.repeat(4)], ['the lower newest widest river and the lowest text', 'a'], ['', 'b'], ['a b c d e f g h i j k l m n o p', 'q r s t u v w x y z 1 2 3 4 5 6']];
  for (const name of ['gpt2', ...Object.keys(files)]) {
    if (files[name]) write(name + '.json', JSON.stringify(files[name]));
    const t = Tokenizer.fromFile(name + '.json');
    const one = async (text, pair) => {
      let e;
      try { e = await t.encode(text, pair); } catch (error) { return { text, pair, error: true }; }
      const ids = e.getIds(), missing = -1;
      return {
        text, pair, ids, tokens: e.getTokens(), offsets: e.getOffsets().flat(), types: e.getTypeIds(), attention: e.getAttentionMask(), special: e.getSpecialTokensMask(),
        words: e.getWordIds().map((w) => w ?? missing), decoded: await t.decode(ids, true), decodedSpecial: await t.decode(ids, false),
      };
    };
    const cases = [];
    for (const s of all) cases.push(await one(s));
    for (const [a, b] of pairs) cases.push(await one(a, b));
    write('vectors/' + name + '.json', '[\n' + cases.map((c) => JSON.stringify(c)).join(',\n') + '\n]');
  }
  parts();
  properties();
  training();
};

// ---- parts of tokenizers, one by one ----

const words = (more) => Tokenizer.fromString(JSON.stringify({ ...base, model: { type: 'WordLevel', vocab: { '[UNK]': 0 }, unk_token: '[UNK]' }, ...more }));

function parts() {
  const texts = all.slice(0, 75);
  const out = [];
  const normalizers = ['NFC', 'NFD', 'NFKC', 'NFKD', 'Lowercase', 'StripAccents', 'Nmt', 'ByteLevel'].map((type) => ({ type }));
  normalizers.push(
    { type: 'Strip', strip_left: true, strip_right: false }, { type: 'Strip', strip_left: false, strip_right: true }, { type: 'Strip', strip_left: true, strip_right: true }, { type: 'Prepend', prepend: '\u2581x' },
    { type: 'Replace', pattern: { Regex: '[aeiou]' }, content: '' }, { type: 'Replace', pattern: { Regex: 'e*' }, content: '-' }, { type: 'Replace', pattern: { String: 'lo' }, content: '\u00e9\u00e9' }, { type: 'Replace', pattern: { String: '' }, content: '+' },
    { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: false, strip_accents: false, lowercase: false }, { type: 'BertNormalizer', clean_text: false, handle_chinese_chars: true, strip_accents: true, lowercase: false }, { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true },
    { type: 'Precompiled', precompiled_charsmap: charsmap(nfkc) }, { type: 'Sequence', normalizers: [{ type: 'NFD' }, { type: 'StripAccents' }, { type: 'NFC' }] },
  );
  for (const normalizer of normalizers) {
    const t = words({ normalizer }).getNormalizer();
    out.push({ normalizer, out: texts.map((s) => t.normalizeString(s)) });
  }
  const preTokenizers = ['Whitespace', 'WhitespaceSplit', 'BertPreTokenizer'].map((type) => ({ type }));
  for (const behavior of ['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous']) {
    preTokenizers.push({ type: 'Punctuation', behavior });
    for (const invert of [false, true]) preTokenizers.push({ type: 'Split', pattern: { Regex: '\\s|e' }, behavior, invert }, { type: 'Split', pattern: { String: ' ' }, behavior, invert });
  }
  for (const individual_digits of [true, false]) preTokenizers.push({ type: 'Digits', individual_digits });
  for (const prepend_scheme of ['always', 'first', 'never']) for (const split of [true, false]) preTokenizers.push({ ...metaspace, prepend_scheme, split });
  preTokenizers.push({ type: 'CharDelimiterSplit', delimiter: 'e' }, { type: 'FixedLength', length: 3 }, byteLevel, { ...byteLevel, add_prefix_space: true }, { ...byteLevel, use_regex: false });
  for (const r of ['\\w+|[^\\w\\s]+', '\\b', '\\B\\w', '\\d{2,}|\\p{Lu}', '(?i)the|NEW', '(?:lo)?+l', 'a*+a|e', '(a|e)++', '[\\w]+', '\\W+', '[^\\w]', '[\\p{Han}\\p{Hiragana}]+', '\\p{^L}+', '\\P{L}{2}', '^.', '.$', '(?<=l)o(?=w)', '(?<!\\s)\\s(?!\\s)', '(?>a|ab)c', '\\x{e9}|\\u0301|\\x41', '[\\x{300}-\\x{36f}]', '(?i:[a-m])+', 'x{,3}', 'e{2}|{', "[']", '[\\]\\-a]', '(?m:e.)', '\\A.|.\\z', '[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+', '\\p{M}|\\h', '']) preTokenizers.push({ type: 'Split', pattern: { Regex: r }, behavior: 'Isolated', invert: false });
  for (const pre_tokenizer of preTokenizers) {
    let t;
    try { t = words({ pre_tokenizer }).getPreTokenizer(); } catch (error) { out.push({ pre_tokenizer, error: true }); continue; }
    out.push({ pre_tokenizer, out: texts.map((s) => t.preTokenizeString(s).map(([w, o]) => [w, ...o])) });
  }
  // The alignment of normalised characters: each is a token.
  for (const normalizer of normalizers) out.push({ aligned: normalizer, promise: words({ normalizer, pre_tokenizer: { type: 'FixedLength', length: 1 } }) });
  Promise.all(out.map(async (o) => {
    if (!o.promise) return o;
    const rows = [];
    for (const s of texts) rows.push((await o.promise.encode(s)).getOffsets().flat());
    return { aligned: o.aligned, out: rows };
  })).then((done) => write('vectors/parts.json', '{"texts":' + JSON.stringify(texts) + ',"parts":[\n' + done.map((o) => JSON.stringify(o)).join(',\n') + '\n]}'));
}

// ---- every character ----

function properties() {
  const out = {}, maps = {};
  const each = (f) => { for (let c = 0; c <= 0x10ffff; c++) if (c < 0xd800 || c > 0xdfff) f(String.fromCodePoint(c), c); };
  const property = (name, holds) => {
    const r = [];
    each((s, c) => { if (holds(s)) { if (r.length && r[r.length - 1][1] === c - 1) r[r.length - 1][1] = c; else r.push([c, c]); } });
    out[name] = r.map(([a, b]) => a.toString(16) + (a === b ? '' : '-' + b.toString(16))).join(' ');
  };
  const cuts = (pre_tokenizer) => { const p = words({ pre_tokenizer }).getPreTokenizer(); return (s) => p.preTokenizeString(s).length; };
  const changes = (normalizer) => { const n = words({ normalizer }).getNormalizer(); return (s) => n.normalizeString(s); };
  const split = (Regex) => cuts({ type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false });
  let p = cuts({ type: 'Punctuation', behavior: 'Removed' });
  property('punctuation', (s) => p('a' + s + 'a') === 2);
  p = cuts({ type: 'WhitespaceSplit' });
  property('space', (s) => p('a' + s + 'a') === 2);
  p = cuts({ type: 'Digits', individual_digits: false });
  property('number', (s) => p('1' + s + '1') === 1);
  p = cuts({ type: 'Whitespace' });
  property('word', (s) => p('a' + s + 'a') === 1);
  p = cuts(byteLevel);
  property('gpt letter', (s) => p('a' + s) === 1);
  property('gpt number', (s) => p('1' + s) === 1);
  for (const [name, expr, before] of [['\\w', '\\w+', 'a'], ['\\d', '\\d+', '1'], ['\\s', '\\s+', ' '], ['\\p{L}', '\\p{L}+', 'a'], ['\\p{Mn}', '\\p{Mn}+', '\u0301'], ['\\p{Lu}', '\\p{Lu}+', 'A'], ['\\p{Han}', '\\p{Han}+', '\u4e2d']]) {
    p = split(expr);
    property(name, (s) => p(before + s) === 1);
  }
  let n = changes({ type: 'BertNormalizer', clean_text: true, handle_chinese_chars: false, strip_accents: false, lowercase: false });
  property('bert removed', (s) => n(s) === '');
  property('bert space', (s) => n(s) === ' ');
  n = changes({ type: 'BertNormalizer', clean_text: false, handle_chinese_chars: true, strip_accents: false, lowercase: false });
  property('bert ideograph', (s) => n(s) !== s);
  n = changes({ type: 'BertNormalizer', clean_text: false, handle_chinese_chars: false, strip_accents: true, lowercase: false });
  property('accent', (s) => n(s) === '');
  n = changes({ type: 'StripAccents' });
  property('mark', (s) => n(s) === '');
  n = changes({ type: 'Precompiled', precompiled_charsmap: charsmap([['a', 'b']]) });
  property('cluster', (s) => n('a' + s) === 'b' && s !== '');
  const copyright = changes({ type: 'Precompiled', precompiled_charsmap: charsmap([['\u00a9', 'b']]) });
  property('pictograph', (s) => copyright('\u00a9\u200d' + s).startsWith('b\u200d'));
  for (const type of ['NFC', 'NFD', 'NFKD', 'Lowercase']) {
    n = changes({ type });
    const canonical = changes({ type: 'NFD' });
    maps[type] = {};
    each((s, c) => { const to = n(s); if (to !== s && !(c >= 0xac00 && c <= 0xd7a3) && !(type === 'NFKD' && to === canonical(s))) maps[type][c.toString(16)] = to; });
  }
  write('vectors/properties.json', '{\n' + Object.entries(out).map(([k, v]) => JSON.stringify(k) + ':' + JSON.stringify(v)).join(',\n') + '\n}');
  write('vectors/maps.json', '{\n' + Object.entries(maps).map(([k, v]) => JSON.stringify(k) + ':' + JSON.stringify(v)).join(',\n') + '\n}');
}

// ---- training ----

function training() {
  const t = Tokenizer.fromString(JSON.stringify({ ...base, pre_tokenizer: byteLevel, model: { type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null, fuse_unk: false, byte_fallback: false, ignore_merges: false, vocab: {}, merges: [] } }));
  t.train(['corpus.txt']);
  t.save('trained.tmp');
  const merges = read('trained.tmp').model.merges;
  fs.unlinkSync('trained.tmp');
  write('vectors/merges.json', JSON.stringify(merges));
}

fs.mkdirSync('vectors', { recursive: true });
run();
